package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"codeloops/internal/file"
)

// newWorkTree returns a work tree with its own git directory.
func newWorkTree(t *testing.T) WorkTree {
	t.Helper()
	return WorkTree{Root: t.TempDir(), GitDir: t.TempDir(), Own: filepath.Join(t.TempDir(), "data", "locks")}
}

// childLocks prints whether it has got the lock of a work tree, and holds it until its standard
// input ends.
func childLocks(args []string) error {
	l, err := (WorkTree{Root: args[0], GitDir: args[1], Own: args[2]}).Acquire("session-of-"+strconv.Itoa(os.Getpid()), began)
	if held, ok := errors.AsType[*HeldError](err); ok {
		fmt.Println("refused by", held.PID, held.Session)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Println("held")
	if _, err := io.ReadAll(os.Stdin); err != nil {
		return err
	}
	return l.Close()
}

// locks makes another process take the lock of a work tree.
func (w WorkTree) locks(t *testing.T) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	return child(t, "lock", w.Root, w.GitDir, w.Own)
}

// holds waits until another process has the lock of a work tree.
func (w WorkTree) holds(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd, out := w.locks(t)
	if !out.Scan() || out.Text() != "held" {
		t.Fatalf("the child printed %q", out.Text())
	}
	return cmd
}

func TestLock(t *testing.T) {
	t.Parallel()
	w := newWorkTree(t)
	cmd := w.holds(t)
	l, err := w.Acquire("mine", began)
	held, ok := errors.AsType[*HeldError](err)
	if !ok {
		t.Fatalf("got %v, %v", l, err)
	}
	pid := cmd.Process.Pid
	want := HeldError{PID: pid, Session: "session-of-" + strconv.Itoa(pid), Since: began, WorkTree: w.Root}
	if *held != want {
		t.Errorf("got %+v, want %+v", *held, want)
	}
	if text := held.Error(); !strings.Contains(text, strconv.Itoa(pid)) || !strings.Contains(text, w.Root) {
		t.Errorf("the error is %q", text)
	}
	if held := w.Held(); held == nil || *held != want {
		t.Errorf("checking the lock returns %+v", held)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for range 2 { // also after it was released
		l, err := w.Acquire("mine", began)
		if err != nil {
			t.Fatalf("after the holder was killed: %v", err)
		}
		_, err = w.Acquire("mine", began)
		if held, ok := errors.AsType[*HeldError](err); !ok || held.PID != os.Getpid() {
			t.Errorf("within one process: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLockLeavesNothing: the files that a run creates for its lock are removed with it.
func TestLockLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorkTree(t)
	cmd := w.holds(t)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	l, err := w.Acquire("the next", began)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{w.GitDir, w.Own} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("while the lock is held, %s contains %v, %v", dir, entries, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{w.GitDir, w.Own} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 && runtime.GOOS != "windows" {
			t.Errorf("%s holds %v, %v", dir, entries, err)
		}
	}
}

// TestLockByAnotherName: all paths to the same files are one work tree, and so are two that share
// index and HEAD.
func TestLockByAnotherName(t *testing.T) {
	t.Parallel()
	w := newWorkTree(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.Root, link); err != nil {
		t.Skip("no symlinks here:", err)
	}
	w.holds(t)
	for name, other := range map[string]WorkTree{
		"a link":                         {Root: link, GitDir: w.GitDir, Own: w.Own},
		"another git directory":          {Root: w.Root, GitDir: t.TempDir(), Own: w.Own},
		"a link, another git directory":  {Root: link, GitDir: t.TempDir(), Own: w.Own},
		"another root":                   {Root: t.TempDir(), GitDir: w.GitDir, Own: w.Own},
		"logs in another place":          {Root: w.Root, GitDir: w.GitDir, Own: t.TempDir()},
		"logs nowhere":                   {Root: w.Root, GitDir: w.GitDir},
		"logs where nothing can be made": {Root: w.Root, GitDir: w.GitDir, Own: filepath.Join(os.DevNull, "locks")},
	} {
		if l, err := other.Acquire("second", began); err == nil {
			t.Errorf("%s: the lock was taken", name)
			_ = l.Close()
		} else if _, held := errors.AsType[*HeldError](err); !held {
			t.Errorf("%s: %v", name, err)
		}
		if other.Held() == nil {
			t.Errorf("%s: the lock has no holder", name)
		}
	}
	other := newWorkTree(t)
	other.Own = w.Own
	l, err := other.Acquire("elsewhere", began)
	if err != nil {
		t.Fatalf("another work tree: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	other.Root = filepath.Join(other.Root, "missing")
	if _, err := other.Acquire("nowhere", began); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing work tree: %v", err)
	}
}

// TestLockAtOnce: of many processes that want a lock at the same time one gets it, and the others
// are told who holds it.
func TestLockAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorkTree(t)
	const many = 20
	said := make(chan string, many)
	for range many {
		cmd, out := w.locks(t)
		go func() {
			out.Scan()
			if text := out.Text(); text != "held" {
				said <- text
				return
			}
			said <- "held " + strconv.Itoa(cmd.Process.Pid)
		}()
	}
	var held string
	var refused []string
	for range many {
		text := <-said
		if pid, ok := strings.CutPrefix(text, "held "); ok && held == "" {
			held = pid
			continue
		}
		refused = append(refused, text)
	}
	for _, text := range refused {
		if want := "refused by " + held + " session-of-" + held; text != want {
			t.Errorf("one printed %q, want %q", text, want)
		}
	}
}

// TestLockHandedOn: a lock never has two holders while it passes from one to the next, each of
// which removes its files.
func TestLockHandedOn(t *testing.T) {
	t.Parallel()
	w := newWorkTree(t)
	var holders, turns atomic.Int64
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for turns.Load() < 100 {
				l, err := w.Acquire("one of them", began)
				if _, held := errors.AsType[*HeldError](err); held {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n > 1 {
					t.Errorf("the lock has %d holders", n)
				}
				turns.Add(1)
				time.Sleep(time.Millisecond)
				holders.Add(-1)
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestLockShared: a user who may create a lock may also take one that another user has created.
func TestLockShared(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such permissions")
	}
	for shared, want := range map[os.FileMode]os.FileMode{0: 0o600, 0o600: 0o600, 0o660: 0o660, 0o664: 0o664} {
		w := newWorkTree(t)
		w.Shared = shared
		l, err := w.Acquire("mine", began)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []os.FileMode{want, 0o600} {
			if info, err := l.files[i].Stat(); err != nil || info.Mode().Perm() != want {
				t.Errorf("lock %d, shared as %o, has %v, not %o; %v", i, shared, info.Mode(), want, err)
			}
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLockInThePlaceOfAFile: a link that an agent has put in the place of a lock does not reach the
// user's files.
func TestLockInThePlaceOfAFile(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(lock, victim string) error{
		"a link":                func(lock, victim string) error { return os.Symlink(victim, lock) },
		"a link to none":        func(lock, victim string) error { return os.Symlink(victim+".none", lock) },
		"another name":          func(lock, victim string) error { return os.Link(victim, lock) },
		"a directory":           func(lock, _ string) error { return os.Mkdir(lock, 0o700) },
		"a link in a directory": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, home := newWorkTree(t), t.TempDir()
			victim := filepath.Join(home, "victim")
			if err := os.WriteFile(victim, []byte("mine\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			var err error
			if plant == nil {
				err = errors.Join(os.Remove(w.GitDir), os.Symlink(home, w.GitDir))
			} else {
				err = plant(filepath.Join(w.GitDir, gitLock), victim)
			}
			if err != nil {
				t.Skip("not possible here:", err)
			}
			l, err := w.Acquire("mine", began)
			if err == nil {
				_ = l.Close()
				t.Error("the lock was taken")
			}
			if text, err := os.ReadFile(victim); err != nil || string(text) != "mine\n" {
				t.Errorf("the file holds %q, %v", text, err)
			}
			if names, err := filepath.Glob(filepath.Join(home, "*")); err != nil || len(names) != 1 {
				t.Errorf("the directory contains %q, %v", names, err)
			}
		})
	}
}

func TestHeld(t *testing.T) {
	t.Parallel()
	w := newWorkTree(t)
	if held := w.Held(); held != nil {
		t.Errorf("before there is a lock: %v", held)
	}
	lock, err := w.Acquire("one", began)
	if err != nil {
		t.Fatal(err)
	}
	if held := w.Held(); held == nil || held.Session != "one" || held.PID != os.Getpid() {
		t.Errorf("while it is held: %+v", held)
	}
	if held := newWorkTree(t).Held(); held != nil {
		t.Errorf("of another work tree: %v", held)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if held := w.Held(); held != nil {
		t.Errorf("after its release: %v", held)
	}
	if lock, err = w.Acquire("two", began); err != nil {
		t.Fatalf("not free after it was checked: %v", err)
	}
	_ = lock.Close()
}

// TestLockLookedAt: checking a lock, however long it takes, does not keep others from taking it.
func TestLockLookedAt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	writeFile(t, path, "")
	open := func() *os.File {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	looker, taker := open(), open()
	defer looker.Close()
	defer taker.Close()
	if ok, err := file.TryLockFile(looker, true); !ok || err != nil {
		t.Fatal(ok, err)
	}
	looked := make(chan struct{})
	time.AfterFunc(time.Second, func() { // longer than the wait for a lock that is held
		file.UnlockFile(looker)
		close(looked)
	})
	if ok, err := lockAlone(taker); !ok || err != nil {
		t.Errorf("the lock was not taken: %v", err)
	}
	<-looked
	if ok, looked, err := tryAlone(looker); ok || looked || err != nil {
		t.Errorf("the lock was taken twice: %v, %v, %v", ok, looked, err)
	}
}
