// Package git runs git in a user's repository, to make work trees and update refs.
//
// No process outlives its command, even if codeloops is killed. Hooks do not run, nothing is signed, and git never
// prompts.
package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/git"
	"codeloops/internal/proc"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Starter runs one command and leaves no process behind.
type Starter = git.Starter

// A Call is one run of git.
type Call = git.Call

// A Repo is a repository, seen from one of its work trees. It is safe for concurrent use.
type Repo struct {
	Root      string // of the work tree, absolute and free of symbolic links
	CommonDir string // the git directory that all its work trees share
	Environ   []string
	Starter   Starter

	found *git.Repository // nil for a repository of ours
}

// Open opens the repository of a work tree, given its root, whatever core.worktree says.
func Open(dir string, starter Starter, environ []string) (*Repo, error) {
	environ = git.WithoutRepository(environ)
	found, err := git.Open(dir, environ)
	if err != nil {
		return nil, hint.Add(fmt.Errorf("find the work tree of %s: %w", dir, err), "go to a work tree of a git repository")
	}
	return &Repo{Root: dir, CommonDir: found.CommonDir, Environ: environ, Starter: starter, found: found}, nil
}

// Converts returns what git does, with the user's settings, with files of another work tree; see [git.Repository.Converts]. In a
// repository of ours nothing is set up.
func (r *Repo) Converts(ctx context.Context, env []string, tree string, paths []string) (map[string]git.Conversion, error) {
	if r.found == nil {
		return nil, nil
	}
	at := *r.found
	at.WorkTree = tree
	settings, err := at.Config()
	if err != nil {
		return nil, err
	}
	return at.Converts(ctx, git.Git{Environ: slices.Concat(r.Environ, env)}, settings, "", paths)
}

// ID is a directory name for the repository, distinct from those of others.
func (r *Repo) ID() string {
	sum := sha256.Sum256([]byte(r.CommonDir))
	return filepath.Base(r.Root) + "-" + hex.EncodeToString(sum[:6])
}

// settings are those besides git's own safe ones. Messages are UTF-8.
var settings = []string{ //nolint:gochecknoglobals // a constant
	"-c", "rerere.enabled=false", "-c", "core.logAllRefUpdates=true", "-c", "advice.addEmbeddedRepo=false", "-c", "advice.mergeConflict=false",
	"-c", "i18n.commitEncoding=UTF-8", "-c", "merge.verifySignatures=false", "-c", "merge.conflictStyle=merge",
}

// Do runs git and returns its output without the final newline. A non-zero exit is a [*proc.ExitError]. It tries again while
// another git is just making or removing a work tree: some commands look at all of them, and fail on a half-made one. It also
// does while the packed references are locked, for which git waits by itself, too.
func (r *Repo) Do(ctx context.Context, c Call, args ...string) (string, error) {
	c.Settings, c.Args = slices.Concat(settings, c.Settings), args
	for left := patience; ; left-- {
		out, err := git.Git{Environ: r.Environ, Starter: r.Starter}.Run(ctx, c)
		busy := err != nil && (strings.Contains(err.Error(), "/commondir") || r.locked(err))
		if busy && left > 0 {
			time.Sleep(moment)
			continue
		}
		if busy || err != nil && strings.Contains(err.Error(), ".lock': File exists") {
			err = hint.Add(err, "is another git running there? If not, remove the file that it names")
		}
		return strings.TrimSuffix(string(out), "\n"), err
	}
}

// locked reports whether the packed references are locked. A lock that no git holds for so long is removed: a killed one has
// left it.
func (r *Repo) locked(err error) bool {
	const left = 10 * time.Second
	if !strings.Contains(err.Error(), "packed-refs.lock': File exists") {
		return false
	}
	lock := filepath.Join(r.CommonDir, "packed-refs.lock")
	if info, err := os.Stat(lock); err == nil && time.Since(info.ModTime()) > left {
		_ = os.Remove(lock) // git says if it stays
	}
	return true
}

// Git makes a work tree without files within milliseconds.
const (
	patience = 20
	moment   = 50 * time.Millisecond
)

// Lost reports whether git misses an object that it has just made, or has a reference to: housekeeping elsewhere may have
// removed it.
func Lost(err error) bool {
	exit, failed := errors.AsType[*proc.ExitError](err)
	return failed && lost().MatchString(exit.Stderr)
}

var lost = wording.Pattern(`(?i)bad object|bad tree|not a valid (object|commit)|is not a valid '|unable to read|could not (parse|read)|missing (blob|tree|commit|object)|nonexistent object|invalid object|unable to rename temporary|invalid index-pack output`)

// Run runs git in a directory.
func (r *Repo) Run(ctx context.Context, dir string, args ...string) (string, error) {
	return r.Do(ctx, Call{Dir: dir}, args...)
}

// Contains reports whether a commit is, or has as an ancestor, another one.
func (r *Repo) Contains(ctx context.Context, commit, other string) (bool, error) {
	if commit == other {
		return true, nil
	}
	_, err := r.Run(ctx, r.Root, "merge-base", "--is-ancestor", other, commit)
	if no(err) {
		return false, nil
	}
	return err == nil, err
}

// no reports whether git has said no, by its exit code. One that was killed, or cannot read the repository, has not.
func no(err error) bool {
	exit, failed := errors.AsType[*proc.ExitError](err)
	return failed && exit.ExitCode == 1
}

// Commit resolves a name to a commit; ok is false where it names none.
func (r *Repo) Commit(ctx context.Context, name string) (id string, ok bool, err error) {
	id, err = r.Run(ctx, r.Root, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if no(err) {
		return "", false, nil
	}
	return id, err == nil, err
}

// Refs returns the refs with some names, and those below names that end in a slash, such as "refs/heads/".
func (r *Repo) Refs(names ...string) (map[string]string, error) {
	return git.At(r.CommonDir).Refs(names...)
}

// A Merged is the result of a merge without a work tree.
type Merged struct {
	Tree  string   // with conflict markers, if any
	Files []string // with conflicts
	Text  string   // git's messages about them
}

// textMerge is git's own merge of texts, as a merge driver.
const textMerge = "git merge-file --quiet --marker-size=%L -L ours -L base -L theirs %A %O %B || exit 1"

// Undriven returns settings that replace all merge drivers by git's own merge: an agent can choose one, or write one.
func (r *Repo) Undriven(ctx context.Context) (settings []string, err error) {
	out, err := r.Run(ctx, r.Root, "config", "-z", "--name-only", "--get-regexp", `^merge\..*\.driver$`)
	if no(err) {
		return nil, nil // there are none
	}
	for key := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		settings = append(settings, "-c", key+"="+textMerge)
	}
	return settings, err
}

// MergeTree merges two commits. It runs no merge driver of the user's. env is added to the environment of git.
func (r *Repo) MergeTree(ctx context.Context, env []string, ours, theirs string) (m Merged, err error) {
	undriven, err := r.Undriven(ctx)
	if err != nil {
		return m, err
	}
	out, err := r.Do(ctx, Call{Dir: r.Root, Env: env, Settings: undriven}, "merge-tree", "--write-tree", "-z", "--name-only", "--messages", ours, theirs)
	exit, failed := errors.AsType[*proc.ExitError](err)
	switch {
	case failed && exit.ExitCode == 129:
		return m, hint.Add(fmt.Errorf("git cannot merge without a work tree: %w", err), "install git 2.38 or later")
	case err != nil && !no(err):
		return m, err
	}
	// See git-merge-tree(1): the tree, the files, an empty field; then for each message a count of files, the
	// files, its kind and its text, which is lines.
	fields := strings.Split(out, "\x00")
	m.Tree = fields[0]
	if !failed {
		return m, nil
	}
	end := max(1, slices.Index(fields, ""))
	if m.Files = fields[1:end]; len(m.Files) == 0 {
		return m, fmt.Errorf("git merge-tree tells of conflicts in no file: %q", out)
	}
	for _, text := range fields[end:] {
		if strings.HasSuffix(text, "\n") && !strings.HasPrefix(text, "Auto-merging ") {
			m.Text += text
		}
	}
	return m, nil
}
