package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// addPack adds a pack of one object.
func addPack(t *testing.T, d *database, content string) object {
	t.Helper()
	o := object{kind: plumbing.BlobObject, id: Sum(plumbing.BlobObject, []byte(content)), content: []byte(content)}
	if err := d.place.writePack(t.Context(), []object{o}); err != nil {
		t.Fatal(err)
	}
	return o
}

// TestSeek: what fails is tried again when that can help.
func TestSeek(t *testing.T) {
	t.Parallel()
	d := newDatabase(place{objects: t.TempDir()})
	addPack(t, d, "first")
	seen := time.Now()
	ended, end := context.WithCancel(t.Context())
	end()
	for what, c := range map[string]struct {
		ctx   context.Context //nolint:containedctx // of the case
		fails error
		packs int // that come while it is looked for
		until int // tries, after which it does not fail
		tries int
	}{
		"found":               {t.Context(), nil, 0, 0, 1},
		"missing":             {t.Context(), plumbing.ErrObjectNotFound, 0, attempts, 1},
		"damaged":             {t.Context(), errDamaged, 0, attempts, 2},
		"damaged at first":    {t.Context(), errDamaged, 0, 1, 2},
		"large":               {t.Context(), ErrLarge, 5, attempts, 1},
		"ended":               {ended, errDamaged, 5, attempts, 1},
		"packed anew":         {t.Context(), plumbing.ErrObjectNotFound, 3, 3, 4},
		"packed anew in vain": {t.Context(), plumbing.ErrObjectNotFound, 3, attempts, 4},
		"packed for ever":     {t.Context(), errDamaged, attempts, attempts, attempts},
	} {
		if err := d.close(); err != nil { // it is of before the packs of the last case
			t.Fatal(err)
		}
		tries := 0
		err := d.seek(c.ctx, func(*directory) error {
			if tries++; tries <= c.packs {
				addPack(t, d, fmt.Sprint(what, tries))
				seen = seen.Add(time.Hour) // as a slower machine would have it
				if err := os.Chtimes(filepath.Join(d.objects, packDir), time.Time{}, seen); err != nil {
					t.Error(err)
				}
			}
			if tries > c.until {
				return nil
			}
			return c.fails
		})
		want := c.fails
		if c.tries > c.until {
			want = nil
		}
		if tries != c.tries || !errors.Is(err, want) {
			t.Errorf("%s: tried %d times, %v; want %d, %v", what, tries, err, c.tries, want)
		}
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// TestPacksMany: beyond a number of packs they are not kept open, wherever they are.
func TestPacksMany(t *testing.T) {
	t.Parallel()
	const own, borrowed = maxOpen - 20, 40
	d, objects := newDatabase(place{objects: t.TempDir()}), map[string]object{}
	other := newDatabase(place{objects: t.TempDir()})
	writeAlternates(t, d.objects, other.objects)
	for in, packs := range map[*database]int{d: own, other: borrowed} {
		for i := range packs {
			o := addPack(t, in, fmt.Sprintf("content %d of %d", i, packs))
			objects[o.id.String()] = o
		}
	}
	checkObjects(t, d, objects)
	d.has(t.Context(), plumbing.ZeroHash)
	var packs, open [2]int
	for i, dir := range d.listing.dirs {
		for _, p := range dir.packs {
			packs[i]++
			if p.index != nil {
				open[i]++
			}
		}
	}
	if packs != [2]int{own, borrowed} || open != [2]int{own, maxOpen - own} {
		t.Errorf("%d of %d packs are open", open, packs)
	}
	many := &ending{t.Context(), own + borrowed}
	for range 2 { // not as often as there are packs
		many.left /= 2
		if _, err := d.content(many, plumbing.BlobObject, plumbing.ZeroHash); !errors.Is(err, context.Canceled) {
			t.Errorf("what is missing, in a context that ends: %v", err)
		}
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

func writeAlternates(t *testing.T, objects string, lines ...string) {
	t.Helper()
	info := filepath.Join(objects, "info")
	err := os.MkdirAll(info, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(info, "alternates"), []byte(strings.Join(lines, "\n")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAlternatesWithoutEnd: there is an end to what is borrowed from, missing as it may
// be, or the same again and again.
func TestAlternatesWithoutEnd(t *testing.T) {
	t.Parallel()
	missing, same := make([]string, 5000), make([]string, 5000)
	dir := t.TempDir()
	for i := range missing {
		missing[i] = filepath.Join("/missing", strconv.Itoa(i))
		same[i] = dir
	}
	writeAlternates(t, dir, missing...)
	if dirs := withAlternates(dir); len(dirs) != maxDirectories {
		t.Errorf("%d directories", len(dirs))
	}
	writeAlternates(t, dir, append(same, t.TempDir())...)
	if dirs := withAlternates(dir); len(dirs) != 1 {
		t.Errorf("directories %q", dirs)
	}
}

// TestReadLateNews: what is missing is looked for once more, though the directory seems
// to be what it was.
func TestReadLateNews(t *testing.T) {
	t.Parallel()
	d := newDatabase(place{objects: t.TempDir()})
	addPack(t, d, "first")
	l := d.use()
	o := addPack(t, d, "second")
	l.dirs[0].stamp = l.dirs[0].look() // as a file system has it that tells late
	if content, err := d.content(t.Context(), o.kind, o.id); err != nil || string(content) != "second" {
		t.Errorf("read %q, %v", content, err)
	}
	if err := errors.Join(l.release(), d.close()); err != nil {
		t.Error(err)
	}
}

// TestPacksUnread: that the packs cannot be listed is not that an object is missing.
func TestPacksUnread(t *testing.T) {
	t.Parallel()
	d := newDatabase(place{objects: t.TempDir()})
	if err := os.Symlink(packDir, filepath.Join(d.objects, packDir)); err != nil {
		t.Skip(err)
	}
	id := Sum(plumbing.BlobObject, nil)
	if _, err := d.content(t.Context(), plumbing.BlobObject, id); err == nil || errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("in packs that cannot be listed: %v", err)
	}
	if err := d.write(plumbing.BlobObject, id, nil); err != nil || !d.has(t.Context(), id) {
		t.Errorf("alone, beside such packs: %v", err)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}
