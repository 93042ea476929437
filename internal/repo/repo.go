// Package repo finds the git repository of a directory and reads its settings, without running
// git. It follows gitrepository-layout(5), git-config(1) and git-worktree(1). It never executes
// anything that the repository or its configuration names.
package repo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Errors of [Open].
var (
	ErrNotRepository = errors.New("not a git repository")
	ErrBare          = errors.New("git repository has no work tree")
)

// An UnsupportedError is a repository in a format that this package cannot read: with another hash
// function, another ref storage, or an unknown extension.
type UnsupportedError struct {
	GitDir string
	Key    string // of the configuration, as in "extensions.objectformat"
	Value  string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("git repository %s has the unsupported setting %s = %s", e.GitDir, e.Key, e.Value)
}

// Hint says what to do about it: a clone has the same hash function, but not the same ref storage.
func (e *UnsupportedError) Hint() string {
	switch e.Key {
	case "extensions.objectformat":
		return "work in a copy with SHA-1: git init --object-format=sha1 -b $(git branch --show-current) ../copy && " +
			"git fast-export --all | git -C ../copy fast-import && git -C ../copy reset --hard"
	case "extensions.refstorage":
		return "convert it (git refs migrate --ref-format=files), or work in a clone: git clone --ref-format=files"
	}
	return "work in a clone of it: git clone"
}

// An Env looks up an environment variable, as [os.LookupEnv] does.
type Env func(name string) (value string, ok bool)

// get returns the value of a variable, or "" if it is not set.
func (e Env) get(name string) string {
	v, _ := e(name)
	return v
}

// OwnDir is the directory, in a common git directory, with those of tasks: a work tree in which an agent works on a task
// shares only objects with the user's.
const OwnDir = "codeloops-own"

// A Repository is a git repository with a work tree. Its paths are absolute and free of symbolic
// links. It does not change after Open.
type Repository struct {
	WorkTree  string
	GitDir    string // with what this work tree has for itself: HEAD, index
	CommonDir string // with what all work trees share: objects, refs, config, info
	Family    string // the CommonDir of the user's work tree, which differs from that of a task
	Config    *Config
	env       Env
}

// Open finds the repository that git would use in dir and reads its configuration. The error
// wraps ErrNotRepository, ErrBare, an [*UnsupportedError] or a [*SyntaxError], or says what
// could not be read.
func Open(dir string, env Env) (*Repository, error) {
	p, err := find(dir, env)
	if err != nil {
		return nil, err
	}
	f, err := readFormat(p)
	if err != nil {
		return nil, err
	}
	r := &Repository{GitDir: p.gitDir, CommonDir: p.commonDir, Family: p.commonDir, env: env}
	if up := filepath.Dir(p.commonDir); filepath.Base(up) == OwnDir {
		r.Family = filepath.Dir(up)
	}
	if r.WorkTree, err = workTree(p, f, env); err != nil {
		return nil, err
	}
	l := loader{env: env, gitDirs: []string{p.gitDir, p.lexical}, commonDir: p.commonDir, worktreeConfig: f.worktreeConfig}
	if r.Config, err = l.load(); err != nil {
		return nil, err
	}
	return r, nil
}

// First returns the root of the first work tree of a repository, which the user made it with, given the git directory
// that all of them share; "" if there is none, or if it cannot be told from that.
func First(family string) string {
	if filepath.Base(family) != ".git" {
		return ""
	}
	return filepath.Dir(family)
}

// At is a repository of which only the references are read: those that work trees share.
func At(commonDir string) *Repository { return &Repository{GitDir: commonDir, CommonDir: commonDir} }

// workTree returns the root of the work tree of the repository at p.
func workTree(p place, f format, env Env) (string, error) {
	root := p.root
	switch explicit := env.get("GIT_WORK_TREE"); {
	case explicit != "":
		root = join(p.start, explicit)
	case f.bare:
		return "", fmt.Errorf("%s: %w", p.gitDir, ErrBare)
	case f.workTree != "":
		root = join(p.gitDir, f.workTree)
	case root == "":
		return "", fmt.Errorf("%s: %w", p.start, ErrBare)
	}
	resolved, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", fmt.Errorf("find the work tree of %s: %w", p.gitDir, err)
	}
	return resolved, nil
}

// join resolves path against base unless it is absolute.
func join(base, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// IndexFile returns the path of the index, which need not exist.
func (r *Repository) IndexFile() string {
	if path := r.env.get("GIT_INDEX_FILE"); path != "" {
		return join(r.WorkTree, path)
	}
	return filepath.Join(r.GitDir, "index")
}

// ObjectsDir returns the path of the object store.
func (r *Repository) ObjectsDir() string {
	if path := r.env.get("GIT_OBJECT_DIRECTORY"); path != "" {
		return join(r.WorkTree, path)
	}
	return filepath.Join(r.CommonDir, "objects")
}

// ExcludesFile returns the path of the user's ignore rules, which need not exist, or "".
func (r *Repository) ExcludesFile() (string, error) {
	return r.userFile("core.excludesFile", "ignore")
}

// InfoExclude returns the path of the repository's ignore rules, which need not exist.
func (r *Repository) InfoExclude() string { return filepath.Join(r.CommonDir, "info", "exclude") }

// AttributesFiles are the paths of the attributes files outside the work tree. They need not exist,
// and may be "".
type AttributesFiles struct {
	System, User, Info string
}

// AttributesFiles returns where git looks for attributes outside the work tree.
func (r *Repository) AttributesFiles() (AttributesFiles, error) {
	user, err := r.userFile("core.attributesFile", "attributes")
	files := AttributesFiles{User: user, Info: filepath.Join(r.CommonDir, "info", "attributes")}
	if no, _ := parseBool(r.env.get("GIT_ATTR_NOSYSTEM")); !no {
		files.System = systemFile(r.env, "gitattributes")
	}
	return files, err
}

// userFile returns the path in a setting, or else the default path of the user's file.
func (r *Repository) userFile(key, name string) (string, error) {
	path, ok, err := r.Config.Path(key)
	if err != nil {
		return "", err
	}
	if !ok {
		return userFile(r.env, name), nil
	}
	if path == "" {
		return "", nil
	}
	return join(r.WorkTree, path), nil
}

// userFile returns the path of a file in the user's configuration directory for git, or "" without a
// home directory.
func userFile(env Env, name string) string {
	if dir := env.get("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", name)
	}
	if dir := home(env); dir != "" {
		return filepath.Join(dir, ".config", "git", name)
	}
	return ""
}

// home returns the user's home directory, or "".
func home(env Env) string {
	if dir := env.get("HOME"); dir != "" {
		return dir
	}
	if os.PathSeparator == '\\' {
		return env.get("USERPROFILE")
	}
	return ""
}

// systemFile returns the path of a file of the git installation, in the default location.
func systemFile(env Env, name string) string {
	if os.PathSeparator == '\\' {
		if dir := env.get("ProgramFiles"); dir != "" {
			return filepath.Join(dir, "Git", "etc", name)
		}
		return ""
	}
	return filepath.Join("/etc", name)
}
