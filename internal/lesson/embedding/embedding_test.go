package embedding

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"codeloops/internal/lesson"
)

// meaning returns a vector that depends on a text's topic.
func meaning(text string) []float64 {
	v := []float64{0.01, 0, 0}
	for i, words := range []string{"parser lexer grammar", "button colour page", "database query"} {
		for w := range strings.FieldsSeq(words) {
			v[i] += float64(strings.Count(strings.ToLower(text), w))
		}
	}
	return v
}

// endpoint starts an embeddings server that counts the texts in its requests.
func endpoint(t *testing.T, texts *atomic.Int32) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Model string
			Input []string
		}
		if r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer swordfish" || json.NewDecoder(r.Body).Decode(&asked) != nil || asked.Model != "small" {
			http.Error(w, "swordfish?", http.StatusUnauthorized)
			return
		}
		var data []map[string]any
		for i, text := range slices.Backward(asked.Input) {
			texts.Add(1)
			data = append(data, map[string]any{"index": i, "embedding": meaning(text)})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return s
}

func TestRecall(t *testing.T) { //nolint:gocyclo // a sequence of checks
	t.Parallel()
	var texts atomic.Int32
	server, data, told := endpoint(t, &texts), t.TempDir(), ""
	s := &Store{
		Store:    &lesson.Files{Data: data, Into: lesson.Own(data)},
		Endpoint: Endpoint{URL: server.URL + "/v1/", Model: "small", Key: "swordfish"},
		Cache:    data, Tell: func(err error) { told += err.Error() },
	}
	recall := func(task string) (list []string) {
		t.Helper()
		found, err := s.Recall(context.Background(), lesson.Query{Task: task, Project: "p", Most: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range found {
			list = append(list, l.Text)
		}
		return list
	}
	if got := recall("the grammar"); got != nil || texts.Load() != 0 {
		t.Errorf("without lessons: %q, %d texts", got, texts.Load())
	}
	for i, l := range []lesson.Lesson{
		{Task: "mend the lexer", Text: "Generate first."},
		{Task: "paint the button", Text: "Ask for the colour."},
		{Task: "grammar", Text: "Another project's.", Project: "other"},
	} {
		if _, err := s.Add(t.Context(), l); err != nil {
			t.Fatal(i, err)
		}
	}
	for task, want := range map[string]string{"the grammar": "Generate first.", "a page": "Ask for the colour."} {
		if got := recall(task); !slices.Equal(got, []string{want}) || told != "" {
			t.Errorf("%s: %q, told %q", task, got, told)
		}
	}
	if texts.Load() != 4 { // two lessons, requested once, and two tasks
		t.Errorf("%d texts were requested", texts.Load())
	}
	// A damaged cache is rebuilt.
	entries, _ := os.ReadDir(data)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "vectors-") {
			if err := os.WriteFile(data+"/"+e.Name(), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := recall("a page"); !slices.Equal(got, []string{"Ask for the colour."}) || texts.Load() != 7 {
		t.Errorf("%q, %d texts", got, texts.Load())
	}
}

// TestResumes: vectors that arrived before the endpoint failed are not requested again.
func TestResumes(t *testing.T) {
	t.Parallel()
	var texts, requests atomic.Int32
	server := endpoint(t, &texts)
	fails := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 2 {
			http.Error(w, "too slow", http.StatusGatewayTimeout)
			return
		}
		server.Config.Handler.ServeHTTP(w, r)
	}))
	defer fails.Close()
	data, told := t.TempDir(), ""
	s := &Store{
		Store:    &lesson.Files{Data: data, Into: lesson.Own(data)},
		Endpoint: Endpoint{URL: fails.URL + "/v1", Model: "small", Key: "swordfish"},
		Cache:    data, Tell: func(err error) { told += err.Error() },
	}
	for i := range maxBatch + 1 {
		if _, err := s.Add(t.Context(), lesson.Lesson{Task: "mend the lexer", Text: fmt.Sprintf("Generate %d first.", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if found, err := s.Recall(t.Context(), lesson.Query{Task: "the lexer", Most: 1}); err != nil || len(found) != 1 {
			t.Errorf("%+v, %v", found, err)
		}
	}
	if !strings.Contains(told, "504 Gateway Timeout") || texts.Load() != maxBatch+1+1 { // the lessons, and the task
		t.Errorf("told %q, and requested %d texts", told, texts.Load())
	}
}

// TestFails: if the endpoint fails, lessons are found by their words, and the warning does not
// contain the key.
func TestFails(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"":                                "401 Unauthorized",
		"swordfish":                       "unreadable answer",
		`{"data":[]}`:                     "a vector for each text",
		`{"data":[{"index":7}]}`:          "a vector for each text",
		`{"data":[{"embedding":[0,0]}]}`:  "a vector for each text",
		`{"data":[{"embedding":[1e39]}]}`: "unreadable answer",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if answer == "" {
					http.Error(w, "your key is swordfish", http.StatusUnauthorized)
					return
				}
				_, _ = fmt.Fprint(w, answer)
			}))
			defer server.Close()
			data, told := t.TempDir(), ""
			s := &Store{
				Store:    &lesson.Files{Data: data, Into: lesson.Own(data)},
				Endpoint: Endpoint{URL: server.URL + "/embeddings", Key: "swordfish"},
				Cache:    data, Tell: func(err error) { told += err.Error() },
			}
			if _, err := s.Add(t.Context(), lesson.Lesson{Task: "parser", Text: "Generate first."}); err != nil {
				t.Fatal(err)
			}
			found, err := s.Recall(t.Context(), lesson.Query{Task: "the parser", Most: 5})
			if err != nil || len(found) != 1 || !strings.Contains(told, want) || !strings.Contains(told, "by their words") || strings.Contains(told, "swordfish") {
				t.Errorf("%+v, %v, told %q", found, err, told)
			}
		})
	}
}
