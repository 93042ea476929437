package worktree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// errOther is a file that is no longer of the kind that git recorded.
var errOther = errors.New("neither a file nor a link")

// copyFiles copies the files that the index names out of the work tree, byte for
// byte: what git would check out for them is not what stands there where attributes
// tell it to convert. A file that cannot be copied is checked out.
func (c *Copy) copyFiles(ctx context.Context) error {
	out, err := c.Git(ctx, c.root(), "ls-files", "-z")
	if err != nil {
		return err
	}
	from, err := os.OpenRoot(c.Root)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // only read
	to, err := os.OpenRoot(c.root())
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // each file has been closed
	var left []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if err := ctx.Err(); err != nil {
			return err
		}
		if name == "" || copyFile(from, to, filepath.FromSlash(name)) == nil {
			continue
		}
		left = append(left, name)
	}
	const some = 100 // names on one command line
	for len(left) > 0 {
		n := min(some, len(left))
		if err := c.run(ctx, append([]string{"checkout-index", "--quiet", "--force", "--"}, left[:n]...)); err != nil {
			return err
		}
		left = left[n:]
	}
	return nil
}

// copyFile copies a file or a link, with the directories that it is in.
func copyFile(from, to *os.Root, name string) error {
	info, err := from.Lstat(name)
	if err != nil {
		return err
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := to.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := from.Readlink(name)
		if err != nil {
			return err
		}
		return to.Symlink(target, name)
	case !info.Mode().IsRegular():
		return errOther
	}
	in, err := from.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a FIFO by now
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	file, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, in)
	return errors.Join(err, file.Close())
}
