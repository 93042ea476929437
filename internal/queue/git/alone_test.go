package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git/gittest"
)

func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	os.Exit(m.Run())
}

// TestFetchAmongWorkTrees: a fetch looks at the HEADs of all work trees, and must come upon none that
// is just being made or removed.
func TestFetchAmongWorkTrees(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	from := filepath.Join(r.State, "from.git")
	r.Git("clone", "--quiet", "--bare", r.Root, from)
	var all sync.WaitGroup
	for n := range 30 {
		head := r.In(from, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", strconv.Itoa(n))
		r.In(from, "update-ref", fmt.Sprintf("refs/heads/b%d", n), head)
		all.Go(func() {
			dir := filepath.Join(r.State, fmt.Sprintf("tree%d", n))
			if err := r.AddTree(t.Context(), "-b", fmt.Sprintf("t%d", n), dir, "main"); err != nil {
				t.Error(err)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
			if err := r.Forget(dir); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if err := r.Alone(func() error {
				_, err := r.Run(t.Context(), r.Root, "fetch", "--quiet", from, fmt.Sprintf("refs/heads/b%d:refs/heads/b%[1]d", n))
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
