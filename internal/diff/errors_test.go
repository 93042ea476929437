package diff_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/diff"
)

var errNoObject = errors.New("no such object")

// A noObject is a git that has no objects.
type noObject struct{}

func (noObject) Run(context.Context, diff.GitCall) ([]byte, error) { return nil, errNoObject }

// TestManyUnreadable: many missing objects are reported in one sentence that names the
// first ones, also by a restore.
func TestManyUnreadable(t *testing.T) {
	t.Parallel()
	ids := regexp.MustCompile("[0-9a-f]{40}")
	for files, more := range map[int]string{1: "", 3: "", 4: "; and 1 more", 500: "; and 497 more"} {
		t.Run(strconv.Itoa(files), func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			for i := range files {
				s.write(fmt.Sprintf("d/%03d", i), fmt.Sprintln(i))
			}
			s.commit("first")
			o := s.options()
			o.Git = noObject{}
			tree, err := diff.Open(t.Context(), s.root, o)
			s.must(err)
			defer tree.Close()
			s.must(tree.Baseline(t.Context()))
			start, err := tree.Capture(t.Context())
			s.must(err)
			s.must(os.RemoveAll(s.path(".git/objects")))
			s.must(os.Mkdir(s.path(".git/objects"), 0o755))
			s.remove("d")
			var captured []string
			for i := range min(files, 3) {
				captured = append(captured, fmt.Sprintf("read the old side of d/%03d: read blob ID: no such object", i))
			}
			_, err = tree.Capture(t.Context())
			want := "capture what changed in " + s.root + ": " + strings.Join(captured, "; ") + more
			if got := ids.ReplaceAllString(fmt.Sprint(err), "ID"); got != want || !errors.Is(err, errNoObject) {
				t.Errorf("captured: %s\nwant: %s", got, want)
			}
			if _, err := s.restores(t.Context(), tree, start); !strings.Contains(fmt.Sprint(err), "d/000: its content is missing") {
				t.Errorf("restored: %v", err)
			}
		})
	}
}

// TestManyWarnings: of many similar warnings only the first ones are shown.
func TestManyWarnings(t *testing.T) {
	t.Parallel()
	for fakes, want := range map[int]int{20: 20, 21: 21, 22: 21, 100: 21} {
		t.Run(strconv.Itoa(fakes), func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			tree := s.begin()
			for i := range fakes {
				s.write(fmt.Sprintf("%03d/.git/x", i), "")
			}
			c, err := tree.Capture(t.Context())
			s.must(err)
			if len(c.Warnings) != 1+want || !strings.HasPrefix(c.Warnings[1], "000/.git is no repository") {
				t.Fatalf("%d warnings: %q", len(c.Warnings), c.Warnings)
			}
			more := fmt.Sprintf("and %d more like these", fakes-20)
			if last := c.Warnings[want]; (last == more) != (fakes > 21) {
				t.Errorf("the last is %q", last)
			}
		})
	}
}
