# Seen by nobody who works on the task.
set -e
export GOFLAGS=-mod=mod GOWORK=off GOTOOLCHAIN=local CGO_ENABLED=0
printf 'module task\n\ngo 1.21\n' >go.mod
cat >hidden_test.go <<'X'
package work

import (
	"sync"
	"testing"
)

func TestCounter(t *testing.T) {
	var c Counter
	var all sync.WaitGroup
	for i := 0; i < 8; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for j := 0; j < 1000; j++ {
				c.Add("a")
			}
		}()
	}
	all.Wait()
	got := c.Snapshot()
	if got["a"] != 8000 {
		t.Fatal(got)
	}
	got["a"] = 0
	if c.Snapshot()["a"] != 8000 {
		t.Fatal("no copy")
	}
}
X
go test ./...
