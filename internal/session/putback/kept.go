package putback

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"codeloops/internal/config/host"
	"codeloops/internal/diff/restore"
	"codeloops/internal/run/worktree"
	"codeloops/internal/wording"
)

// Kept is what restores have kept, of any work tree.
type Kept struct {
	All  []restore.Kept
	keep *restore.Keep
}

// KeptBefore returns what restores have kept before a time, except for the newest.
func KeptBefore(h *host.Host, newest int, before time.Time) (Kept, error) {
	k := Kept{keep: worktree.Kept(h)}
	if k.keep == nil {
		return k, nil
	}
	all, err := k.keep.List()
	all = all[min(newest, len(all)):]
	k.All = slices.DeleteFunc(all, func(one restore.Kept) bool { return !one.At.Before(before) })
	return k, err
}

// What says how much it is.
func (k Kept) What() string {
	var size int64
	for _, one := range k.All {
		size += one.Size
	}
	return fmt.Sprintf("what %s kept (%s)", wording.Count(len(k.All), "restore"), wording.Bytes(size))
}

// Remove removes it.
func (k Kept) Remove(context.Context) error {
	for _, one := range k.All {
		if err := k.keep.Remove(one); err != nil {
			return err
		}
	}
	return nil
}

// List names it, with a verb such as "remove" before each item.
func (k Kept) List(done string) string {
	var b strings.Builder
	for _, one := range k.All {
		fmt.Fprintf(&b, "%s %s: %s of %s, replaced by %s\n", done, one.Name, wording.Count(one.Files, "file"), wording.Line(one.WorkTree), wording.Line(one.Title))
	}
	return b.String()
}
