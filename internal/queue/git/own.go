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

	"codeloops/internal/git"
	"codeloops/internal/view"
	"codeloops/internal/wording"
)

// Borrow makes a bare repository that reads the objects of others, too, or changes what one of ours reads.
func Borrow(dir string, objects ...string) error {
	err := errors.Join(os.MkdirAll(filepath.Join(dir, "objects", "info"), 0o700), os.MkdirAll(filepath.Join(dir, "refs"), 0o700))
	for name, text := range map[string]string{
		"config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
		"HEAD":   "ref: refs/heads/main\n",
	} {
		if _, there := os.Lstat(filepath.Join(dir, name)); err == nil && there != nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		}
	}
	if err == nil && len(objects) > 0 {
		err = os.WriteFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(strings.Join(objects, "\n")+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("make a repository: %w", err)
	}
	return nil
}

// Objects is the directory of the repository's objects.
func (r *Repo) Objects() string { return filepath.Join(r.CommonDir, "objects") }

// Own gives a work tree a repository of its own, with refs, settings and hooks that are what the user's are now, and an
// empty stash: what commands do to them there reaches neither the user nor other tasks. It borrows the user's objects.
// HEAD is at a commit, and on a branch unless that is "". What is there is replaced, except for objects and submodules.
func (r *Repo) Own(ctx context.Context, tree, branch, commit string) error {
	if err := r.own(ctx, filepath.Join(tree, ".git"), branch, commit); err != nil {
		return fmt.Errorf("make a repository for %s: %w", tree, err)
	}
	return nil
}

func (r *Repo) own(ctx context.Context, own, branch, commit string) error {
	if err := emptied(own); err != nil {
		return err
	}
	if err := Borrow(own, r.Objects()); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(r.CommonDir, "lfs")); err == nil {
		err := os.Symlink(filepath.Join(r.CommonDir, "lfs"), filepath.Join(own, "lfs"))
		if err != nil && runtime.GOOS != "windows" { // links need a permission there
			return err
		}
	}
	for _, pattern := range []string{"config", "config.worktree", "shallow", "info/*", "hooks/*"} {
		names, err := fs.Glob(os.DirFS(r.CommonDir), pattern)
		for _, name := range names { // hooks are often links to files of the work tree
			if strings.HasSuffix(name, ".sample") {
				continue
			}
			err = errors.Join(err, copyFile(filepath.Join(r.CommonDir, filepath.FromSlash(name)), filepath.Join(own, filepath.FromSlash(name))))
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(r.adapt(ctx, filepath.Join(own, "config")), r.adapt(ctx, filepath.Join(own, "config.worktree"))); err != nil {
		return err
	}
	return r.refs(own, branch, commit)
}

// refs writes the refs of a repository of a work tree's own.
func (r *Repo) refs(own, branch, commit string) error {
	refs, err := r.Refs("refs/")
	if err != nil {
		return err
	}
	var packed strings.Builder
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if name != "refs/stash" && name != "refs/heads/"+branch && !strings.HasPrefix(name, "refs/codeloops/") {
			packed.WriteString(refs[name] + " " + name + "\n")
		}
	}
	files := [][2]string{{"packed-refs", packed.String()}, {git.FamilyFile, r.CommonDir + "\n"}, {"HEAD", commit + "\n"}}
	if branch != "" {
		files = append(files, [2]string{"refs/heads/" + branch, commit + "\n"}, [2]string{"HEAD", "ref: refs/heads/" + branch + "\n"})
	}
	for _, f := range files {
		name := filepath.Join(own, filepath.FromSlash(f[0]))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(f[1]), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// CheckOut makes a work tree of a commit, with a repository of its own, in an empty directory; see [Repo.Own].
func (r *Repo) CheckOut(ctx context.Context, dir, branch, commit string) error {
	err := r.Own(ctx, dir, branch, commit)
	if err == nil {
		_, err = r.Run(ctx, dir, "reset", "--hard", "--quiet", "--no-recurse-submodules")
	}
	return err
}

// emptied removes everything from a git directory but its objects, which earlier commits there may need, and submodules.
func emptied(own string) error {
	if info, err := os.Lstat(own); err == nil && !info.IsDir() {
		return os.Remove(own)
	}
	entries, err := os.ReadDir(own)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !e.IsDir() || e.Name() != "objects" && e.Name() != "modules" {
			err = errors.Join(err, view.Remove(filepath.Join(own, e.Name())))
		}
	}
	return err
}

// located matches the names of settings that are about where a git directory is.
var located = wording.Pattern(`(?i)bare|worktree|include`)

// adapt makes a copy of the settings fit for another git directory.
func (r *Repo) adapt(ctx context.Context, config string) error {
	text, err := os.ReadFile(config)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !located().MatchString(strings.ReplaceAll(string(text), "bare = false", "")) {
		return nil // so it is mostly, and to ask git takes time
	}
	settings, err := git.Parse(text)
	if err != nil {
		return err
	}
	var changes [][]string
	if bare, err := settings.Bool("core.bare", false); err != nil || bare {
		changes = append(changes, []string{"--replace-all", "core.bare", "false"})
	}
	for _, e := range settings.Entries() {
		switch {
		case e.Key == "core.worktree":
			changes = append(changes, []string{"--unset-all", e.Key})
		case strings.HasPrefix(e.Key, "include") && !filepath.IsAbs(e.Value) && !strings.HasPrefix(e.Value, "~"): // relative to the file
			changes = append(changes, []string{"--add", e.Key, filepath.Join(r.CommonDir, filepath.FromSlash(e.Value))})
		}
	}
	for _, change := range changes {
		if _, err := r.Run(ctx, r.Root, append([]string{"config", "--file", config}, change...)...); err != nil {
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
