// Package lesson keeps what runs have learned, for later ones.
//
// What agents wrote is not trusted, and neither is a file in a repository: a lesson is one
// line of bounded length without control sequences, and it is told, never followed.
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
	Task    string    `json:"task,omitzero"`    // that failed; "": it is good for any
	Text    string    `json:"lesson"`           // the sentence
	Project string    `json:"project,omitzero"` // it was learned in; "": it is good for any
	Session string    `json:"session,omitzero"` // it comes from; "": somebody wrote it
	Attempt int       `json:"attempt,omitzero"` // of that session
	At      time.Time `json:"at,omitzero"`
	Uses    `json:"-"`
}

// ID names a lesson by what it says: the same sentence on the same task is the same lesson,
// wherever it stands.
func (l Lesson) ID() string {
	sum := sha256.Sum256([]byte(l.Task + "\x00" + l.Text))
	return hex.EncodeToString(sum[:idSize/2])
}

const idSize = 12 // characters

// What a lesson may hold at most, in bytes.
const (
	maxTask  = 2 << 10
	maxText  = 1 << 10
	maxField = 512
)

// ErrEmpty says that a lesson has no sentence.
var ErrEmpty = errors.New("the lesson is empty")

// Clean returns the lesson as it may be kept and shown. Where redact is not nil it takes
// secrets out of the texts.
func (l Lesson) Clean(redact func(string) string) (Lesson, error) {
	if redact == nil {
		redact = func(text string) string { return text }
	}
	bound := func(text *string, most int) {
		// Also behind the cleaning: what stood within a secret may be gone by then.
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
		return l, ErrEmpty
	}
	return l, nil
}

// Uses are the runs that were told a lesson, and have ended.
type Uses struct {
	Done   int // the task was
	Failed int // it was not
}

// Recalled is how many runs were told the lesson.
func (u Uses) Recalled() int { return u.Done + u.Failed }

// Helps reports whether a lesson is worth telling: it is not once five runs or more were
// told it, and less than a quarter of them were done.
func (u Uses) Helps() bool { return u.Recalled() < 5 || 4*u.Done >= u.Recalled() }

// A Query asks for the lessons of a task.
type Query struct {
	Task    string
	Project string
	Most    int  // lessons
	Block   bool // all of them instead, whatever they are about, as far as there is room
}

// maxBlock is the room for all lessons, in bytes: the latest ones count.
const maxBlock = 16 << 10

// fits reports whether a lesson may be told.
func (q Query) fits(l Lesson) bool {
	return l.Helps() && (l.Project == "" || l.Project == q.Project)
}

// Pick returns those of some lessons that may be told, as many as are asked for. They are in
// the order of how well they fit; for a block, in that of their age.
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

// block is the end of a list of lessons for which there is room.
func block(all []Lesson) []Lesson {
	room, from := maxBlock, len(all)
	for from > 0 && room >= len(all[from-1].Text) {
		from--
		room -= len(all[from].Text)
	}
	return all[from:]
}

// A Store keeps lessons. What is wrong with a part of it is told aside, and costs only that
// part.
type Store interface {
	// All returns every lesson, in the order in which they were added.
	All(context.Context) ([]Lesson, error)
	// Recall returns the lessons for a task, the most fitting one first.
	Recall(context.Context, Query) ([]Lesson, error)
	// Add adds lessons that are clean, and returns how many were new.
	Add(context.Context, ...Lesson) (int, error)
	// Remove removes lessons by their ids, and returns how many there were.
	Remove(context.Context, ...string) (int, error)
	// Used notes how a session ended that was told lessons. The last word on a session
	// counts.
	Used(ctx context.Context, session string, ids []string, done bool) error
	Close() error
}

// A Comparer is a store that keeps vectors of what lessons mean, and compares them itself. The
// space is where they are from: those of two are not to be compared.
type Comparer interface {
	// Compares reports whether it can.
	Compares(context.Context) (bool, error)
	// Lacking returns lessons that may be told and have no vector, the latest first.
	Lacking(ctx context.Context, space string, q Query, most int) ([]Lesson, error)
	// Place keeps the vectors of lessons, by their ids.
	Place(ctx context.Context, space string, vectors map[string][]float32) error
	// Nearest returns the lessons that are nearest to a vector.
	Nearest(ctx context.Context, space string, to []float32, q Query) ([]Lesson, error)
}

// Find counts the lessons whose ids begin with a prefix, and returns the last of them.
func Find(all []Lesson, prefix string) (found Lesson, n int) {
	for _, l := range all {
		if id := l.ID(); prefix != "" && strings.HasPrefix(id, prefix) && (n == 0 || found.ID() != id) {
			found = l
			n++
		}
	}
	return found, n
}
