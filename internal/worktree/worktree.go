// Package worktree makes throw-away copies of a work tree, for a critic to build
// and test in.
//
// A copy has the files of a checkpoint, with the bytes that they have in the work
// tree, and a git directory of its own, which borrows the objects of the user's repository: `git status` and `git diff` in
// it show what they would show in the work tree, and nothing that is done in it
// reaches the work tree, its index, HEAD or branches. What git ignores is not in
// it, and neither is an untracked file that was too large for the checkpoint.
package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/loop"
)

// A Copy is the one copy that a work tree has at a time. Whoever uses it keeps
// other processes out of the work tree.
type Copy struct {
	// Git runs the git program in dir, where variables such as GIT_DIR do not
	// lead it elsewhere. A command that fails is an error.
	Git func(ctx context.Context, dir string, args ...string) (stdout []byte, err error)
	// Head tells where HEAD of the work tree is; either may be "".
	Head func() (commit, branch string, err error)
	Root string // of the work tree, absolute
	Dir  string // in it, where the agents work, absolute
	Home string // where the copies of all work trees are
}

// Make makes the copy, in the state that a change left, and returns the
// directory in it that stands for Dir. The change has a checkpoint.
func (c *Copy) Make(ctx context.Context, change loop.Change) (dir string, err error) {
	if err := c.Remove(); err != nil {
		return "", err
	}
	if err := c.fill(ctx, change.Checkpoint); err != nil {
		return "", fmt.Errorf("make a work tree for the critic: %w", errors.Join(err, c.Remove()))
	}
	below, err := filepath.Rel(c.Root, c.Dir)
	if err != nil || !filepath.IsLocal(below) {
		return c.root(), nil //nolint:nilerr // the root will do
	}
	dir = filepath.Join(c.root(), below)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return c.root(), nil //nolint:nilerr // git keeps no empty directories
	}
	return dir, nil
}

// Remove removes the copy, also one that a process left which was killed.
func (c *Copy) Remove() error {
	err := os.RemoveAll(c.place())
	if err != nil { // directories without the right to write, as Go's module cache has
		err = errors.Join(unlock(c.place()), os.RemoveAll(c.place()))
	}
	if err != nil {
		return fmt.Errorf("remove the critic's work tree: %w", err)
	}
	return nil
}

// place is the same for the same work tree, so that whoever is next finds what
// is left.
func (c *Copy) place() string {
	sum := sha256.Sum256([]byte(c.Root))
	return filepath.Join(c.Home, hex.EncodeToString(sum[:8]))
}

// root has the name of the work tree, which some tools make something of.
func (c *Copy) root() string { return filepath.Join(c.place(), filepath.Base(c.Root)) }

// fill writes the files and the git directory.
func (c *Copy) fill(ctx context.Context, checkpoint string) error {
	if err := os.MkdirAll(c.root(), 0o700); err != nil {
		return err
	}
	if err := c.initialize(ctx); err != nil {
		return err
	}
	commit, branch, err := c.Head()
	if err != nil {
		return err
	}
	if err := c.run(ctx, []string{"read-tree", checkpoint}); err != nil {
		return err
	}
	if err := c.copyFiles(ctx); err != nil {
		return err
	}
	return c.run(ctx, heads(commit, branch)...)
}

// heads are the commands that put HEAD and the index where those of the work
// tree would be if nothing were staged.
func heads(commit, branch string) [][]string {
	ref := "refs/heads/" + branch
	switch {
	case commit == "" && branch == "":
		return [][]string{{"read-tree", "--empty"}}
	case commit == "":
		return [][]string{{"symbolic-ref", "HEAD", ref}, {"read-tree", "--empty"}}
	case branch == "":
		return [][]string{{"update-ref", "--no-deref", "HEAD", commit}, {"read-tree", "HEAD"}}
	}
	return [][]string{{"update-ref", ref, commit}, {"symbolic-ref", "HEAD", ref}, {"read-tree", "HEAD"}}
}

func (c *Copy) run(ctx context.Context, commands ...[]string) error {
	for _, args := range commands {
		// No hook of the repository is run: what an actor wrote would be.
		args = append([]string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false"}, args...)
		if _, err := c.Git(ctx, c.root(), args...); err != nil {
			return err
		}
	}
	return nil
}

// initialize makes the git directory. It has the settings of the user's
// repository, so that files are converted in the same way.
func (c *Copy) initialize(ctx context.Context) error {
	objects, err := c.path(ctx, "objects")
	if err != nil {
		return err
	}
	config, err := c.path(ctx, "config")
	if err != nil {
		return err
	}
	if err := c.run(ctx, []string{"-c", "init.defaultRefFormat=files", "-c", "init.defaultObjectFormat=sha1", "init", "--quiet", "--template="}); err != nil {
		return err
	}
	git := filepath.Join(c.root(), ".git")
	if err := os.MkdirAll(filepath.Join(git, "objects", "info"), 0o700); err != nil {
		return err
	}
	settings := fmt.Sprintf("[include]\n\tpath = %s\n[core]\n\trepositoryformatversion = 0\n\tbare = false\n"+
		"\tfsmonitor = false\n\tsparseCheckout = false\n\tlogAllRefUpdates = false\n[gc]\n\tauto = 0\n", quote(config))
	for name, content := range map[string]string{"config": settings, filepath.Join("objects", "info", "alternates"): objects + "\n"} {
		if err := os.WriteFile(filepath.Join(git, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return c.shallow(ctx, git)
}

// shallow copies the list of commits whose parents are not there.
func (c *Copy) shallow(ctx context.Context, git string) error {
	name, err := c.path(ctx, "shallow")
	if err != nil {
		return err
	}
	list, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(git, "shallow"), list, 0o600)
}

// path returns where git keeps something of the work tree's repository.
func (c *Copy) path(ctx context.Context, what string) (string, error) {
	out, err := c.Git(ctx, c.Root, "rev-parse", "--git-path", what)
	if err != nil {
		return "", err
	}
	name := strings.TrimRight(string(out), "\r\n")
	if !filepath.IsAbs(name) {
		name = filepath.Join(c.Root, name)
	}
	return filepath.ToSlash(name), nil
}

// quote writes a value of a git configuration file.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}

// unlock gives the user every right to the directories below dir.
func unlock(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, _ error) error {
		if d == nil || !d.IsDir() { // what is in the way shows when it is removed
			return nil
		}
		return os.Chmod(name, 0o700) //nolint:gosec // a directory, to be removed
	})
}
