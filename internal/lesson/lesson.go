// Package lesson keeps what runs have learned, for later ones.
//
// Neither agents nor files in a repository are trusted: a lesson is a single line of bounded
// length without control sequences, and agents are told it as advice.
package lesson

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"codeloops/internal/wording"
)

// A Lesson is a sentence that was learned when a task failed.
type Lesson struct {
	Task    string    `json:"task,omitzero"`    // the failed task; "": it applies to any
	Text    string    `json:"lesson"`           // the sentence
	Project string    `json:"project,omitzero"` // where it was learned; "": it applies to any
	Session string    `json:"session,omitzero"` // that learned it; "": a person wrote it
	Attempt int       `json:"attempt,omitzero"` // in that session
	At      time.Time `json:"at,omitzero"`
	Uses    `json:"-"`
}

// ID identifies a lesson by its content: the same sentence about the same task is the same lesson
// in any file.
func (l Lesson) ID() string {
	sum := sha256.Sum256([]byte(l.Task + "\x00" + l.Text))
	return hex.EncodeToString(sum[:idSize/2])
}

const idSize = 12 // characters

// The maximum lengths of a lesson's fields, in bytes.
const (
	maxTask  = 2 << 10
	maxText  = 1 << 10
	maxField = 512
)

// errEmpty says that a lesson has no sentence.
var errEmpty = errors.New("the lesson is empty")

// Clean returns the lesson in the form in which it may be kept and shown. redact, unless it is
// nil, removes secrets.
func (l Lesson) Clean(redact func(string) string) (Lesson, error) {
	if redact == nil {
		redact = func(text string) string { return text }
	}
	bound := func(text *string, most int) {
		// Redact again after cleaning, which may have joined the parts of a secret.
		*text = redact(wording.Line(redact(*text)))
		if len(*text) > most {
			*text = strings.ToValidUTF8((*text)[:most], "") + " …"
		}
	}
	bound(&l.Task, maxTask)
	bound(&l.Text, maxText)
	bound(&l.Project, maxField)
	bound(&l.Session, maxField)
	l.Attempt = max(0, l.Attempt)
	if l.Text == "" {
		return l, errEmpty
	}
	return l, nil
}

// Uses counts the finished runs that were told a lesson.
type Uses struct {
	Done   int // the task was done
	Failed int // it was not
}

// Recalled is the number of runs that were told the lesson.
func (u Uses) Recalled() int { return u.Done + u.Failed }

// Helps reports whether a lesson is worth telling. It is not once five or more runs were told it
// and less than a quarter of them were done.
func (u Uses) Helps() bool { return u.Recalled() < 5 || 4*u.Done >= u.Recalled() }

// A Query asks for the lessons of a task.
type Query struct {
	Task    string
	Project string
	Most    int  // lessons
	Block   bool // all lessons instead, whatever they are about, as far as there is room
}

// maxBlock is the room for a block of lessons, in bytes; the latest ones are kept.
const maxBlock = 16 << 10

// fits reports whether a lesson may be told.
func (q Query) fits(l Lesson) bool {
	return l.Helps() && (l.Project == "" || l.Project == q.Project)
}

// Pick selects the lessons that may be told, as many as are asked for. The input is ordered by
// relevance; for a block, by age.
func (q Query) Pick(all []Lesson) (picked []Lesson) {
	for _, l := range all {
		if q.fits(l) && (q.Block || len(picked) < q.Most) {
			picked = append(picked, l)
		}
	}
	if q.Block {
		return block(picked)
	}
	return picked
}

// block returns as many of the last lessons as there is room for.
func block(all []Lesson) []Lesson {
	room, from := maxBlock, len(all)
	for from > 0 && room >= len(all[from-1].Text) {
		from--
		room -= len(all[from].Text)
	}
	return all[from:]
}

// A Store keeps lessons. Damaged parts of it are reported separately and do not affect the rest.
type Store interface {
	// All returns every lesson, in the order in which they were added.
	All(context.Context) ([]Lesson, error)
	// Recall returns the lessons for a task, the most relevant first.
	Recall(context.Context, Query) ([]Lesson, error)
	// Add adds clean lessons, and returns how many were new.
	Add(context.Context, ...Lesson) (int, error)
	// Remove removes lessons by ID, and returns how many existed.
	Remove(context.Context, ...string) (int, error)
	// Used records how a session that was told lessons ended. The last call for a session counts.
	Used(ctx context.Context, session string, ids []string, done bool) error
	Close() error
}

// A Comparer is a store that keeps vectors of lessons' meanings, and compares them itself.
// Vectors of different spaces cannot be compared.
type Comparer interface {
	// Compares reports whether the store can do that.
	Compares(context.Context) (bool, error)
	// Lacking returns lessons that may be told and have no vector yet, the latest first.
	Lacking(ctx context.Context, space string, q Query, most int) ([]Lesson, error)
	// Place saves vectors by lesson ID.
	Place(ctx context.Context, space string, vectors map[string][]float32) error
	// Nearest returns the lessons that are nearest to a vector.
	Nearest(ctx context.Context, space string, to []float32, q Query) ([]Lesson, error)
}

// Find counts the lessons whose IDs begin with a prefix, and returns the last of them.
func Find(all []Lesson, prefix string) (found Lesson, n int) {
	for _, l := range all {
		if id := l.ID(); prefix != "" && strings.HasPrefix(id, prefix) && (n == 0 || found.ID() != id) {
			found = l
			n++
		}
	}
	return found, n
}
