package proc

import (
	"sync"
	"testing"
)

// TestKeeperToBeIsNoOrphan: a keeper that is just being started is not mistaken for an
// orphan.
func TestKeeperToBeIsNoOrphan(t *testing.T) {
	t.Parallel()
	var seen sync.Map
	done := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			for _, pid := range orphans() {
				seen.Store(pid, true)
			}
		}
	})
	defer looking.Wait()
	defer close(done)
	for n := range 50 {
		k, err := startKeeper(true)
		if n == 0 && err != nil {
			t.Skip(err) // the system does not allow overlays
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, taken := seen.Load(k.process.Pid); taken {
			t.Error("the new keeper is taken for an orphan")
		}
		k.close()
	}
}
