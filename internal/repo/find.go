package repo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/file"
)

// A place is where a repository is.
type place struct {
	start     string // where the search began
	root      string // of the work tree by default; "" if start is in a git directory
	gitDir    string // without symbolic links
	commonDir string // without symbolic links
	objects   string // the object store
	lexical   string // gitDir as the caller named it, perhaps through symbolic links
}

// maxLink is the largest .git file that git reads, in bytes.
const maxLink = 1 << 20

// A misleadError is a GIT_DIR that leads to no repository.
type misleadError struct{ to string }

func (e *misleadError) Error() string {
	return fmt.Sprintf("GIT_DIR is %s: %v", e.to, ErrNotRepository)
}

func (e *misleadError) Unwrap() error { return ErrNotRepository }

// Hint says what to do about it.
func (e *misleadError) Hint() string { return "the variable GIT_DIR says so: unset it" }

// find returns the place of the repository that git would use in dir.
func find(dir string, env Env) (place, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return place{}, err
	}
	start, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return place{}, fmt.Errorf("find the git repository of %s: %w", dir, err)
	}
	if named := env.get("GIT_DIR"); named != "" {
		gitDir := join(start, named)
		if target, err := readLink(gitDir); err == nil {
			gitDir = target
		}
		p := place{start: start, root: start, lexical: gitDir}
		if !p.take(gitDir, env) {
			return place{}, &misleadError{gitDir}
		}
		return p, nil
	}
	p, err := findAbove(start, env)
	if err != nil {
		return place{}, err
	}
	p.lexical = p.gitDir
	// The caller's path may lead through symbolic links; conditional includes
	// compare with it too.
	if up, err := filepath.Rel(p.start, p.root); err == nil && p.gitDir == filepath.Join(p.root, ".git") {
		p.lexical = filepath.Join(abs, up, ".git")
	}
	return p, nil
}

// findAbove looks for a repository in start and the directories above it, as far as
// GIT_CEILING_DIRECTORIES and the file system's root allow.
func findAbove(start string, env Env) (place, error) {
	ceiling := ceilingOf(start, env)
	across, _ := parseBool(env.get("GIT_DISCOVERY_ACROSS_FILESYSTEM"))
	device := file.At(start).Dev // 0 if the system has none
	for dir := start; dir == start || dir != ceiling && (across || file.At(dir).Dev == device); dir = filepath.Dir(dir) {
		p := place{start: start, root: dir}
		if found, err := p.look(dir, env); found || err != nil {
			return p, err
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return place{}, fmt.Errorf("%s, like the directories above it, is %w", start, ErrNotRepository)
}

// look sets the place to the repository that dir contains or is, if any.
func (p *place) look(dir string, env Env) (found bool, err error) {
	gitDir := filepath.Join(dir, ".git")
	target, err := readLink(gitDir)
	switch {
	case err == nil:
		if !p.take(target, env) {
			return false, fmt.Errorf("%s leads to %s: %w", gitDir, target, ErrNotRepository)
		}
		return true, nil
	case !file.Missing(err) && !errors.Is(err, file.ErrNotRegular):
		return false, err
	}
	if p.take(gitDir, env) {
		return true, nil
	}
	p.root = ""
	return p.take(dir, env), nil
}

// take sets the place to gitDir, if that is a git directory.
func (p *place) take(gitDir string, env Env) bool {
	resolved, err := filepath.EvalSymlinks(gitDir)
	if err != nil || !hasHead(resolved) {
		return false
	}
	common, err := filepath.EvalSymlinks(commonDirOf(resolved, p.start, env))
	if err != nil || !isDir(filepath.Join(common, "refs")) {
		return false
	}
	objects := filepath.Join(common, "objects")
	if named := env.get("GIT_OBJECT_DIRECTORY"); named != "" {
		objects = join(p.start, named)
	}
	if !isDir(objects) {
		return false
	}
	p.gitDir, p.commonDir, p.objects = resolved, common, objects
	return true
}

// commonDirOf returns the directory that gitDir shares with other work trees, or gitDir itself.
func commonDirOf(gitDir, start string, env Env) string {
	if named := env.get("GIT_COMMON_DIR"); named != "" {
		return join(start, named)
	}
	data, err := read(filepath.Join(gitDir, "commondir"), maxLink)
	if err != nil {
		return gitDir
	}
	return join(gitDir, strings.TrimRight(string(data), "\r\n"))
}

// hasHead reports whether dir has a valid HEAD, which makes it a git directory.
func hasHead(dir string) bool {
	path := filepath.Join(dir, "HEAD")
	if target, err := os.Readlink(path); err == nil {
		return strings.HasPrefix(filepath.ToSlash(target), "refs/")
	}
	data, err := read(path, maxRef)
	if err != nil {
		return false
	}
	if target, ok := strings.CutPrefix(string(data), "ref:"); ok {
		return strings.HasPrefix(strings.TrimLeft(target, " \t\r\n"), "refs/")
	}
	return startsWithID(string(data))
}

// readLink returns the directory that the .git file at path points to. If there is no such file, the
// error is that of a missing file, or wraps file.ErrNotRegular.
func readLink(path string) (string, error) {
	data, err := read(path, maxLink)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(string(data), "gitdir: ")
	target = strings.TrimRight(target, "\r\n")
	if !ok || target == "" {
		return "", fmt.Errorf("%s is a file without a gitdir line: %w", path, ErrNotRepository)
	}
	return join(filepath.Dir(path), target), nil
}

// ceilingOf returns the nearest directory above start in GIT_CEILING_DIRECTORIES, or "". Symbolic
// links are not resolved after an empty element.
func ceilingOf(start string, env Env) string {
	resolve, nearest := true, ""
	for _, dir := range filepath.SplitList(env.get("GIT_CEILING_DIRECTORIES")) {
		if dir == "" {
			resolve = false
			continue
		}
		if !filepath.IsAbs(dir) {
			continue
		}
		dir = filepath.Clean(dir)
		if resolve {
			if resolved, err := filepath.EvalSymlinks(dir); err == nil {
				dir = resolved
			}
		}
		rel, err := filepath.Rel(dir, start)
		if err == nil && rel != "." && filepath.IsLocal(rel) && len(dir) > len(nearest) {
			nearest = dir
		}
	}
	return nearest
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func read(path string, most int64) ([]byte, error) {
	data, _, err := file.Read(path, file.Options{Max: most})
	return data, err
}
