package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"codeloops/internal/proc"
)

// Errors of [Open].
var (
	ErrNotRepository = errors.New("not a git repository")
	ErrBare          = errors.New("git repository has no work tree")
)

// An UnsupportedError is a repository in a format that git, or codeloops, cannot read: with another hash function,
// another ref storage, or an unknown extension.
type UnsupportedError struct {
	Dir  string
	Says string // as in "its object format is sha256"
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("the git repository of %s is not supported: %s", e.Dir, e.Says)
}

// Hint says what to do about it: a clone has the same hash function, but not the same ref storage.
func (e *UnsupportedError) Hint() string {
	switch {
	case strings.HasPrefix(e.Says, objectFormat):
		return "work in a copy with SHA-1: git init --object-format=sha1 -b $(git branch --show-current) ../copy && " +
			"git fast-export --all | git -C ../copy fast-import && git -C ../copy reset --hard"
	case strings.HasPrefix(e.Says, refFormat), strings.HasSuffix(e.Says, "refstorage"): // an older git
		return "convert it (git refs migrate --ref-format=files), or work in a clone: git clone --ref-format=files"
	}
	return "work in a clone of it: git clone"
}

const (
	objectFormat = "its object format is "
	refFormat    = "its ref format is "
)

// FamilyFile is the file in the git directory of a task's work tree that names the common directory of the user's
// repository, of which it has only the objects.
const FamilyFile = "codeloops-family"

// A Repository is a git repository with a work tree. Its paths are absolute and free of symbolic
// links. It does not change after Open.
type Repository struct {
	WorkTree   string
	GitDir     string // with what this work tree has for itself: HEAD, index
	CommonDir  string // with what all work trees share: objects, refs, config, info
	Family     string // the CommonDir of the user's work tree, which differs from that of a task
	ObjectsDir string // the object store
	IndexFile  string // which need not exist

	dir     string // where it was opened
	environ []string
}

// Open finds the repository that git would use in dir. The error wraps [ErrNotRepository], [ErrBare] or an
// [*UnsupportedError], or is what git says.
func Open(dir string, environ []string) (*Repository, error) {
	r, err := find(dir, environ)
	if err == nil && r.WorkTree == "" {
		return nil, fmt.Errorf("%s: %w", r.GitDir, ErrBare)
	}
	return r, err
}

// OpenConfigured is Open and [Repository.Config] at the same time. The repository is there also if its configuration
// cannot be read.
func OpenConfigured(dir string, environ []string) (*Repository, *Config, error) {
	var c *Config
	var unread error
	var reading sync.WaitGroup
	reading.Go(func() { c, unread = (&Repository{dir: dir, environ: environ}).Config() })
	r, err := Open(dir, environ)
	reading.Wait()
	if err != nil || unread != nil {
		return r, nil, cmp.Or(err, unread)
	}
	c.workTree = r.WorkTree
	return r, c, nil
}

// find is Open also for a repository without a work tree.
func find(dir string, environ []string) (*Repository, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("find the git repository of %s: %w", dir, err)
	}
	out, err := ask(dir, environ, nil, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--git-path", "objects",
		"--git-path", "index", "--show-object-format", "--show-ref-format", "--show-toplevel") // the last fails in a bare repository
	lines := strings.Split(string(out), "\n")
	const want = 6
	if len(lines) < want || err != nil && !strings.Contains(err.Error(), "must be run in a work tree") {
		return nil, refusal(dir, environ, err)
	}
	switch {
	case strings.HasPrefix(lines[0], "--"): // git prints options that it does not know
		return nil, ErrOld
	case lines[4] != "sha1":
		return nil, &UnsupportedError{dir, objectFormat + lines[4]}
	case lines[5] == "reftable": // an older git prints the option
		return nil, &UnsupportedError{dir, refFormat + lines[5]}
	}
	r := &Repository{GitDir: lines[0], CommonDir: lines[1], ObjectsDir: lines[2], IndexFile: lines[3], dir: dir, environ: environ}
	if err == nil {
		r.WorkTree = lines[want]
	}
	for _, path := range []*string{&r.WorkTree, &r.GitDir, &r.CommonDir, &r.ObjectsDir, &r.IndexFile} {
		*path = filepath.FromSlash(*path)
	}
	r.Family = r.CommonDir
	if of, err := os.ReadFile(filepath.Join(r.CommonDir, FamilyFile)); err == nil {
		r.Family = strings.TrimSuffix(string(of), "\n")
	}
	return r, nil
}

// refusal returns the error for a directory in which git finds no repository that it can read.
func refusal(dir string, environ []string, err error) error {
	exit, said := errors.AsType[*proc.ExitError](err)
	if !said {
		return fmt.Errorf("find the git repository of %s: %w", dir, err)
	}
	says, _, _ := strings.Cut(strings.TrimPrefix(exit.Stderr, "fatal: "), "\n")
	if rest, is := strings.CutPrefix(exit.Stderr, "fatal: unknown repository extension found:"); is {
		says = "unknown extension " + strings.TrimSpace(rest)
	}
	named := proc.Getenv(environ, "GIT_DIR")
	switch {
	case strings.HasPrefix(says, "bad config"):
		return unreadable(dir, err)
	case strings.HasPrefix(says, "not a git repository (or any"):
		return fmt.Errorf("%s, like the directories above it, is %w", dir, ErrNotRepository)
	case strings.HasPrefix(says, "not a git repository") && named != "":
		return &misleadError{named}
	case strings.HasPrefix(says, "not a git repository"), strings.HasPrefix(says, "invalid gitfile format"):
		return fmt.Errorf("%s is %w: git says %q", dir, ErrNotRepository, says)
	case strings.HasPrefix(says, "unknown extension"), strings.Contains(says, "git repo version"):
		return &UnsupportedError{dir, says}
	}
	return fmt.Errorf("find the git repository of %s: git says %q", dir, says)
}

// A misleadError is a GIT_DIR that leads to no repository.
type misleadError struct{ to string }

func (e *misleadError) Error() string {
	return fmt.Sprintf("GIT_DIR is %s: %v", e.to, ErrNotRepository)
}

func (e *misleadError) Unwrap() error { return ErrNotRepository }

// Hint says what to do about it.
func (e *misleadError) Hint() string { return "the variable GIT_DIR says so: unset it" }

// patience limits how long git may take, on the slowest disk: a pipe in place of a configuration file would hold it up for ever.
const patience = 30 * time.Second

// ask runs git in a directory. It does not matter who owns the repository, as nothing of it runs.
//
//nolint:contextcheck,nolintlint // it takes milliseconds, or ends by itself
func ask(dir string, environ []string, stdin []byte, args ...string) ([]byte, error) {
	return asked(proc.Call{Invocation: proc.Invocation{Stdin: stdin}}, dir, environ, args...)
}

// asked is ask for a call that may have more to it.
//
//nolint:contextcheck,nolintlint // likewise
func asked(c proc.Call, dir string, environ []string, args ...string) ([]byte, error) {
	program, err := Program()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, errors.New("git did not answer: is a pipe in the place of one of its files?"))
	defer cancel()
	c.Argv, c.Dir = append([]string{program, "-c", "safe.directory=*"}, args...), dir
	c.Env = slices.Concat(environ, []string{"PWD=" + dir, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"})
	return proc.Output(ctx, c)
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

// InfoAttributes returns the path of the repository's own attributes, which need not exist.
func (r *Repository) InfoAttributes() string { return filepath.Join(r.CommonDir, "info", "attributes") }

// InfoExclude returns the path of the repository's ignore rules, which need not exist.
func (r *Repository) InfoExclude() string { return filepath.Join(r.CommonDir, "info", "exclude") }
