package sessionview_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
)

// sixRounds writes a log with six iterations, of which the last one is DONE.
func sixRounds(t *testing.T) (path string) {
	t.Helper()
	log := session.Encode(loop.Stamp{Time: noon}, loop.Started{})
	for n := 1; n <= 6; n++ {
		r := loop.Round{Iteration: n, Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue}}}
		for i := range n {
			r.Change.Files = append(r.Change.Files, loop.FileChange{Path: "f" + strconv.Itoa(i), Insertions: 2})
			r.Change.Insertions += 2
		}
		if n == 6 {
			r.Verdict.Decision = "\x1b[31mDONE"
		}
		log = append(log, session.Encode(loop.Stamp{Time: noon}, loop.IterationFinished{Round: r})...)
		log = append(log, "not JSON\n"...)
	}
	path = filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, log, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadIterations(t *testing.T) {
	t.Parallel()
	path := sixRounds(t)
	all, err := sessionview.ReadIterations(t.Context(), path)
	if want := (progress.Iteration{Number: 2, Decision: loop.Continue, Change: loop.Shape{Files: 2, Insertions: 4}}); err != nil || len(all) != 6 || !reflect.DeepEqual(all[1], want) {
		t.Fatalf("%+v, %v", all, err)
	}
	over, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrClosed)
	if got, err := sessionview.ReadIterations(over, path); got != nil || !errors.Is(err, os.ErrClosed) {
		t.Errorf("cancelled: %v, %v", got, err)
	}
	if got, err := sessionview.ReadIterations(t.Context(), path+"x"); got != nil || err == nil {
		t.Errorf("missing: %v, %v", got, err)
	}
}

func TestPreviewOfIterations(t *testing.T) {
	t.Parallel()
	all, err := sessionview.ReadIterations(t.Context(), sixRounds(t))
	if err != nil {
		t.Fatal(err)
	}
	screen := sessionview.Screen{Width: 60, Style: colours()}
	o := one("a", 1, func(o *session.Overview) { o.Iterations = 6 })
	before, after := screen.Preview(o, nil, noon.Location()), screen.Preview(o, all, noon.Location())
	if len(before) != len(after) {
		t.Errorf("%d lines become %d", len(before), len(after))
	}
	got := ansi.Strip(strings.Join(after[3:7], "\n"))
	if want := "  3 earlier iterations\n   4  CONTINUE  4 files, +8 -0\n   5  CONTINUE  5 files, +10 -0\n   6  DONE      6 files, +12 -0"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if strings.Contains(strings.Join(after, ""), "[31mDONE") {
		t.Error("not cleaned")
	}
	for _, line := range after[3:7] {
		if ansi.StringWidth(line) > screen.Width {
			t.Errorf("%q", line)
		}
	}
}
