package index

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// A repository is a real one, created by git for a test.
type repository struct {
	tb  testing.TB
	dir string
}

func newRepository(tb testing.TB) *repository {
	tb.Helper()
	r := &repository{tb: tb, dir: tb.TempDir()}
	r.git("", "init", "-q", "-b", "main", ".")
	return r
}

// git runs git with input and returns its output. Git must succeed.
func (r *repository) git(input string, args ...string) string {
	r.tb.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + r.dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2020-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.com", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z",
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func (r *repository) write(name, text string) {
	r.tb.Helper()
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.tb.Fatal(err)
	}
}

func (r *repository) path() string { return filepath.Join(r.dir, ".git", "index") }

func (r *repository) read() (*Index, error) {
	return Read(r.path())
}

// These are bits of git's flags in memory, as --debug prints them.
const (
	memoryAssumeValid  = 1 << 15
	memoryIntentToAdd  = 1 << 29
	memorySkipWorktree = 1 << 30
)

// listed returns the entries that git sees.
func (r *repository) listed() []Entry {
	r.tb.Helper()
	var entries []Entry
	out := r.git("", "ls-files", "--stage", "--debug", "-z")
	for out != "" {
		head, rest, _ := strings.Cut(out, "\x00")
		var e Entry
		var id []byte
		stat, path, _ := strings.Cut(head, "\t")
		if _, err := fmt.Sscanf(stat, "%o %x %d", &e.Mode, &id, &e.Stage); err != nil {
			r.tb.Fatalf("%q: %v", head, err)
		}
		e.Path, e.ID = path, plumbing.Hash(id)
		var uid, gid, flags uint32
		var changed, modified [2]int64 // seconds, nanoseconds
		lines := strings.SplitAfterN(rest, "\n", 6)
		if _, err := fmt.Sscanf(strings.Join(lines[:5], ""),
			"  ctime: %d:%d\n  mtime: %d:%d\n  dev: %d\tino: %d\n  uid: %d\tgid: %d\n  size: %d\tflags: %x\n",
			&changed[0], &changed[1], &modified[0], &modified[1], &e.Dev, &e.Ino, &uid, &gid, &e.Size, &flags); err != nil {
			r.tb.Fatalf("%q: %v", rest, err)
		}
		e.Ctime, e.Mtime = changed[0]*1e9+changed[1], modified[0]*1e9+modified[1]
		for bit, flag := range map[uint32]Flag{
			memoryAssumeValid: AssumeValid, memoryIntentToAdd: IntentToAdd, memorySkipWorktree: SkipWorktree,
		} {
			if flags&bit != 0 {
				e.Flags |= flag
			}
		}
		entries = append(entries, e)
		out = lines[5]
	}
	return entries
}
