package play

import (
	"strconv"
	"sync"
	"testing"
)

// TestTempDirsWhileOthersTidy makes directories while others look for those of killed processes.
func TestTempDirsWhileOthersTidy(t *testing.T) {
	t.Parallel()
	dirs := tempDirs(t.TempDir())
	made := make(chan struct{})
	var tidying sync.WaitGroup
	for range 2 {
		tidying.Go(func() {
			for {
				select {
				case <-made:
					return
				default:
					dirs.tidy()
				}
			}
		})
	}
	for n := range 100 {
		_, done, err := dirs.room(strconv.Itoa(n))
		if err != nil {
			t.Error(err)
			break
		}
		done()
	}
	close(made)
	tidying.Wait()
}
