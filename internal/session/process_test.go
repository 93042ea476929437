package session

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"codeloops/internal/loop"
)

// childWrites writes a session without an end, and prints after each event how many are on disk.
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

// TestKilledWhileWriting: if a writer is killed, all events that it has reported can be read, and
// at most the last line is torn.
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
		entries, bad := sorted(Read(store.Path(id)))
		if len(bad) > 1 || len(bad) == 1 && !errors.Is(bad[0], ErrTorn) {
			t.Fatalf("round %d: %v", round, bad)
		}
		if len(entries) == 0 || entries[len(entries)-1].At.Seq < said-1 {
			t.Fatalf("round %d: %d events were written, %d are read", round, said, len(entries))
		}
		checkSequence(t, entries)
		if running, err := store.Running(id); running || err != nil {
			t.Fatalf("a killed session counts as running: %v, %v", running, err)
		}
	}
}

// killWriter kills a writer shortly after it has reported some events, and returns the last number
// it printed.
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
		// Activities are not logged, but have a number.
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
		t.Fatal("the child printed nothing")
	}
	id := out.Text()
	if running, err := store.Running(id); !running || err != nil {
		t.Errorf("while it runs: %v, %v", running, err)
	}
	// Others may read in the meantime.
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
		t.Errorf("an unknown session: %v", err)
	}
}
