package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"codeloops/internal/loop"
)

// The references that are looked at, beside HEAD.
const (
	tags         = "refs/tags/"
	replacements = "refs/replace/" // objects that git shows others in the place of
)

// position says where the repository stood at the last scan.
func (t *Tree) position() loop.Position {
	sum := sha256.New()
	refs := t.refs.Below(tags, t.looked())
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		_, _ = fmt.Fprintf(sum, "%q %q\n", name, refs[name])
	}
	return loop.Position{Head: t.where(), Index: t.tracked.digest(), Tags: hex.EncodeToString(sum.Sum(nil))}
}

// where says where HEAD is.
func (t *Tree) where() string {
	head, err := t.repo.Head()
	switch {
	case err != nil:
		return "what cannot be read"
	case head.Commit == "":
		return fmt.Sprintf("%q without commits", head.Branch)
	case head.Branch == "":
		return short(head.Commit)
	}
	return fmt.Sprintf("%q at %s", head.Branch, short(head.Commit))
}

func short(commit string) string { return commit[:min(len(commit), 12)] }
