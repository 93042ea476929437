package diff

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/repo"
	"codeloops/internal/diff/repo/file"
	"codeloops/internal/diff/shown"
)

// A setup is what decides, outside of the work tree, which changes git sees and
// how it converts them. No diff shows when it changes, and much can be hidden by
// it. It holds digests of values by names that tell a person where to look.
type setup map[string]string

// maxSetup is how much of a file that decides is read, in bytes.
const maxSetup = 16 << 20

// setupOf returns the setup of a repository. What cannot be read stands in it by
// the reason.
func (t *Tree) setupOf(r *repo.Repository) setup {
	if t.decided.by != r {
		t.decided = decidedBy(r)
	}
	s := maps.Clone(t.decided.setup)
	for path, id := range t.tracked.ignores {
		s[path+" in the index"] = fmt.Sprintf("%x", id)
	}
	excludes, _ := r.ExcludesFile() // or the scan says so
	attributes, _ := r.AttributesFiles()
	for _, path := range []string{r.InfoExclude(), excludes, attributes.Info, attributes.User, attributes.System} {
		if digest := t.digestOf(path); digest != "" {
			s[t.nameOf(path)] = digest
		}
	}
	return s
}

// A decided is the part of a setup that is in the settings of a repository. When
// they change they are those of another one.
type decided struct {
	by    *repo.Repository
	setup setup
	sways sways
}

func decidedBy(r *repo.Repository) decided {
	d := decided{by: r, setup: make(setup), sways: swaysIn(r.Config)}
	for _, e := range r.Config.Entries() {
		if decides(e.Key) {
			d.setup[e.Key] = checkpoint.Digest(e.Value + strconv.FormatBool(e.Implicit))
		}
	}
	return d
}

// nameOf returns the path from the root of a file in the work tree, and the whole
// path of any other.
func (t *Tree) nameOf(path string) string {
	if below, err := filepath.Rel(t.Root(), path); err == nil && filepath.IsLocal(below) {
		return filepath.ToSlash(below)
	}
	return path
}

// A digested is a file as it was read.
type digested struct {
	read   time.Time // before it was
	stamp  file.Stamp
	digest string
}

// digestOf returns the digest of a file, or that of the reason why it cannot be
// read; "" of a file that is empty or missing. One that is what was read is not read
// again.
func (t *Tree) digestOf(path string) string {
	info, err := os.Stat(path)
	if file.Missing(err) {
		return ""
	}
	if known, ok := t.digests[path]; ok && err == nil && known.stamp == file.StampOf(info) && known.stamp.Settled(known.read) {
		return known.digest
	}
	d := digested{read: t.looked()}
	content, stamp, err := file.Read(path, file.How{Max: maxSetup})
	switch {
	case file.Missing(err):
		return ""
	case err != nil:
		return checkpoint.Digest(err.Error())
	case len(content) > 0:
		d.digest = checkpoint.Digest(string(content))
	}
	d.stamp = stamp
	t.digests[path] = d
	return d.digest
}

// decides reports whether a setting is part of a setup.
func decides(key string) bool {
	switch key {
	case "core.filemode", "core.symlinks", "core.ignorecase", "core.autocrlf", "core.excludesfile", "core.attributesfile", "core.worktree":
		return true
	}
	return strings.HasPrefix(key, "filter.")
}

// changedSince returns a sentence about what is not as it was, "" when all is. Settings
// stand in it with their values.
func (s setup) changedSince(then setup, settings *repo.Config) string {
	const most = 20
	names := make(map[string]bool)
	for _, all := range []setup{s, then} {
		for name := range all {
			if was, ok := then[name]; ok != (s[name] != "") || was != s[name] {
				text := shown.Name(name)
				if values := settings.All(name); len(values) > 0 {
					text += " = " + said(values)
				}
				names[text] = true
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	sorted := slices.Sorted(maps.Keys(names))
	if more := len(sorted) - most; more > 0 {
		sorted = append(sorted[:most], fmt.Sprintf("%d more", more))
	}
	return "git has been set up in another way since the session began, which no diff shows and which can hide changes from it: " +
		strings.Join(sorted, ", ")
}
