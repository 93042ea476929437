package ui

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/session"
)

// findings keeps what critics found in the sessions that were asked for last, by their logs.
type findings struct {
	mu    sync.Mutex
	known map[string]foundIn
}

type foundIn struct {
	stamp file.Stamp
	all   []loop.Finding
}

// Of so many sessions, the newest, findings are counted: all of their logs are read.
const mostRead = 100

// of returns all findings of a session, the closed ones included.
func (f *findings) of(o session.Overview) []loop.Finding {
	f.mu.Lock()
	defer f.mu.Unlock()
	stamp := file.At(o.Path)
	if in, known := f.known[o.Path]; known && in.stamp == stamp {
		return in.all
	}
	var last []loop.Finding
	for entry, err := range session.Sound(session.Read(o.Path), func(error) {}) { // the list names what cannot be read
		if err != nil {
			break
		}
		if whole, is := entry.Event.(loop.IterationFinished); is && !whole.Round.Unjudged {
			last = whole.Round.Findings
		}
	}
	if f.known == nil || len(f.known) > 10*mostRead {
		f.known = map[string]foundIn{}
	}
	f.known[o.Path] = foundIn{stamp, last}
	return last
}

// frequent counts in how many of the newest sessions something was found, the most frequent first. Findings are the same if
// they are about the same check, or begin with the same words.
func (s *Server) frequent(picked []session.Overview) (rows []tally) {
	const most = 10
	rows = []tally{}
	at := map[string]int{}
	for _, o := range picked[:min(len(picked), mostRead)] {
		counted := map[string]bool{}
		for _, f := range s.findings.of(o) {
			name := cmp.Or(f.Check, f.Text)
			key := alike(name)
			if key == "" || counted[key] {
				continue
			}
			counted[key] = true
			i, known := at[key]
			if !known {
				i = len(rows)
				at[key] = i
				rows = append(rows, tally{Name: s.clean(render.Cut(name, 100)), Query: s.clean(strings.Join(firstWords(name), " "))})
			}
			rows[i].Sessions++
		}
	}
	slices.SortStableFunc(rows, func(a, b tally) int { return cmp.Compare(b.Sessions, a.Sessions) })
	return rows[:min(len(rows), most)]
}

// firstWords are the first ones of a text, without numbers and punctuation.
func firstWords(text string) []string {
	const some = 6
	all := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	return all[:min(len(all), some)]
}

// alike is the same for texts that begin with the same words, whatever numbers are in them.
func alike(text string) string { return strings.ToLower(strings.Join(firstWords(text), " ")) }
