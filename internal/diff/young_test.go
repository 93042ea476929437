package diff_test

import (
	"os"
	"strconv"
	"testing"
	"time"

	"codeloops/internal/file"
)

// TestYoung: a file is written in the second in which a session begins, and again in the same second, with the same size
// and the same time. It is seen. Where it was given that time, the session begins when the second is over.
func TestYoung(t *testing.T) {
	t.Parallel()
	second := func(at int64) int64 { return at / int64(time.Second) }
	for _, given := range []bool{true, false} {
		s := newRepoInMemory(t)
		same := false
		for i := range 5 {
			name := strconv.Itoa(i)
			time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
			s.write(name, "one\n")
			if given {
				hourAgo := time.Now().Add(-time.Hour)
				s.must(os.Chtimes(s.path(name), hourAgo, hourAgo))
			}
			before := file.At(s.path(name))
			tree := s.begin()
			if given && time.Now().Unix() == second(before.Ctime) {
				t.Error("the session begins in the second of a file with another time")
			}
			s.write(name, "two\n")
			at := time.Unix(0, before.Mtime)
			s.must(os.Chtimes(s.path(name), at, at))
			if c := s.capture(tree); summary(c) != "M "+name+"\n" {
				t.Errorf("given %v: %q", given, summary(c))
			}
			same = same || second(file.At(s.path(name)).Ctime) == second(before.Ctime)
		}
		if !given && !same {
			t.Skip("the machine is too busy to do it in a second")
		}
	}
}
