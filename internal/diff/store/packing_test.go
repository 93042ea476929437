package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAdoptPack: a pack that gets no index, which git may have pruned, does not stay;
// one that has an index, as another process wrote it, does.
func TestAdoptPack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ there, left []string }{
		{[]string{"pack"}, nil},
		{[]string{"pack", "to.idx"}, []string{"to.idx", "to.pack"}},
		{[]string{"index"}, nil},
		{[]string{"pack", "index"}, []string{"to.idx", "to.pack"}},
	} {
		dir := t.TempDir()
		for _, name := range c.there {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := adoptPack(filepath.Join(dir, "pack"), filepath.Join(dir, "index"), filepath.Join(dir, "to"))
		if whole := len(c.there) == 2 && c.there[1] == "index"; (err == nil) != whole || !whole && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("of %q: %v", c.there, err)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		for i := range left {
			left[i] = filepath.Base(left[i])
		}
		if err != nil || !slices.Equal(left, c.left) {
			t.Errorf("of %q is left %q, not %q: %v", c.there, left, c.left, err)
		}
	}
}
