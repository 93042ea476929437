# Seen by nobody who works on the task.
set -e
export GOFLAGS=-mod=mod GOWORK=off GOTOOLCHAIN=local CGO_ENABLED=0
printf 'module task\n\ngo 1.21\n' >go.mod
cat >hidden_test.go <<'X'
package work

import "testing"

func TestChunk(t *testing.T) {
	all := []int{1, 2, 3, 4, 5}
	got := Chunk(all, 2)
	if len(got) != 3 || len(got[2]) != 1 {
		t.Fatal(got)
	}
	_ = append(got[0], 9)
	if all[2] != 3 || len(Chunk(nil, 3)) != 0 {
		t.Fatal(all)
	}
	defer func() {
		if recover() == nil {
			t.Fatal("no panic")
		}
	}()
	Chunk(all, 0)
}
X
go test ./...
