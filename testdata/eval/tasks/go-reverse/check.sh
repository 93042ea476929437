# Seen by nobody who works on the task.
set -e
export GOFLAGS=-mod=mod GOWORK=off GOTOOLCHAIN=local CGO_ENABLED=0
printf 'module task\n\ngo 1.21\n' >go.mod
cat >hidden_test.go <<'X'
package work

import "testing"

func TestReverse(t *testing.T) {
	if got := Reverse("aé☃"); got != "☃éa" {
		t.Fatal(got)
	}
}
X
go test ./...
