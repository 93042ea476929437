// Package embedding finds lessons by meaning, with vectors from an OpenAI-compatible endpoint.
package embedding

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/lesson"
)

// An Endpoint turns texts into vectors.
type Endpoint struct {
	URL   string // with or without /embeddings at its end
	Model string
	Key   string // "": none is needed
}

const (
	maxAnswer = 64 << 20 // bytes
	maxBatch  = 64       // texts per request
	maxFresh  = 512      // lessons that get vectors during one query
)

// embed returns a vector of length 1 for each text.
func (e Endpoint) embed(ctx context.Context, texts []string) ([][]float32, error) {
	question, err := json.Marshal(map[string]any{"model": e.Model, "input": texts})
	if err != nil {
		return nil, err
	}
	url := strings.TrimSuffix(strings.TrimSuffix(e.URL, "/"), "/embeddings") + "/embeddings"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(question))
	if err != nil {
		return nil, errors.New("the URL cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	if e.Key != "" {
		r.Header.Set("Authorization", "Bearer "+e.Key)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", r.URL.Host, answer.Status)
	}
	var said struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&said); err != nil {
		return nil, fmt.Errorf("%s sent an unreadable answer: %w", r.URL.Host, err)
	}
	vectors := make([][]float32, len(texts))
	for _, d := range said.Data {
		if d.Index >= 0 && d.Index < len(vectors) {
			vectors[d.Index] = unit(d.Embedding)
		}
	}
	if slices.ContainsFunc(vectors, func(v []float32) bool { return v == nil }) {
		return nil, fmt.Errorf("%s did not send a vector for each text", r.URL.Host)
	}
	return vectors, nil
}

// unit scales a vector to length 1; nil if that is impossible.
func unit(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsInf(sum, 0) || math.IsNaN(sum) {
		return nil
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// A Store finds lessons by meaning, or by words if its endpoint does not answer.
type Store struct {
	lesson.Store
	Endpoint Endpoint
	Cache    string // directory for vectors, which can be computed again
	Tell     func(error)
	How      string // how lessons were found, as a sentence; set by Recall
}

// Recall implements [lesson.Store].
func (s *Store) Recall(ctx context.Context, q lesson.Query) ([]lesson.Lesson, error) {
	if q.Block {
		return s.Store.Recall(ctx, q)
	}
	found, err := s.nearest(ctx, q)
	if err != nil {
		s.Tell(fmt.Errorf("embeddings: %w; lessons are found by their words", err))
		s.How = "lessons are found by their words"
		return s.Store.Recall(ctx, q)
	}
	return found, nil
}

// nearest returns the lessons nearest to the task. The database compares them if it can.
func (s *Store) nearest(ctx context.Context, q lesson.Query) ([]lesson.Lesson, error) {
	s.How = "lessons are found by what they mean"
	if base, ok := s.Store.(lesson.Comparer); ok {
		if able, err := base.Compares(ctx); err != nil {
			return nil, err
		} else if able {
			s.How += ", which the database compares (pgvector)"
			return s.compared(ctx, base, q)
		}
		s.How += ", which codeloops compares: the database has no pgvector"
	}
	all, err := s.All(ctx)
	if err != nil {
		return nil, err
	}
	ranked, err := s.rank(ctx, q, all)
	return q.Pick(ranked), err
}

// compared has the store compare vectors.
func (s *Store) compared(ctx context.Context, base lesson.Comparer, q lesson.Query) ([]lesson.Lesson, error) {
	fresh, err := base.Lacking(ctx, s.Endpoint.space(), q, maxFresh)
	for part := range slices.Chunk(fresh, maxBatch) {
		vectors, err := s.Endpoint.meanings(ctx, part)
		if err == nil {
			err = base.Place(ctx, s.Endpoint.space(), vectors)
		}
		if err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	task, err := s.Endpoint.embed(ctx, []string{q.Task})
	if err != nil {
		return nil, err
	}
	return base.Nearest(ctx, s.Endpoint.space(), task[0], q)
}

// space identifies the endpoint's model; vectors of different models cannot be compared.
func (e Endpoint) space() string {
	sum := sha256.Sum256([]byte(e.URL + "\x00" + e.Model))
	return hex.EncodeToString(sum[:8])
}

// meanings returns the vectors of lessons, by ID.
func (e Endpoint) meanings(ctx context.Context, lessons []lesson.Lesson) (map[string][]float32, error) {
	var texts []string
	for _, l := range lessons {
		texts = append(texts, strings.TrimSpace(l.Task+"\n"+l.Text))
	}
	vectors, err := e.embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	all := map[string][]float32{}
	for i, l := range lessons {
		all[l.ID()] = vectors[i]
	}
	return all, nil
}

// rank orders lessons by how near they are to the task.
func (s *Store) rank(ctx context.Context, q lesson.Query, all []lesson.Lesson) ([]lesson.Lesson, error) {
	every := q
	every.Most = len(all)
	fit := every.Pick(all)
	if len(fit) == 0 {
		return nil, nil
	}
	known, err := s.vectors(ctx, fit, all)
	if err != nil {
		return nil, err
	}
	task, err := s.Endpoint.embed(ctx, []string{q.Task})
	if err != nil {
		return nil, err
	}
	near := map[string]float64{}
	for _, l := range fit {
		v := known[l.ID()]
		if len(v) == len(task[0]) {
			for i, x := range task[0] {
				near[l.ID()] += float64(x) * float64(int8(v[i]))
			}
		}
	}
	fit = slices.DeleteFunc(fit, func(l lesson.Lesson) bool { return near[l.ID()] <= 0 })
	slices.SortStableFunc(fit, func(a, b lesson.Lesson) int { return cmp.Compare(near[b.ID()], near[a.ID()]) })
	return fit, nil
}

// vectors returns the vectors of the lessons, by ID, as bytes from -127 to 127. Missing ones are
// requested, the latest lessons first, and cached, even if the endpoint fails before it has sent all.
func (s *Store) vectors(ctx context.Context, fit, all []lesson.Lesson) (map[string][]byte, error) {
	path := filepath.Join(s.Cache, "vectors-"+s.Endpoint.space()+".json")
	var kept map[string][]byte
	if text, err := os.ReadFile(path); err == nil {
		_ = json.Unmarshal(text, &kept) // unreadable vectors are requested again
	}
	known := map[string][]byte{}
	for _, l := range all { // drops vectors of removed lessons
		if v, ok := kept[l.ID()]; ok {
			known[l.ID()] = v
		}
	}
	var fresh []lesson.Lesson
	for _, l := range slices.Backward(fit) {
		if known[l.ID()] == nil && len(fresh) < maxFresh {
			fresh = append(fresh, l)
		}
	}
	var failed error
	for part := range slices.Chunk(fresh, maxBatch) {
		vectors, err := s.Endpoint.meanings(ctx, part)
		if failed = err; failed != nil {
			break
		}
		for id, vector := range vectors {
			v := make([]byte, len(vector))
			for n, x := range vector {
				v[n] = byte(int8(math.Round(float64(x) * math.MaxInt8)))
			}
			known[id] = v
		}
	}
	if len(fresh) > 0 {
		s.keep(path, known)
	}
	return known, failed
}

// keep caches vectors; if that fails, or if the file is damaged, they are requested again.
func (s *Store) keep(path string, vectors map[string][]byte) {
	text, err := json.Marshal(vectors)
	if err == nil {
		err = os.MkdirAll(s.Cache, 0o700)
	}
	if err == nil {
		_ = os.WriteFile(path, text, 0o600)
	}
}
