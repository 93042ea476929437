package session

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
)

// TestOverviewOfNoEnd: the progress of a session without an end is known from whichever line is its
// last.
func TestOverviewOfNoEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		last loop.Event
		want int
	}{
		"start":      {loop.Started{}, 0},
		"resume":     {loop.Resumed{Iterations: 4}, 4},
		"iteration":  {loop.IterationStarted{Iteration: 3}, 2},
		"phase":      {loop.PhaseEntered{Iteration: 3, State: loop.CapturingDiff}, 2},
		"actor":      {loop.ActorFinished{Iteration: 3}, 2},
		"diff":       {loop.DiffCaptured{Iteration: 3}, 2},
		"checks":     {loop.ChecksFinished{Iteration: 3}, 2},
		"rejected":   {loop.ReviewRejected{Iteration: 3}, 2},
		"critic":     {loop.CriticFinished{Iteration: 3}, 2},
		"whole":      {loop.IterationFinished{Round: loop.Round{Iteration: 3}}, 3},
		"warned":     {loop.Warned{Iteration: 3, Text: "x"}, 2},
		"very large": {loop.IterationFinished{Round: loop.Round{Iteration: 3, Attempt: loop.Attempt{Turn: loop.Turn{Execution: loop.Execution{Stdout: loop.Output{Text: strings.Repeat("x", shortLine)}}}}}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.jsonl")
			log := string(Encode(stamped(1), loop.Started{Session: loop.Session{Prompt: "p"}}))
			whole := log + string(Encode(stamped(3), c.last))
			writeFile(t, path, whole)
			got := Look(path)
			if got.Status != Crashed || got.Iterations != c.want || got.Err != nil || got.Problem != nil {
				t.Errorf("got %+v", got)
			}
			if c.want != UnknownIterations && got.Duration != 3*time.Second {
				t.Errorf("took %v", got.Duration)
			}
			// A torn line after it is reported, and costs only itself.
			writeFile(t, path, whole+"\n"+`{"type":"iteration","iter`)
			torn := Look(path)
			bad, ok := errors.AsType[*LineError](torn.Problem)
			if torn.Iterations != c.want || !ok || bad.Line != 4 || bad.File != path || !errors.Is(bad, ErrTorn) {
				t.Errorf("torn: got %+v", torn)
			}
		})
	}
}

func TestOverviewOfNoLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"empty":   {"", ErrEmpty},
		"foreign": {`{"type":"log"}` + "\n", errNoStart},
		"torn":    {`{"type":"session_sta`, ErrTorn},
		"cut":     {`{"type":"session_sta` + "\n", errCut},
		"no JSON": {"garbage\n", errNotJSON},
		"no time": {`{"type":"session_start","prompt":"x","timestamp":"zzz"}` + "\n", errNotTime},
		"base64":  {`{"type":"session_start","prompt":"x","prompt_base64":"%"}` + "\n", errNotBase64},
		"bare":    {`{"type":"session_start"}` + "\n", errBareStart},
	} {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		writeFile(t, path, c.text)
		got := Look(path)
		if bad, ok := errors.AsType[*LineError](got.Err); !ok || bad.Line != 1 || !errors.Is(bad, c.want) {
			t.Errorf("%s: %v", name, got.Err)
		}
	}
	if got := Look(filepath.Join(t.TempDir(), "none.jsonl")); !errors.Is(got.Err, os.ErrNotExist) {
		t.Errorf("missing: %+v", got)
	}
}

// TestSurveyOrder reads many logs at once and keeps them in order.
func TestSurveyOrder(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	const n = 200
	for i := range n {
		begin(t, store, strconv.Itoa(i), began.Add(time.Duration(i)*time.Second), true)
	}
	all, err := store.Survey()
	if err != nil || len(all) != n {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	for i, one := range all {
		if one.Session.Prompt != strconv.Itoa(n-1-i) || one.Status != Status(loop.Success) || one.Err != nil {
			t.Fatalf("at %d: %+v", i, one)
		}
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	done := begin(t, store, "done", began, true)
	open := begin(t, store, "open", began, false)
	folder := filepath.Join(store.Dir(), done.ID()+".d")
	outside := t.TempDir()
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(folder, "001.actor.stdout"), "kept")
	writeFile(t, filepath.Join(outside, "precious"), "of others")
	if err := os.Symlink(outside, filepath.Join(folder, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if got := store.Space(done.ID()); got <= 4 {
		t.Errorf("space: %d", got)
	}
	if err := store.Remove(open.ID()); !errors.Is(err, ErrRunning) {
		t.Errorf("a running session: %v", err)
	}
	if err := store.Remove(done.ID()); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]bool{done.Path(): false, folder: false, filepath.Join(outside, "precious"): true, open.Path(): true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := store.Remove(done.ID()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("twice: %v", err)
	}
}

// TestRemoveOrReopen: if a session is removed while it is being resumed, the resume fails, or the
// session stays until it is closed.
func TestRemoveOrReopen(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	for range 100 {
		was := record(t, store, wholeRun()[:2])
		id := was.ID()
		if err := was.Close(); err != nil {
			t.Fatal(err)
		}
		removed := make(chan error)
		go func() { removed <- store.Remove(id) }()
		r, _, err := store.Reopen(id)
		reopened := err == nil
		if reopened {
			err = errors.Join(r.Handle(stamped(9), loop.Warned{Text: "carried on"}), r.Close())
		}
		got := <-removed
		if reopened && (err != nil || got != nil && !errors.Is(got, ErrRunning)) || !reopened && got != nil {
			t.Fatalf("reopened: %v, %v; removed: %v", reopened, err, got)
		}
	}
}
