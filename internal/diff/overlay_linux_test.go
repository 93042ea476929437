package diff_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOverlay runs itself where it may mount: random histories of a work tree that
// comes with an image of a container. A file of the image is another one as soon as it
// is written to, and a directory of it cannot be renamed.
func TestOverlay(t *testing.T) {
	t.Parallel()
	if !underOwnMounts(t, mayMount) {
		return
	}
	for seed := range randomCount(20) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, uint64(seed))
			h.layered()
			tree, o := h.begin(), newOracle(h.sandbox)
			for range 4 {
				h.steps(h.rand.IntN(8))
				c, err := tree.Capture(t.Context())
				h.must(err)
				o.checkText(c)
			}
		})
	}
}

// layered makes the work tree the lower layer of an overlay in its place. It skips
// the test where there is none.
func (s *sandbox) layered() {
	s.t.Helper()
	in := func(name string) string { return filepath.Join(s.base, name) }
	s.must(os.Rename(s.root, in("lower")))
	for _, dir := range []string{s.root, in("upper"), in("scratch")} {
		s.must(os.Mkdir(dir, 0o755))
	}
	layers := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", in("lower"), in("upper"), in("scratch"))
	if err := unix.Mount("overlay", s.root, "overlay", 0, layers); err != nil {
		s.t.Skipf("no overlay: %v", err)
	}
	s.t.Cleanup(func() { _ = unix.Unmount(s.root, unix.MNT_DETACH) })
}
