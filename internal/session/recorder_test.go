package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
	"codeloops/internal/loop/progress"
)

// record writes events to a new log and returns its recorder.
func record(t *testing.T, store *Store, events []loop.Event) *Recorder {
	t.Helper()
	r, err := store.Create("make it <work> & test it", began)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if err := r.Handle(stamped(i+1), e); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// withRaw returns an event of the whole run with the paths of its outputs in the recorder's folder.
func withRaw(r *Recorder, e loop.Event) loop.Event {
	return mapOutputs(e, func(o loop.Output) loop.Output {
		if o.File != "" {
			o.File = filepath.Join(r.files.dir, o.File)
		}
		return o
	})
}

func TestRecorderGolden(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	r, err := store.Create("make it <work> & test it", began)
	if err != nil {
		t.Fatal(err)
	}
	var want []Entry
	for i, e := range wholeRun() {
		if actor, ok := e.(loop.ActorFinished); ok && actor.Iteration == 1 {
			writeFile(t, r.File(1, "actor.stdout"), "I did it.")
			writeFile(t, r.File(1, "actor.stderr"), "all of it")
			writeFile(t, r.File(1, "diff"), "for the critic")
		}
		e = withRaw(r, e)
		if err := r.Handle(stamped(i+1), e); err != nil {
			t.Fatal(err)
		}
		at, logged, ok := Logged(stamped(i+1), e)
		if ok {
			want = append(want, Entry{At: at, Event: logged})
		}
	}

	golden := filepath.Join("testdata", "session.jsonl")
	text, err := os.ReadFile(r.Path())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		writeFile(t, golden, string(text))
	}
	wantText, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, wantText) {
		t.Errorf("the log differs from %s:\n%s", golden, text)
	}

	got := readFile(t, r.Path())
	checkTotals(t, got)
	for i := range got {
		got[i].Stdout, got[i].Stderr, got[i].Reply, got[i].Totals = "", "", "", nil
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got, want)
	}
	if err := errors.Join(looptest.Whole(wholeRun()), looptest.Whole(eventsOf(got))); err != nil {
		t.Error(err)
	}
	// Only the file of the truncated stream is left.
	if got, want := names(t, r.files.dir), []string{"001.actor.stderr"}; !reflect.DeepEqual(got, want) {
		t.Errorf("left in the folder: %v, want %v", got, want)
	}
}

func eventsOf(entries []Entry) (events []loop.Event) {
	for _, entry := range entries {
		events = append(events, entry.Event)
	}
	return events
}

// checkTotals compares the end of a log with the sum of its lines.
func checkTotals(t *testing.T, entries []Entry) {
	t.Helper()
	var sum progress.Tally
	for _, e := range entries {
		_ = sum.Handle(e.At, e.Event)
	}
	want := progress.Tally{
		Errors: sum.Errors, Actor: sum.Actor, Critic: sum.Critic, Leftovers: sum.Leftovers,
		CheckTime: sum.CheckTime, Waits: sum.Waits, Spent: sum.Spent,
		Diff: sum.Diff, Raised: sum.Raised,
	}
	if got := entries[len(entries)-1].Totals; got == nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("the end has the totals %+v, want %+v", got, want)
	}
}

func TestRecorderKeepsTextsUntilTheIterationIsLogged(t *testing.T) {
	t.Parallel()
	store := newStore(t, filepath.Join(t.TempDir(), "sessions"))
	events := wholeRun()
	logged := slices.IndexFunc(events, func(e loop.Event) bool { return nameOf(e) == "iteration" })
	r := record(t, store, events[:logged])

	// A resumed session has only the log and the files next to it.
	round := firstRound()
	for _, entry := range readFile(t, r.Path()) {
		switch e := entry.Event.(type) {
		case loop.ActorFinished:
			checkKept(t, entry.Stdout, round.Attempt.Stdout.Text)
			checkKept(t, entry.Stderr, round.Attempt.Stderr.Text)
		case loop.CriticFinished:
			checkKept(t, entry.Stdout, round.Review.Stdout.Text)
			checkKept(t, entry.Reply, round.Review.Reply)
			if entry.Stderr != "" {
				t.Errorf("an empty text is kept in %s", entry.Stderr)
			}
		default:
			if entry.Stdout+entry.Stderr+entry.Reply != "" {
				t.Errorf("%T has the paths of files", e)
			}
		}
	}
	for i, e := range events[logged:] {
		if err := r.Handle(stamped(logged+i+1), e); err != nil {
			t.Fatal(err)
		}
	}
	// With nothing omitted, the folder is removed.
	if got, want := names(t, store.Dir()), []string{r.ID() + ".jsonl"}; !reflect.DeepEqual(got, want) {
		t.Errorf("not removed: %v, want %v", got, want)
	}
}

func checkKept(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%q holds %q, %v; want %q", path, got, err, want)
	}
}

func TestRecorderModes(t *testing.T) {
	t.Parallel()
	store := newStore(t, filepath.Join(t.TempDir(), "a", "sessions"))
	r := record(t, store, wholeRun()[:8])
	defer r.Close()
	for path, want := range map[string]os.FileMode{
		store.Dir():                         0o700 | os.ModeDir,
		r.files.dir:                         0o700 | os.ModeDir,
		r.Path():                            0o600,
		r.File(1, "actor.stdout") + ".kept": 0o600,
	} {
		if st, err := os.Stat(path); err != nil || os.PathSeparator == '/' && st.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", path, st.Mode(), err, want)
		}
	}
}

func TestRecorderCloses(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())

	unused, err := store.Create("x", began)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(unused.Close(), unused.Close()); err != nil {
		t.Error(err)
	}
	if left := names(t, store.Dir()); left != nil {
		t.Errorf("left by a session that never began: %v", left)
	}

	done := record(t, store, wholeRun())
	err = done.Handle(stamped(99), loop.Warned{})
	if werr, ok := errors.AsType[*WriteError](err); !ok || werr.Path != done.Path() || !errors.Is(err, os.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

func TestRecorderRefusesALineThatNoReaderTakes(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	r := record(t, store, wholeRun()[:2])
	r.limit = 10_000
	huge := loop.IterationFinished{Round: loop.Round{Iteration: 1, Change: loop.Change{Files: []loop.FileChange{
		{Path: "node_modules", Patch: string(make([]byte, r.limit/6+1))},
	}}}}
	err := r.Handle(stamped(3), huge)
	if werr, ok := errors.AsType[*WriteError](err); !ok || !errors.Is(err, ErrLineTooLong) || werr.Hint() == "" {
		t.Errorf("got %v", err)
	}
	end := loop.Finished{Outcome: loop.Outcome{Result: loop.Failed, Reason: loop.StopInternal}}
	if err := r.Handle(stamped(4), end); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, r.Path()); len(got) != 3 || !reflect.DeepEqual(got[2].Event, loop.Event(end)) {
		t.Errorf("the log holds %d lines", len(got))
	}
}

// TestRecorderLeavesOutWhatCanBeWorkedOut: an iteration's own change is left out of a line that
// would be too long, since it can be computed.
func TestRecorderLeavesOutWhatCanBeWorkedOut(t *testing.T) {
	t.Parallel()
	r := record(t, newStore(t, t.TempDir()), wholeRun()[:2])
	r.limit = 10_000
	change := loop.Change{Files: []loop.FileChange{{Path: "a", Patch: strings.Repeat("x", 6_000)}}}
	round := loop.Round{Iteration: 2, Change: change, Own: &change}
	if err := r.Handle(stamped(3), loop.IterationFinished{Round: round}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got := readFile(t, r.Path())[2].Event.(loop.IterationFinished).Round
	if got.Own != nil || len(got.Change.Files) != 1 || len(got.Change.Files[0].Patch) != 6_000 {
		t.Errorf("got %+v", got)
	}
}

// TestRecorderOfAChangedLog: a run ends if its log is appended to, truncated, edited or replaced by
// others. The end is written if possible, and says so.
func TestRecorderOfAChangedLog(t *testing.T) {
	t.Parallel()
	end := loop.Finished{Outcome: loop.Outcome{Result: loop.Failed, Reason: loop.StopInternal}}
	for name, meddle := range map[string]func(path string) error{
		"added to": func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString(`{"type":"session_end","outcome":"success"`)
			return errors.Join(err, f.Close())
		},
		"emptied":         func(path string) error { return os.Truncate(path, 0) },
		"edited in place": func(path string) error { return edit(path, "go fest") },
		"removed":         os.Remove,
		"replaced": func(path string) error {
			text, err := os.ReadFile(path)
			return errors.Join(err, os.Remove(path), os.WriteFile(path, text, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := record(t, newStore(t, t.TempDir()), wholeRun()[:2])
			if err := meddle(r.Path()); err != nil {
				t.Skip(err) // a system that locks open files
			}
			err := r.Handle(stamped(3), wholeRun()[2])
			if werr, ok := errors.AsType[*WriteError](err); !ok || !errors.Is(err, ErrChanged) || werr.Hint() == "" {
				t.Errorf("got %v", err)
			}
			if err := r.Handle(stamped(4), end); errors.Is(err, ErrChanged) != (name == "removed" || name == "replaced") {
				t.Errorf("the end: %v", err)
			}
			text, err := os.ReadFile(r.Path())
			stays := name != "removed" && name != "replaced"
			if last := bytes.Contains(text, []byte(`"outcome":"failed"`)) && bytes.Contains(text, []byte(`"log_changed":true`)); last != stays || !r.Changed() {
				t.Errorf("the log holds %q, %v", text, err)
			}
		})
	}
}

// TestCourseOfAChangedLog: later readers of the log are told, too.
func TestCourseOfAChangedLog(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	r := record(t, store, wholeRun()[:2])
	if err := edit(r.Path(), "go fest"); err != nil {
		t.Fatal(err)
	}
	for _, e := range []loop.Event{wholeRun()[2], loop.Finished{}} {
		_ = r.Handle(stamped(3), e)
	}
	if course, err := store.Course(r.ID()); err != nil || !course.Changed {
		t.Errorf("read back: %+v, %v", course, err)
	}
}

// edit replaces "go test" in a file by a text of the same length, and restores the modification
// time.
func edit(path, to string) error {
	const from = "go test"
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !bytes.Contains(text, []byte(from)) {
		return fmt.Errorf("%q is not in %s", from, path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(bytes.ReplaceAll(text, []byte(from), []byte(to)), 0)
	return errors.Join(err, f.Close(), os.Chtimes(path, st.ModTime(), st.ModTime()))
}

// TestRecorderLooksBeforeItEnds: an edit after the last line is found before a DONE or the end is
// written, and the end is then not a success.
func TestRecorderLooksBeforeItEnds(t *testing.T) {
	t.Parallel()
	done := loop.IterationFinished{Round: loop.Round{Iteration: 1, Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Done}}}}
	end := loop.Finished{Outcome: loop.Outcome{Result: loop.Success, Reason: loop.StopDone, Iterations: 1}}
	for name, e := range map[string]loop.Event{"a DONE": done, "the end": end} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := record(t, newStore(t, t.TempDir()), wholeRun()[:2])
			if err := edit(r.Path(), "go fest"); err != nil {
				t.Fatal(err)
			}
			st, err := os.Stat(r.Path())
			if err != nil {
				t.Fatal(err)
			}
			r.written.seen = file.StampOf(st) // as on a file system without change times
			if err := r.Handle(stamped(3), e); !errors.Is(err, ErrChanged) || !r.Changed() {
				t.Errorf("got %v", err)
			}
			text, err := os.ReadFile(r.Path())
			if bytes.Contains(text, []byte(`"outcome":"success"`)) || bytes.Contains(text, []byte("DONE")) ||
				bytes.Contains(text, []byte(`"log_changed":true`)) != (name == "the end") {
				t.Errorf("the log holds %s, %v", text, err)
			}
		})
	}
}

// TestRecorderOfATouchedLog: touching a log without changing its content does not end the run.
func TestRecorderOfATouchedLog(t *testing.T) {
	t.Parallel()
	r := record(t, newStore(t, t.TempDir()), wholeRun()[:2])
	for _, touch := range []func() error{
		func() error { return os.Chtimes(r.Path(), began, began) },
		func() error { return os.Chmod(r.Path(), 0o640) },
		func() error { return edit(r.Path(), "go test") },
	} {
		if err := errors.Join(touch(), r.Handle(stamped(3), wholeRun()[2])); err != nil {
			t.Error(err)
		}
	}
	if err := r.Handle(stamped(4), loop.Finished{}); err != nil || r.Changed() {
		t.Error(err)
	}
}
