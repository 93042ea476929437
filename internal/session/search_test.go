package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"

	"codeloops/internal/loop"
)

// searchable writes a session of two iterations with a bad line between them.
func searchable(t *testing.T, s *Store, id string) {
	t.Helper()
	round := func(n int, v loop.Verdict, paths ...string) []byte {
		r := loop.Round{Iteration: n, Ruling: loop.Ruling{Verdict: v}}
		r.Attempt.Stdout.Text = "the actor speaks of a parser"
		for _, p := range paths {
			r.Change.Files = append(r.Change.Files, loop.FileChange{Path: p, Patch: "+parser\n"})
		}
		return Encode(stamped(n+1), loop.IterationFinished{Round: r})
	}
	log := Encode(stamped(1), loop.Started{Session: loop.Session{Prompt: "Fix the Parser\n  of dates", WorkingDir: "/p"}})
	log = append(log, round(1, loop.Verdict{Decision: loop.Continue, Feedback: "the lexer breaks, the parser too"}, "src/parser.go")...)
	log = append(log, "not JSON\n"...)
	log = append(log, round(2, loop.Verdict{Decision: loop.Done, Summary: "the parser is done"}, "src/parser.go", "src/lexer.go")...)
	log = append(log, Encode(stamped(4), loop.Finished{Outcome: loop.Outcome{Result: loop.Success, Iterations: 2, Summary: "the parser is done"}})...)
	writeFile(t, s.Path(id), string(log))
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := newStore(t, t.TempDir())
	searchable(t, s, "one")
	for name, c := range map[string]struct {
		words []string
		want  []Match
	}{
		"every place, each text once": {[]string{"PARSER"}, []Match{
			{InPrompt, 0, "Fix the Parser\n  of dates", 8},
			{InFeedback, 1, "the lexer breaks, the parser too", 22},
			{InFile, 1, "src/parser.go", 4},
			{InSummary, 2, "the parser is done", 4},
		}},
		"white space":         {[]string{" parser of  dates "}, []Match{{InPrompt, 0, "Fix the Parser\n  of dates", 8}}},
		"all in one text":     {[]string{"parser", "lexer"}, []Match{{InFeedback, 1, "the lexer breaks, the parser too", 22}}},
		"not as a pattern":    {[]string{"p.rser"}, nil},
		"not what agents say": {[]string{"actor speaks"}, nil},
		"not what was logged": {[]string{"iteration_number"}, nil},
		"a file of the second": {[]string{"lexer.go"}, []Match{
			{InFile, 2, "src/lexer.go", 4},
		}},
	} {
		search, err := NewSearch(c.words)
		if err != nil {
			t.Fatal(err)
		}
		found, err := search.Logs(t.Context(), survey1(t, s))
		var got []Match
		if len(found) > 0 {
			got = found[0].Matches
		}
		if err != nil || len(found) > 1 || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, err, got, c.want)
		}
	}
	for _, bad := range []string{"", " \n", "\xff"} {
		if _, err := NewSearch([]string{"x", bad}); err == nil {
			t.Errorf("%q can be searched for", bad)
		}
	}
}

// TestSearchMany: results are in order, and unreadable files are reported.
func TestSearchMany(t *testing.T) {
	t.Parallel()
	s := newStore(t, t.TempDir())
	const n = 48
	for i := range n {
		searchable(t, s, fmt.Sprintf("2025-01-27T15-00-%02dZ_aaaaaa", i))
	}
	all := survey1(t, s)
	if err := os.Remove(all[5].Path); err != nil {
		t.Fatal(err)
	}
	search, err := NewSearch([]string{"lexer.go"})
	if err != nil {
		t.Fatal(err)
	}
	found, err := search.Logs(t.Context(), all)
	if err != nil || len(found) != n {
		t.Fatalf("%d found, %v", len(found), err)
	}
	for i, one := range found {
		if gone := errors.Is(one.Unread, os.ErrNotExist); one.ID != all[i].ID || gone != (i == 5) || gone != (one.Matches == nil) {
			t.Errorf("at %d: %+v", i, one)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errDisk)
	if found, err := search.Logs(ctx, all); !errors.Is(err, errDisk) || found != nil {
		t.Errorf("cancelled: %d found, %v", len(found), err)
	}
}
