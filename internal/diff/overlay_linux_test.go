package diff_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOverlay: random histories are captured correctly on an overlay, as in a container.
// There, a file of the lower layer becomes another file when it is written to, and a
// directory of it cannot be renamed.
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

// layered replaces the work tree with an overlay that has it as its lower layer. It skips
// the test if there are no overlays.
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
