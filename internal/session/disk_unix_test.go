//go:build unix

package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/loop"
)

// fillDisk writes a session in a directory with room for about 100 KiB. A line that does not fit
// leaves no trace, and the end still has room.
func fillDisk(dir string) error {
	store, err := NewStore(dir)
	if err != nil {
		return err
	}
	r, err := store.Create("a full disk", began)
	if err != nil {
		return err
	}
	round := loop.Round{Iteration: 1}
	round.Attempt.Stdout.Text = strings.Repeat("x", 1<<20)
	start, end := loop.Event(loop.Started{}), loop.Event(loop.Finished{Outcome: loop.Outcome{Result: loop.Failed}})
	if err := r.Handle(stamped(1), start); err != nil {
		return err
	}
	err = r.Handle(stamped(2), loop.IterationFinished{Round: round})
	werr, ok := errors.AsType[*WriteError](err)
	if !ok || werr.Path != r.Path() || !strings.Contains(werr.Hint(), "free some space") {
		return fmt.Errorf("the error is: %w", err)
	}
	if text := err.Error(); strings.Count(text, r.Path()) != 1 {
		return fmt.Errorf("it says %q", text)
	}
	if err := r.Handle(stamped(3), end); err != nil {
		return fmt.Errorf("the end: %w", err)
	}
	entries, bad := sorted(Read(r.Path()))
	if len(bad) > 0 || len(entries) != 2 || !reflect.DeepEqual(entries[0].Event, start) || !reflect.DeepEqual(entries[1].Event, end) {
		return fmt.Errorf("the log holds %+v, %v", entries, bad)
	}
	return nil
}

// childFillsDisk limits the size of its files to 100 KiB.
func childFillsDisk(args []string) error {
	limit := syscall.Rlimit{Cur: 100 << 10, Max: 100 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	if err := fillDisk(args[0]); err != nil {
		return err
	}
	fmt.Println("well")
	return nil
}

func TestFileSizeLimit(t *testing.T) {
	t.Parallel()
	_, out := child(t, "full", t.TempDir())
	if !out.Scan() || out.Text() != "well" {
		t.Errorf("the child printed %q", out.Text())
	}
}

// TestTornLineThatStays: a torn line that cannot be truncated is tolerated, as on systems that do
// not truncate append-only files.
func TestTornLineThatStays(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	r := record(t, store, wholeRun()[:2])
	f, err := os.OpenFile(r.Path(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"type":"phase","sta`)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	r.torn = true
	for i, e := range []loop.Event{loop.Warned{Text: "a"}, loop.Finished{}} {
		if err := r.Handle(stamped(3+i), e); err != nil {
			t.Fatal(err)
		}
	}
	entries, bad := sorted(Read(r.Path()))
	if len(entries) != 4 || len(bad) != 1 || r.torn {
		t.Errorf("%d entries, %v", len(entries), bad)
	}
}

func TestHintOfNoPermission(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		syscall.ENOSPC: "--session-dir", syscall.EDQUOT: "--session-dir", os.ErrPermission: "--session-dir", syscall.EIO: "",
	} {
		if hint := (&WriteError{Path: "x", Err: fmt.Errorf("write: %w", err)}).Hint(); !strings.Contains(hint, want) || want == "" && hint != "" {
			t.Errorf("%v: %q", err, hint)
		}
	}
}

// inherits starts a process that has inherited f, as every process has between fork and exec.
func inherits(t *testing.T, f *os.File) {
	t.Helper()
	cmd := exec.Command("sleep", "300")
	cmd.ExtraFiles = []*os.File{f}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
}

// TestLocksAreGivenBack: a lock can be released while a process that is being started has the file
// open, too.
func TestLocksAreGivenBack(t *testing.T) {
	t.Parallel()
	w := newWorkTree(t)
	l, err := w.Acquire("first", began)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range l.files {
		inherits(t, f)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, err = w.Acquire("second", began); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}

	store := newStore(t, t.TempDir())
	r := record(t, store, wholeRun()[:2])
	inherits(t, r.log)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if running, err := store.Running(r.ID()); running || err != nil {
		t.Errorf("a closed session counts as running: %v, %v", running, err)
	}
}

// TestLockAloneWaits: resuming a session waits for a process that only checks whether it is
// running, however slow the machine.
func TestLockAloneWaits(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	r := record(t, store, wholeRun()[:2])
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	look, err := os.Open(r.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close()
	if ok, err := file.TryLockFile(look, true); !ok || err != nil {
		t.Fatal(ok, err)
	}
	looked := make(chan struct{})
	time.AfterFunc(100*time.Millisecond, func() {
		file.UnlockFile(look)
		close(looked)
	})
	again, _, err := store.Reopen(r.ID())
	<-looked
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestKeptTextIsAFile: an agent that replaces what was kept of its turn cannot have another file
// read instead, nor make resuming wait for ever.
func TestKeptTextIsAFile(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(path string) error{
		"a link": func(path string) error { return os.Symlink("/etc/hosts", path) },
		"a pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store, err := NewStore(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			r, err := store.Create("keep it", began)
			if err != nil {
				t.Fatal(err)
			}
			acted := loop.ActorFinished{Iteration: 1}
			acted.Attempt.Ending, acted.Attempt.Stdout.Text = loop.EndCompleted, "done"
			for seq, e := range []loop.Event{loop.Started{Session: loop.Session{Prompt: "keep it"}}, loop.IterationStarted{Iteration: 1}, acted} {
				if err := r.Handle(stamped(seq+1), e); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if c, err := store.Course(r.ID()); err != nil || c.Journal.Pending() == nil || c.Journal.Pending().Stdout.Text != "done" {
				t.Fatalf("before: %v", err)
			}
			kept := r.File(1, "actor.stdout.kept")
			if err := errors.Join(os.Remove(kept), replace(kept)); err != nil {
				t.Fatal(err)
			}
			if c, err := store.Course(r.ID()); err == nil {
				t.Errorf("the turn's text is %q", c.Journal.Pending().Stdout.Text)
			}
		})
	}
}
