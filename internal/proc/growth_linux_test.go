package proc

import (
	"path/filepath"
	"testing"
	"time"
)

// TestGrowthTellsOfWrites writes to a file with a name, and to one without: the
// system tells of both, and of nothing where nothing is written.
func TestGrowthTellsOfWrites(t *testing.T) {
	t.Parallel()
	s, err := openStreams(Command{Stdout: filepath.Join(t.TempDir(), "out")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	l := newLookout()
	defer l.close()
	g, forget := l.follow(s.outputs())
	defer forget()
	if g.period != doubtPeriod {
		t.Fatalf("they are looked at every %s", g.period)
	}
	told := func() {
		t.Helper()
		for _, ear := range []chan struct{}{g.text, g.sizes} {
			select {
			case <-ear:
			case <-time.After(time.Minute):
				t.Fatal("nobody tells of it")
			}
		}
	}
	told() // that it may have begun already
	time.Sleep(2 * watchPeriod)
	select {
	case <-g.text:
		t.Error("nothing was written")
	default:
	}
	for _, f := range []*stream{s.stdout, s.stderr, s.stdout} {
		if _, err := f.file.WriteString("x"); err != nil {
			t.Fatal(err)
		}
		told()
	}
}

// TestLookoutEnds ends one in the middle of a stream of writes.
func TestLookoutEnds(t *testing.T) {
	t.Parallel()
	s, err := openStreams(Command{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for range 20 {
		l := newLookout()
		_, forget := l.follow(s.outputs())
		for range 3 {
			if _, err := s.stdout.file.WriteString("x"); err != nil {
				t.Fatal(err)
			}
		}
		forget()
		l.close()
	}
}
