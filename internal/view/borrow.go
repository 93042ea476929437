package view

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"codeloops/internal/file"
)

// isGitDir reports whether a directory has the layout of a git directory.
func isGitDir(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "HEAD"))
	return err == nil
}

// borrow makes a directory of objects with another one as its alternate, see
// gitrepository-layout(5).
func (c *copied) borrow(objects, to string) error {
	from := filepath.ToSlash(objects) + "\n"
	if c.lent != "" && below(c.trees[0].dir, objects) {
		at, err := c.lend(objects)
		if err != nil {
			return err
		}
		from += filepath.ToSlash(at) + "\n"
	}
	if err := os.MkdirAll(filepath.Join(to, "info"), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(to, "pack"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "info", "alternates"), []byte(from), 0o600)
}

// lend makes a directory at which commands will also find the user's objects, when the copy takes
// the place of the work tree.
func (c *copied) lend(objects string) (at string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entries, err := os.ReadDir(c.lent)
	if err != nil {
		return "", err
	}
	name := filepath.Join(c.lent, strconv.Itoa(len(entries)))
	if err := os.WriteFile(name, []byte(objects), 0o600); err != nil {
		return "", err
	}
	return name + ".d", os.Mkdir(name+".d", 0o700)
}

// lead makes git in the copy use the copy of the repository, if that is outside the work tree or
// names its path.
func (c *copied) lead(p *Place) error {
	root := c.trees[0].own
	dotGit := filepath.Join(root, ".git")
	if info, err := os.Lstat(dotGit); err != nil || !info.IsDir() {
		if err := rewrite(dotGit, "gitdir: "+filepath.ToSlash(c.path(p.GitDir))+"\n"); err != nil {
			return err
		}
	}
	back := filepath.Join(c.path(p.GitDir), "gitdir") // of a linked work tree
	if _, err := os.Stat(back); err == nil {
		if err := rewrite(back, filepath.ToSlash(dotGit)+"\n"); err != nil {
			return err
		}
	}
	return leadConfig(filepath.Join(c.path(p.GitDir), "config"), root)
}

// leadConfig makes a configuration file that names a work tree name the copy.
func leadConfig(name, root string) error {
	config, _, err := file.Read(name, file.Options{})
	if file.Missing(err) || errors.Is(err, file.ErrNotRegular) {
		return nil
	}
	if err != nil || !strings.Contains(strings.ToLower(string(config)), "worktree") {
		return err
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(filepath.ToSlash(root))
	return rewrite(name, string(config)+"\n[core]\n\tworktree = \""+quoted+"\"\n")
}

// rewrite replaces a file of the copy. It does not write through a link, which may lead elsewhere.
func rewrite(name, content string) error {
	if err := os.Remove(name); err != nil && !file.Missing(err) {
		return err
	}
	return os.WriteFile(name, []byte(content), 0o600)
}
