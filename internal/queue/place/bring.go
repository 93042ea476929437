package place

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/config"
	"codeloops/internal/proc"
	"codeloops/internal/queue/git"
	"codeloops/internal/run/check"
	"codeloops/internal/view"
	"codeloops/internal/wording/hint"
)

// include is the file that names ignored files to copy.
const include = ".worktreeinclude"

// Bring copies what .worktreeinclude names, as far as git ignores it, to another work tree, and returns the paths. It does
// not overwrite anything.
func (s *Site) Bring(ctx context.Context, dir string) (paths []string, err error) {
	name := filepath.Join(s.repo.Root, include)
	if _, err := os.ReadFile(name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read %s: %w", include, err)
	}
	named, err := s.repo.Run(ctx, s.repo.Root, "ls-files", "-z", "--others", "--ignored", "--directory", "--exclude-from="+name)
	if err != nil || named == "" {
		return nil, err
	}
	ignored, err := s.repo.Do(ctx, git.Call{Dir: s.repo.Root, Stdin: []byte(named)}, "check-ignore", "-z", "--stdin")
	if exit, none := errors.AsType[*proc.ExitError](err); none && exit.ExitCode == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(ignored, "\x00"), "\x00") {
		paths = append(paths, strings.TrimSuffix(path, "/"))
	}
	if err := view.Bring(ctx, s.repo.Root, dir, paths); err != nil {
		return nil, hint.Add(err, "fix that, or remove it from "+include)
	}
	return paths, unlink(dir, paths)
}

// unlink removes what makes directories work trees of a repository elsewhere, as agents make them: git commands in a copy
// of one would change the original.
func unlink(dir string, paths []string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // files are only removed through it
	for _, path := range paths {
		if err := fs.WalkDir(root.FS(), path, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Name() == ".git" && e.Type().IsRegular() {
				err = root.Remove(path)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Enter makes sure that a work tree has a directory, which git may ignore or have no file in, and returns its path.
func Enter(tree, dir string) (string, error) {
	at := filepath.Join(tree, filepath.FromSlash(dir))
	root, err := os.OpenRoot(tree)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // only a directory is made through it
	if err := root.MkdirAll(filepath.Join(".", filepath.FromSlash(dir)), 0o755); err != nil {
		return "", fmt.Errorf("make the directory of the task: %w", err)
	}
	if is, err := filepath.EvalSymlinks(at); err != nil || is != at {
		return "", cmp.Or(err, hint.Errorf("add the task in a directory that no link leads to", "the directory of the task, %s, leads elsewhere", at))
	}
	return at, nil
}

// keepOutput is how much of a failed setup command's output is shown.
const keepOutput = 4 << 10

// setup runs the setup command of a task in its new work tree. What it prints is kept with that.
func (p *Place) setup(ctx context.Context, t Task) error {
	dir, err := Enter(p.Dir, t.Dir)
	if err != nil {
		return err
	}
	log := p.beside("setup.log")
	res, err := p.repo.Starter.Run(ctx, proc.Command{
		Invocation: proc.Invocation{Argv: check.Shell(t.Setup), Dir: dir, Env: config.Environment(p.repo.Environ, nil)},
		Records:    proc.Records{Stdout: log, Stderr: log},
		Limits:     proc.Limits{Keep: keepOutput},
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("run the setup command %q: %w", t.Setup, err)
	case res.ExitCode != 0:
		text := strings.TrimSpace(string(res.Stdout.Text) + "\n" + string(res.Stderr.Text))
		return hint.Errorf("try the command in a fresh clone; all that it printed is in "+log,
			"the setup command %q ended with exit code %d: %s", t.Setup, res.ExitCode, text)
	}
	return nil
}
