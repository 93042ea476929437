# Seen by nobody who works on the task.
set -e
export GOFLAGS=-mod=mod GOWORK=off GOTOOLCHAIN=local CGO_ENABLED=0
printf 'module task\n\ngo 1.21\n' >go.mod
cat >hidden_test.go <<'X'
package work

import "testing"

func TestSpan(t *testing.T) {
	for n, want := range map[int]string{3661: "1h 1m 1s", 0: "0s", 7200: "2h", -61: "-1m 1s"} {
		if got := Span(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
X
go test ./...
