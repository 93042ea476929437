package file

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, shared := range []bool{false, true} {
		if held, ok, err := TryLock(path, shared); held != nil || ok || err != nil {
			t.Errorf("while it is held, shared %t: %v, %t, %v", shared, held, ok, err)
		}
	}
	got := make(chan error)
	go func() {
		again, err := Lock(path)
		if err == nil {
			again()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("it was taken twice, %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	unlock()
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	for range 2 {
		held, ok, err := TryLock(path, true)
		if !ok || err != nil {
			t.Fatalf("it cannot be shared: %v", err)
		}
		defer held.Close()
	}
}

// TestLockOfARemovedFile: a holder may remove the file, and the next one has a lock all the same.
func TestLockOfARemovedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan func())
	go func() {
		unlock, err := Lock(path)
		if err != nil {
			t.Error(err)
		}
		got <- unlock
	}()
	time.Sleep(20 * time.Millisecond)
	if err := os.Remove(path); err != nil {
		t.Skip("an open file cannot be removed here:", err)
	}
	unlock()
	defer (<-got)()
	if held, ok, err := TryLock(path, false); ok || err != nil {
		t.Errorf("two have it: %v, %v", held, err)
	}
}
