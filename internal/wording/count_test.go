package wording_test

import (
	"testing"
	"time"

	"codeloops/internal/wording"
)

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 files", 1: "1 file", 2: "2 files", 1000: "1000 files"} {
		if got := wording.Count(n, "file"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := wording.Count(int64(n), "file"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, "a"},
		{[]string{"a", "b"}, "a, b"},
		{[]string{"a", "b", "c"}, "a, b and 1 more"},
		{[]string{"a", "b", "c", "d"}, "a, b and 2 more"},
	} {
		if got := wording.List(c.texts, 2); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestDuration: a duration is written in full, without zeros.
func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Hour: "1h", 90 * time.Minute: "1h30m", 20 * time.Minute: "20m", 10 * time.Hour: "10h", 100 * time.Second: "1m40s", 30 * time.Second: "30s", 1500 * time.Millisecond: "1.5s", time.Hour + time.Second: "1h0m1s",
	} {
		if got := wording.Duration(d); got != want {
			t.Errorf("%s is shown as %s", want, got)
		}
	}
}
