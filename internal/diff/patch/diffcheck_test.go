package patch_test

import (
	"bytes"
	"os"
	"strconv"
	"testing"
	"time"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

// TestDiffCheck compares each changed file of a history with git's diff. It uses the
// newest CODELOOPS_DIFFCHECK_COMMITS commits (2000 if unset) of the repository or git
// directory whose absolute path is CODELOOPS_DIFFCHECK_REPO; without one, it generates a
// history.
func TestDiffCheck(t *testing.T) {
	t.Parallel()
	limit := 2000
	if n, err := strconv.Atoi(os.Getenv("CODELOOPS_DIFFCHECK_COMMITS")); err == nil {
		limit = n
	}
	var r repo
	if dir := os.Getenv("CODELOOPS_DIFFCHECK_REPO"); dir != "" {
		r = openRepo(t, dir)
	} else {
		r = newRepo(t, generatedHistory(400))
	}
	c := checkHistory(t, r, limit)
	if c.files == 0 {
		t.Fatal("the history changes no file")
	}
	t.Logf("%d of %d files identical in %d ms (%d commits)", c.identical, c.files, c.spent.Milliseconds(), c.commits)
}

type tally struct {
	commits, files, identical int
	spent                     time.Duration
}

func checkHistory(t *testing.T, r repo, limit int) tally {
	t.Helper()
	const maxShown = 10
	var c tally
	for d := range r.diffs(t, limit) {
		c.commits++
		rest := d.text
		for _, p := range d.paths {
			start := time.Now()
			change := loop.Change{Files: patch.File(p.path, p.before, p.after)}
			c.spent += time.Since(start)
			c.files++
			ours, theirs := change.Patch(), string(cutFile(&rest, len(change.Files)))
			if ours == theirs {
				c.identical++
				continue
			}
			if t.Errorf("commit %s, %q differs", d.id, p.path); c.files-c.identical <= maxShown {
				t.Logf("ours:\n%.3000s\ngit's:\n%.3000s", ours, theirs)
			}
		}
		if len(rest) > 0 {
			t.Errorf("commit %s: git prints more:\n%.3000s", d.id, rest)
		}
	}
	return c
}

// cutFile cuts a number of "diff --git" sections off rest and returns their text.
func cutFile(rest *[]byte, sections int) []byte {
	text, end := *rest, 0
	for range sections {
		next := bytes.Index(text[end:], []byte("\ndiff --git "))
		if next < 0 {
			end = len(text)
			break
		}
		end += next + 1
	}
	*rest = text[end:]
	return text[:end]
}
