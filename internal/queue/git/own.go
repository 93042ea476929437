package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"codeloops/internal/file"
	"codeloops/internal/repo"
)

// own is the directory that takes the place of the common directory for a work tree of ours while commands run there.
func (t Trees) own(admin string) string {
	return filepath.Join(t.of.CommonDir, repo.OwnDir, filepath.Base(admin))
}

// began is the file with the refs that a work tree had when it parted: git may pack others meanwhile.
const began = "refs-then"

// Part gives a work tree of ours refs, a stash, settings and hooks of its own, which are what the repository has now, so
// that what commands do to them there does not reach the user or other tasks. The stash begins empty. Objects are still
// the repository's, and the extension keeps git from removing those that only the user's refs need.
func (t Trees) Part(ctx context.Context, tree, branch string) error {
	admin, err := t.Admin(tree)
	if err != nil || admin == "" {
		return err
	}
	own := t.own(admin)
	if _, err := os.Lstat(filepath.Join(own, "HEAD")); err != nil {
		err := errors.Join(os.RemoveAll(own), t.begin(ctx, own))
		if runtime.GOOS == "windows" && errors.Is(err, errors.ErrUnsupported) { // links need a permission there
			return os.RemoveAll(own)
		}
		if err != nil {
			return fmt.Errorf("make a git directory for %s: %w", tree, err)
		}
	}
	refs, err := t.of.Refs("refs/")
	if err != nil {
		return err
	}
	var packed strings.Builder
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if name != "refs/stash" && !strings.HasPrefix(name, "refs/codeloops/") {
			packed.WriteString(refs[name] + " " + name + "\n")
		}
	}
	return errors.Join(
		os.RemoveAll(filepath.Join(own, "refs", "heads", filepath.FromSlash(branch))), // of an earlier time
		file.Write(filepath.Join(own, "packed-refs"), []byte(packed.String()), 0o600),
		file.Write(filepath.Join(own, began), []byte(packed.String()), 0o600),
		file.Write(filepath.Join(admin, "commondir"), []byte("../../"+repo.OwnDir+"/"+filepath.Base(admin)+"\n"), 0o600),
	)
}

// begin makes the directory of a work tree. All links in it are relative, so that they lead into copies of the repository,
// too.
func (t Trees) begin(ctx context.Context, own string) error {
	if err := os.MkdirAll(filepath.Join(own, "refs"), 0o700); err != nil {
		return err
	}
	for _, name := range []string{"objects", "lfs"} {
		if _, err := os.Stat(filepath.Join(t.of.CommonDir, name)); err == nil {
			if err := os.Symlink(up+name, filepath.Join(own, name)); err != nil {
				return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
			}
		}
	}
	for _, pattern := range []string{"config", "shallow", "info/*", "hooks/*"} {
		names, err := fs.Glob(os.DirFS(t.of.CommonDir), pattern)
		for _, name := range names { // hooks are often links to files of the work tree
			err = errors.Join(err, copyFile(filepath.Join(t.of.CommonDir, filepath.FromSlash(name)), filepath.Join(own, filepath.FromSlash(name))))
		}
		if err != nil {
			return err
		}
	}
	if err := t.adapt(ctx, filepath.Join(own, "config")); err != nil {
		return err
	}
	head, err := os.ReadFile(filepath.Join(t.of.CommonDir, "HEAD")) // last, as it makes the directory whole
	if err != nil {
		return err
	}
	return file.Write(filepath.Join(own, "HEAD"), head, 0o600)
}

// up leads from the directory of a work tree to the one that the others share.
const up = "../../"

// adapt makes a copy of the settings fit for the directory of a work tree.
func (t Trees) adapt(ctx context.Context, config string) error {
	text, err := os.ReadFile(config)
	if err != nil {
		return err
	}
	settings, err := repo.Parse(text)
	if err != nil {
		return err
	}
	added := []repo.Entry{{Key: "extensions.preciousObjects", Value: "true"}}
	for _, e := range settings.Entries() {
		if strings.HasPrefix(e.Key, "include") && !filepath.IsAbs(e.Value) && !strings.HasPrefix(e.Value, "~") {
			added = append(added, repo.Entry{Key: e.Key, Value: up + e.Value}) // relative to the file
		}
	}
	for _, e := range added {
		if _, err := t.of.Run(ctx, t.of.Root, "config", "--file", config, "--add", e.Key, e.Value); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file, also one that a link leads to. Whatever else there is, is left out.
func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // a link that leads nowhere
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// Commit resolves a name to a commit, as commands in a work tree of ours would: it may have refs of its own.
func (t Trees) Commit(ctx context.Context, tree, name string) (id string, ok bool, err error) {
	admin, err := t.Admin(tree)
	if err != nil || admin == "" {
		return t.of.Commit(ctx, name)
	}
	parted := *t.of
	parted.Root = tree
	if id, ok, err = parted.Commit(ctx, name); err == nil && ok {
		return id, ok, nil
	}
	return t.of.Commit(ctx, name) // an agent may have damaged its own
}

// Rejoin has a work tree of ours share the repository's refs and settings again. The branch moves there as commands have
// moved it; HEAD keeps its commit. It returns the other branches that commands have set, which stay as they were.
func (t Trees) Rejoin(ctx context.Context, tree, branch string) (others []string, err error) {
	admin, err := t.Admin(tree)
	if err != nil || admin == "" {
		return nil, err
	}
	own, common := t.own(admin), filepath.Join(admin, "commondir")
	if at, _ := os.ReadFile(common); strings.TrimSpace(string(at)) == "../.." {
		return nil, nil
	}
	parted := &repo.Repository{GitDir: admin, CommonDir: own}
	head, _ := parted.Head() // what cannot be read is left to the caller
	refs, err := parted.Resolved("refs/heads/")
	if err != nil {
		return nil, err
	}
	then, _ := os.ReadFile(filepath.Join(own, began)) // an agent may have removed it: all are changes then
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if strings.Contains("\n"+string(then), "\n"+refs[name]+" "+name+"\n") {
			continue // as it was
		}
		if is, other := strings.CutPrefix(name, "refs/heads/"); other && is != branch {
			others = append(others, is)
		} else if _, err := t.of.Run(ctx, t.of.Root, "update-ref", name, refs[name]); err != nil {
			return nil, err
		}
	}
	if head.Branch != branch && head.Commit != "" {
		if err := file.Write(filepath.Join(admin, "HEAD"), []byte(head.Commit+"\n"), 0o600); err != nil {
			return nil, err
		}
	}
	return others, file.Write(common, []byte("../..\n"), 0o600)
}
