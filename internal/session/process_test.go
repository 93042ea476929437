package session

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
)

// childWrites writes a session without end and says, after each event, how
// many are on the disk.
func childWrites(args []string) error {
	store, err := NewStore(args[0])
	if err != nil {
		return err
	}
	r, err := store.Create("kill me", began)
	if err != nil {
		return err
	}
	events := wholeRun()
	for n := 1; ; n++ {
		e := events[(n-1)%(len(events)-1)]
		if err := r.Handle(stamped(n), e); err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

// TestKilledWhileWriting kills a writer at any moment: whatever it has said is
// on the disk can be read, and at most the last line is torn.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	rounds := 12
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		store := newStore(t, t.TempDir())
		said := killWriter(t, store.Dir())
		id, err := store.Latest(nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := store.Open(id)
		if err != nil {
			t.Fatal(err)
		}
		entries, bad := read(r)
		_ = r.Close()
		if len(bad) > 1 || len(bad) == 1 && !errors.Is(bad[0], ErrTorn) {
			t.Fatalf("round %d: %v", round, bad)
		}
		if len(entries) == 0 || entries[len(entries)-1].At.Seq < said-1 {
			t.Fatalf("round %d: %d events were written, %d are read", round, said, len(entries))
		}
		checkSequence(t, entries)
		if running, err := store.Running(id); running || err != nil {
			t.Fatalf("a killed session runs: %v, %v", running, err)
		}
	}
}

// killWriter kills a writer shortly after it has said that some events are on
// the disk, and returns the last number that it said.
func killWriter(t *testing.T, dir string) (said int) {
	t.Helper()
	cmd, out := child(t, "write", dir)
	enough := 1 + rand.IntN(60)
	for out.Scan() {
		if _, err := fmt.Sscan(out.Text(), &said); err != nil {
			t.Fatal(err)
		}
		if said == enough {
			time.AfterFunc(time.Duration(rand.IntN(3000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait()
	if said < enough {
		t.Fatalf("the writer stopped after %d events", said)
	}
	return said
}

// checkSequence checks that no event is missing among the entries.
func checkSequence(t *testing.T, entries []Entry) {
	t.Helper()
	for i := 1; i < len(entries); i++ {
		// Activity is not logged, and takes a number.
		if gap := entries[i].At.Seq - entries[i-1].At.Seq; gap < 1 || gap > 2 {
			t.Fatalf("event %d is followed by %d", entries[i-1].At.Seq, entries[i].At.Seq)
		}
	}
}

// childHolds keeps a session open until its standard input ends.
func childHolds(args []string) error {
	store, err := NewStore(args[0])
	if err != nil {
		return err
	}
	r, err := store.Create("hold", began)
	if err != nil {
		return err
	}
	if err := r.Handle(stamped(1), loop.Started{}); err != nil {
		return err
	}
	fmt.Println(r.ID())
	_, err = io.ReadAll(os.Stdin)
	return err
}

func TestRunning(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	cmd, out := child(t, "hold", store.Dir())
	if !out.Scan() {
		t.Fatal("the child said nothing")
	}
	id := out.Text()
	if running, err := store.Running(id); !running || err != nil {
		t.Errorf("while it runs: %v, %v", running, err)
	}
	// Others may read meanwhile.
	if got, err := store.Survey(); err != nil || len(got) != 1 || got[0].Err != nil || got[0].Status != Running {
		t.Errorf("while it runs: %+v, %v", got, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if running, err := store.Running(id); running || err != nil {
		t.Errorf("after it was killed: %v, %v", running, err)
	}
	if _, err := store.Running("none"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of none: %v", err)
	}
}

// childLocks holds the lock of a work tree until its standard input ends.
func childLocks(args []string) error {
	l, err := Acquire(args[0], args[1], "session-of-the-child", began)
	if err != nil {
		return err
	}
	fmt.Println("held")
	if _, err := io.ReadAll(os.Stdin); err != nil {
		return err
	}
	return l.Close()
}

func TestLock(t *testing.T) {
	t.Parallel()
	locks, tree := filepath.Join(t.TempDir(), "data", "locks"), t.TempDir()
	resolvedTree, err := filepath.EvalSymlinks(tree)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(tree, link); err != nil {
		t.Skip("no symlinks here:", err)
	}
	cmd, out := child(t, "lock", locks, link)
	if !out.Scan() {
		t.Fatal("the child said nothing")
	}
	l, err := Acquire(locks, tree, "mine", began)
	held, ok := errors.AsType[*HeldError](err)
	if !ok {
		t.Fatalf("got %v, %v", l, err)
	}
	want := HeldError{PID: cmd.Process.Pid, Session: "session-of-the-child", Since: began, WorkTree: resolvedTree}
	if *held != want {
		t.Errorf("got %+v, want %+v", *held, want)
	}
	if text := held.Error(); !strings.Contains(text, strconv.Itoa(cmd.Process.Pid)) || !strings.Contains(text, resolvedTree) {
		t.Errorf("it says %q", text)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for range 2 { // and again after it was given back
		l, err := Acquire(locks, tree, "mine", began)
		if err != nil {
			t.Fatalf("after the holder was killed: %v", err)
		}
		_, err = Acquire(locks, tree, "mine", began)
		if held, ok := errors.AsType[*HeldError](err); !ok || held.PID != os.Getpid() {
			t.Errorf("within one process: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestLockOfAnother(t *testing.T) {
	t.Parallel()
	locks := t.TempDir()
	for _, tree := range []string{t.TempDir(), t.TempDir()} {
		l, err := Acquire(locks, tree, "mine", began)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	if _, err := Acquire(locks, filepath.Join(t.TempDir(), "missing"), "mine", began); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a work tree that is not there: %v", err)
	}
}

// TestLockShared: who may make a lock may take one that another user has made.
func TestLockShared(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o700, 0o770, 0o777} {
		locks, tree := t.TempDir(), t.TempDir()
		if err := os.Chmod(locks, mode); err != nil {
			t.Fatal(err)
		}
		l, err := Acquire(locks, tree, "mine", began)
		if err != nil {
			t.Fatal(err)
		}
		info, err := l.file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := info.Mode().Perm(), mode&0o666; runtime.GOOS != "windows" && got != want {
			t.Errorf("in a directory of mode %o a lock has %o, not %o", mode, got, want)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
