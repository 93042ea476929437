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
	"codeloops/internal/diff/ignore"
	"codeloops/internal/proc"
	"codeloops/internal/run/check"
	"codeloops/internal/view"
	"codeloops/internal/wording/hint"
)

// include is the file that names ignored files to copy.
const include = ".worktreeinclude"

// Bring copies what .worktreeinclude names to another work tree, and returns the paths. It does not overwrite
// anything.
func (s *Site) Bring(ctx context.Context, dir string) (paths []string, err error) {
	name := filepath.Join(s.repo.Root, include)
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	named := ignore.New(ignore.Options{ExcludesFile: name})
	out, err := s.repo.Run(ctx, s.repo.Root, "status", "--porcelain", "-z", "--no-renames",
		"--ignored=matching", "--untracked-files=all", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		if entry, ignored := strings.CutPrefix(entry, "!! "); ignored {
			path, isDir := strings.CutSuffix(entry, "/")
			end := strings.LastIndexByte(path, '/') + 1
			paths = append(paths, s.named(named.Dir(path[:end]), path, path[end:], isDir)...)
		}
	}
	for path, err := range named.Unread() {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if err := view.Bring(ctx, s.repo.Root, dir, paths); err != nil {
		return nil, hint.Add(err, "fix that, or remove it from "+include)
	}
	return paths, nil
}

// named returns the paths that the rules select, of an ignored path or below it.
func (s *Site) named(rules *ignore.Dir, path, name string, isDir bool) (paths []string) {
	at := filepath.Join(s.repo.Root, filepath.FromSlash(path))
	if isDir && linked(at) {
		return nil
	}
	whole := rules.Ignored(name, isDir)
	if whole && !(isDir && holdsLinked(at)) {
		return []string{path}
	}
	if !isDir {
		return nil
	}
	entries, _ := os.ReadDir(at) // unreadable directories are skipped
	for _, e := range entries {
		paths = append(paths, s.named(rules.Sub(name), path+"/"+e.Name(), e.Name(), e.IsDir())...)
	}
	return paths
}

// linked reports whether a directory is a work tree of a repository elsewhere, as agents make them: git commands in a
// copy of it would change the original.
func linked(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil && info.Mode().IsRegular()
}

// holdsLinked reports whether there is such a work tree below a directory.
func holdsLinked(dir string) (found bool) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error { // unreadable directories are skipped
		if err == nil && e.IsDir() && linked(path) {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
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

// setup runs the setup command of a task in its new work tree.
func (s *Site) setup(ctx context.Context, t Task) error {
	dir, err := Enter(s.Dir(t.Name), t.Dir)
	if err != nil {
		return err
	}
	res, err := s.repo.Starter.Run(ctx, proc.Command{
		Invocation: proc.Invocation{Argv: check.Shell(t.Setup), Dir: dir, Env: config.Environment(s.repo.Environ, nil)},
		Records:    proc.Records{Stdout: t.Log, Stderr: t.Log},
		Limits:     proc.Limits{Keep: keepOutput},
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("run the setup command %q: %w", t.Setup, err)
	case res.ExitCode != 0:
		text := strings.TrimSpace(string(res.Stdout.Text) + "\n" + string(res.Stderr.Text))
		advice := "try the command in a fresh clone"
		if t.Log != "" {
			advice += "; all that it printed is in " + t.Log
		}
		return hint.Errorf(advice,
			"the setup command %q ended with exit code %d: %s", t.Setup, res.ExitCode, text)
	}
	return nil
}
