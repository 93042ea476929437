package accept

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff"
	"codeloops/internal/diff/patch"
	"codeloops/internal/git"
	"codeloops/internal/wording/hint"
)

const gitlink = 0o160000

func trimmed(out []byte) string { return strings.TrimRight(string(out), "\n") }

// list returns the files of a tree.
func (k *committer) list(ctx context.Context, tree string) (map[string]diff.Blob, error) {
	out, err := k.run(ctx, nil, nil, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", tree, err)
	}
	files := map[string]diff.Blob{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		facts, path, _ := strings.Cut(entry, "\t")
		if words := strings.Fields(facts); len(words) == 3 {
			mode, _ := strconv.ParseUint(words[0], 8, 32)
			files[path] = diff.Blob{Mode: uint32(mode), ID: words[2]}
		}
	}
	return files, nil
}

// inGit returns a change with the ids that git gives the files: it may convert them. Where git has the bytes on the disk,
// those stay.
func (k *committer) inGit(ctx context.Context, c diff.BlobChange, how git.Conversion) (diff.BlobChange, error) {
	if how == git.Kept || c.Before.ID != "" && (c.Before.ID == k.inHead[c.Path].ID || c.Before.ID == k.inIndex[c.Path].ID) {
		return c, nil
	}
	for _, b := range []*diff.Blob{&c.Before, &c.After, &c.Now} {
		if !regular(*b) {
			continue
		}
		content, err := k.tree.Content(ctx, b.ID)
		if err != nil {
			return c, fmt.Errorf("read %s: %w", c.Path, err)
		}
		if content == nil { // too large
			continue
		}
		out, err := k.run(ctx, content, nil, "hash-object", "-w", "--path="+c.Path, "--stdin")
		if err != nil {
			return c, fmt.Errorf("convert %s: %w", c.Path, err)
		}
		b.ID = trimmed(out)
		k.there[b.ID] = true
	}
	return c, nil
}

// merge returns a file with the run's change. It reports false if that cannot be told from what the user had changed.
func (k *committer) merge(ctx context.Context, c diff.BlobChange, file diff.Blob) (merged diff.Blob, ok bool, err error) { //nolint:gocyclo // the steps belong together, and read top to bottom
	switch {
	case file == c.Before:
		return c.After, true, nil
	case file == c.After:
		return file, true, nil
	case !regular(c.Before) || !regular(c.After) || !regular(file):
		return file, false, nil
	}
	merged = c.After
	if c.Before.Mode == c.After.Mode {
		merged.Mode = file.Mode
	}
	switch {
	case file.ID == c.Before.ID || file.ID == c.After.ID:
		return merged, true, nil
	case c.Before.ID == c.After.ID:
		merged.ID = file.ID
		return merged, true, nil
	}
	var texts [3][]byte
	for i, id := range []string{c.Before.ID, file.ID, c.After.ID} {
		if texts[i], err = k.tree.Content(ctx, id); err != nil {
			return file, false, fmt.Errorf("read %s: %w", c.Path, err)
		}
		if texts[i] == nil || patch.Binary(texts[i]) {
			return file, false, nil
		}
	}
	if has, err := contains(ctx, texts[0], texts[1], texts[2]); err != nil || has {
		merged.ID = file.ID
		return merged, has, err
	}
	text, ok, err := merge(ctx, texts[0], texts[1], texts[2], k.inHead[c.Path] == k.atBase[c.Path])
	if err != nil {
		return file, false, fmt.Errorf("merge %s: %w", c.Path, err)
	}
	merged.ID = plumbing.ComputeHash(plumbing.BlobObject, text).String()
	k.made[merged.ID] = text
	return merged, ok, nil
}

// contains reports whether a text has the change from before to after already: it can be taken back, and made again.
func contains(ctx context.Context, before, text, after []byte) (bool, error) {
	without, ok, err := merge(ctx, after, text, before, true)
	if err != nil || !ok || bytes.Equal(without, text) {
		return false, err
	}
	again, ok, err := merge(ctx, before, without, after, true)
	return ok && bytes.Equal(again, text), err
}

// follows returns what the index is to hold of a file. What the user has staged as it is in the work tree stays.
func (k *committer) follows(ctx context.Context, c diff.BlobChange, file diff.Blob) (merged diff.Blob, ok bool, err error) {
	if file == c.Now && file != c.Before {
		return file, true, nil
	}
	return k.merge(ctx, c, file)
}

// held reports whether the work tree still holds some of the run's change of a file: another branch may be checked out.
func (k *committer) held(ctx context.Context, c diff.BlobChange) (bool, error) {
	if c.Now == c.Before || c.Now == c.After || !regular(c.Now) || !regular(c.After) || c.Before.Mode != 0 && !regular(c.Before) {
		return c.Now != c.Before, nil
	}
	name := filepath.Join(k.tree.Root(), filepath.FromSlash(c.Path))
	st, err := os.Lstat(name)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", c.Path, err)
	}
	if st.Size() > maxMerged {
		return true, nil
	}
	now, err := os.ReadFile(name)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", c.Path, err)
	}
	var before []byte
	if c.Before.Mode != 0 {
		if before, err = k.tree.Content(ctx, c.Before.ID); err != nil {
			return false, fmt.Errorf("read %s: %w", c.Path, err)
		}
	}
	after, err := k.tree.Content(ctx, c.After.ID)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", c.Path, err)
	}
	if after == nil { // too large
		return true, nil
	}
	without, ok, err := merge(ctx, after, now, before, true)
	return !ok || !bytes.Equal(without, now), err
}

// maxMerged is the size up to which it is looked whether a file holds a change.
const maxMerged = 16 << 20

func regular(b diff.Blob) bool { return b.Mode == 0o100644 || b.Mode == 0o100755 }

// store writes what HEAD and the index are to hold into the user's repository.
func (k *committer) store(ctx context.Context) error {
	var kept []string
	names := map[string]string{}
	for _, all := range []map[string]diff.Blob{k.forHead, k.forIndex} {
		for path, b := range all {
			text, made := k.made[b.ID]
			switch {
			case b.Mode == 0 || b.Mode == gitlink || k.there[b.ID]:
			case made:
				if _, err := k.run(ctx, text, nil, "hash-object", "-w", "--no-filters", "--stdin"); err != nil {
					return fmt.Errorf("keep %s: %w", path, err)
				}
			default:
				kept, names[b.ID] = append(kept, b.ID), path
			}
		}
	}
	slices.Sort(kept)
	pack, missing, err := k.tree.Pack(ctx, slices.Compact(kept))
	if err == nil && pack != nil {
		_, err = k.run(ctx, pack, nil, "unpack-objects", "-q")
	}
	if err != nil {
		return err
	}
	for _, id := range missing { // too large to be kept: it is in the work tree
		out, err := k.run(ctx, nil, nil, "hash-object", "-w", "--", names[id])
		if err != nil || trimmed(out) != id {
			return errors.Join(hint.Errorf("commit it by hand: git add "+names[id], "nothing was committed: %s is too large to be kept, and has changed since the run", names[id]), err)
		}
	}
	return nil
}

// ownIndex makes an index that holds HEAD with the run's change. It begins as a copy of the user's, so that git knows
// the files.
func (k *committer) ownIndex(ctx context.Context, users string) (name string, err error) {
	name = filepath.Join(k.tree.GitDir(), fmt.Sprintf("codeloops-accept-%d", os.Getpid()))
	content, err := os.ReadFile(users)
	if err == nil {
		err = os.WriteFile(name, content, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return name, fmt.Errorf("copy the index: %w", err)
	}
	args := []string{"read-tree", "--reset", "-i", k.head}
	if k.head == "" {
		args = []string{"read-tree", "--empty"}
	}
	env := []string{"GIT_INDEX_FILE=" + name}
	if _, err := k.run(ctx, nil, env, args...); err != nil {
		return name, fmt.Errorf("read HEAD: %w", err)
	}
	return name, k.update(ctx, env, k.forHead)
}

// update puts files into an index. Those that go come first: a directory may take their place.
func (k *committer) update(ctx context.Context, env []string, files map[string]diff.Blob) error {
	if len(files) == 0 {
		return nil
	}
	var goes, comes bytes.Buffer
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if b := files[path]; b.Mode == 0 {
			fmt.Fprintf(&goes, "0 %s\t%s\x00", plumbing.ZeroHash, path)
		} else {
			fmt.Fprintf(&comes, "%o %s\t%s\x00", b.Mode, b.ID, path)
		}
	}
	if _, err := k.run(ctx, append(goes.Bytes(), comes.Bytes()...), env, "update-index", "-z", "--index-info"); err != nil {
		return fmt.Errorf("update the index: %w", err)
	}
	return nil
}

// follow has the index follow what a hook of the user has changed in the commit, where nothing of the user's was staged.
func (k *committer) follow(ctx context.Context, meant, commit string) error {
	out, err := k.run(ctx, nil, nil, "rev-parse", "--verify", commit+"^{tree}")
	if err != nil || trimmed(out) == meant {
		return err
	}
	was, err := k.list(ctx, meant)
	if err != nil {
		return err
	}
	is, err := k.list(ctx, commit)
	if err != nil {
		return err
	}
	for _, files := range []map[string]diff.Blob{was, is} {
		for path := range files {
			index, planned := k.forIndex[path]
			if !planned {
				index = k.inIndex[path]
			}
			if was[path] != is[path] && index == was[path] {
				k.forIndex[path] = is[path]
			}
		}
	}
	return nil
}
