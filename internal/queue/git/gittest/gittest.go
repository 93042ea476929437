// Package gittest makes repositories for tests.
package gittest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git"
)

// A Repo is a user's repository, with a first commit on the branch main.
type Repo struct {
	testing.TB
	*git.Repo

	State string // codeloops' state directory
}

// Environ is an environment without the user's git configuration.
func Environ(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=User",
		"GIT_CONFIG_KEY_1=user.email", "GIT_CONFIG_VALUE_1=user@example.com",
		"GIT_CONFIG_KEY_2=core.fsync", "GIT_CONFIG_VALUE_2=none",
	}
}

// New makes a repository.
func New(tb testing.TB) *Repo {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	r := &Repo{TB: tb, State: filepath.Join(dir, "state"), Repo: &git.Repo{Starter: starter(tb), Environ: Environ(dir)}}
	if err := os.Mkdir(r.State, 0o700); err != nil {
		tb.Fatal(err)
	}
	root := filepath.Join(dir, "user")
	r.In(dir, "init", "--quiet", "--initial-branch=main", root)
	if r.Repo, err = git.Open(root, r.Starter, r.Environ); err != nil {
		tb.Fatal(err)
	}
	r.Write("first", "first\n")
	r.Save("first")
	return r
}

func starter(tb testing.TB) git.Starter {
	tb.Helper()
	runner := proc.NewRunner(time.Now) //nolint:forbidigo // tests use the real time
	tb.Cleanup(func() {
		if err := runner.Close(); err != nil {
			tb.Error(err)
		}
	})
	return runner
}

// Git runs git in the user's work tree.
func (r *Repo) Git(args ...string) string {
	r.Helper()
	return r.In(r.Root, args...)
}

// In runs git in a directory.
func (r *Repo) In(dir string, args ...string) string {
	r.Helper()
	out, err := r.Run(r.Context(), dir, args...)
	if err != nil {
		r.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// Fails runs git in the user's work tree and expects an error.
func (r *Repo) Fails(args ...string) {
	r.Helper()
	if out, err := r.Run(r.Context(), r.Root, args...); err == nil {
		r.Errorf("git %s: %s", strings.Join(args, " "), out)
	}
}

// Write writes a file in the user's work tree.
func (r *Repo) Write(path, text string) {
	r.Helper()
	r.Put(r.Root, path, text)
}

// Put writes a file below a directory.
func (r *Repo) Put(dir, path, text string) {
	r.Helper()
	name := filepath.Join(dir, path)
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o600)
	}
	if err != nil {
		r.Fatal(err)
	}
}

// Text reads a file below a directory; it returns "-" if there is none.
func (r *Repo) Text(dir, path string) string {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		return "-"
	}
	return string(text)
}

// Save commits everything in the user's work tree.
func (r *Repo) Save(message string) string {
	r.Helper()
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "-m", message)
	return r.Git("rev-parse", "HEAD")
}

// Branch creates a branch from another one, with one commit of the given files (alternating paths and texts), and
// returns the commit. The user's work tree is not touched.
func (r *Repo) Branch(name, from string, files ...string) string {
	r.Helper()
	dir := filepath.Join(r.TempDir(), "other")
	r.Git("worktree", "add", "--quiet", "--detach", dir, from)
	for i := 0; i < len(files); i += 2 {
		r.Put(dir, files[i], files[i+1])
	}
	r.In(dir, "add", "--all")
	r.In(dir, "commit", "--quiet", "--allow-empty", "-m", name)
	head := r.In(dir, "rev-parse", "HEAD")
	r.Git("worktree", "remove", "--force", dir)
	r.Git("branch", "--force", name, head)
	return head
}

// Untouched returns a fingerprint of the user's HEAD, index and files.
func (r *Repo) Untouched() string {
	r.Helper()
	b := fmt.Appendf(nil, "%q %x\n", r.Text(r.CommonDir, "HEAD"), sha256.Sum256([]byte(r.Text(r.CommonDir, "index"))))
	err := filepath.WalkDir(r.Root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case err != nil || d.IsDir():
			return err
		}
		info, err := d.Info()
		if err == nil {
			b = fmt.Appendf(b, "%s %v %v %x\n", name, info.Mode(), info.ModTime(), sha256.Sum256([]byte(r.Text("", name))))
		}
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return string(b)
}

// Play returns the environment of a child process in which [Played] opens this repository.
func (r *Repo) Play() []string {
	return append(os.Environ(), "GITTEST_ROOT="+r.Root, "GITTEST_STATE="+r.State)
}

// Played opens the repository in such a child process, with the starter that kill returns; elsewhere it returns nil.
func Played(tb testing.TB, kill func(git.Starter) git.Starter) *Repo {
	tb.Helper()
	root, state := os.Getenv("GITTEST_ROOT"), os.Getenv("GITTEST_STATE")
	if root == "" {
		return nil
	}
	repo, err := git.Open(root, kill(starter(tb)), Environ(filepath.Dir(root)))
	if err != nil {
		tb.Fatal(err)
	}
	return &Repo{TB: tb, State: state, Repo: repo}
}
