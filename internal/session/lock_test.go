package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestLockInThePlaceOfAFile: what an agent has put where a lock belongs leads to no
// file of the user's.
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
			git, tree, home := t.TempDir(), t.TempDir(), t.TempDir()
			victim, locks := filepath.Join(home, "victim"), filepath.Join(git, "codeloops")
			if err := os.WriteFile(victim, []byte("mine\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			first, err := Acquire(locks, tree, "first", began)
			if err != nil {
				t.Fatal(err)
			}
			lock := filepath.Join(locks, filepath.Base(first.file.Name()))
			err = errors.Join(first.Close(), os.Remove(lock))
			if plant == nil {
				err = errors.Join(err, os.Remove(locks), os.Symlink(home, locks))
			} else {
				err = errors.Join(err, plant(lock, victim))
			}
			if err != nil {
				t.Skip("it cannot be made here:", err)
			}
			l, err := Acquire(locks, tree, "second", began)
			if err == nil {
				_ = l.Close()
				t.Error("the lock was taken")
			}
			if text, err := os.ReadFile(victim); err != nil || string(text) != "mine\n" {
				t.Errorf("the file holds %q, %v", text, err)
			}
			if names, err := filepath.Glob(filepath.Join(home, "*")); err != nil || len(names) != 1 {
				t.Errorf("beside it stands %q, %v", names, err)
			}
		})
	}
}

func TestHeld(t *testing.T) {
	t.Parallel()
	locks, tree := filepath.Join(t.TempDir(), "codeloops"), t.TempDir()
	if held := Held(locks, tree); held != nil {
		t.Errorf("before there is a lock: %v", held)
	}
	lock, err := Acquire(locks, tree, "one", began)
	if err != nil {
		t.Fatal(err)
	}
	if held := Held(locks, tree); held == nil || held.Session != "one" || held.PID != os.Getpid() {
		t.Errorf("while it is held: %+v", held)
	}
	if held := Held(locks, t.TempDir()); held != nil {
		t.Errorf("of another work tree: %v", held)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if held := Held(locks, tree); held != nil {
		t.Errorf("after its end: %v", held)
	}
	if lock, err = Acquire(locks, tree, "two", began); err != nil {
		t.Fatalf("whoever has looked keeps it: %v", err)
	}
	_ = lock.Close()
}
