package play

import (
	"strings"
	"testing"
)

// The end of a check's output is there also if that is one long line.
func TestEnd(t *testing.T) {
	t.Parallel()
	if got := end(strings.Repeat("x", 10000) + " and the reason"); !strings.HasSuffix(got, "xxx and the reason") {
		t.Errorf("the end is %q", got)
	}
}
