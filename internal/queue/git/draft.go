package git

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/proc"
)

// A Draft is where commits are made before a repository gets them, with all that they need: housekeeping there removes what
// no ref has, also from below what is just being made. Git runs with the settings of the repository.
type Draft struct {
	Env  []string // for git to read and write its objects, with an index of its own
	repo *Repo
	dir  string
}

// Draft begins one in a directory, which can read the objects of other directories, too. What is there is removed, as of a
// killed process; done removes it in the end.
func (r *Repo) Draft(dir string, objects ...string) (d *Draft, done func(), err error) {
	if err = os.RemoveAll(dir); err == nil {
		err = Borrow(dir, append([]string{r.Objects()}, objects...)...)
	}
	env := []string{"GIT_OBJECT_DIRECTORY=" + filepath.Join(dir, "objects"), "GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	return &Draft{env, r, dir}, func() { _ = os.RemoveAll(dir) }, err // what stays, the next one removes
}

// Git runs git with the objects of the draft.
func (d *Draft) Git(ctx context.Context, args ...string) (string, error) {
	return d.Do(ctx, Call{}, args...)
}

// Do is as [Repo.Do], with the objects of the draft, and in the work tree of the repository unless the call says where.
func (d *Draft) Do(ctx context.Context, c Call, args ...string) (string, error) {
	c.Dir, c.Env = cmp.Or(c.Dir, d.repo.Root), slices.Concat(d.Env, c.Env)
	return d.repo.Do(ctx, c, args...)
}

// Dir is the directory of the draft, a bare repository.
func (d *Draft) Dir() string { return d.dir }

// ours is codeloops as the author and the committer of a commit.
var ours = []string{ //nolint:gochecknoglobals // a constant
	"GIT_AUTHOR_NAME=codeloops", "GIT_AUTHOR_EMAIL=codeloops@localhost", "GIT_COMMITTER_NAME=codeloops", "GIT_COMMITTER_EMAIL=codeloops@localhost",
}

// Commit makes a commit by the user, or by codeloops if git does not know who that is.
func (d *Draft) Commit(ctx context.Context, tree, message string, parents ...string) (string, error) {
	id, err := d.commit(ctx, nil, tree, message, parents)
	if _, failed := errors.AsType[*proc.ExitError](err); failed {
		return d.commit(ctx, ours, tree, message, parents)
	}
	return id, err
}

// CommitSame makes a commit by codeloops that is the same each time.
func (d *Draft) CommitSame(ctx context.Context, tree, message string, parents ...string) (string, error) {
	const when = "1234567890 +0000"
	return d.commit(ctx, append([]string{"GIT_AUTHOR_DATE=" + when, "GIT_COMMITTER_DATE=" + when}, ours...), tree, message, parents)
}

func (d *Draft) commit(ctx context.Context, env []string, tree, message string, parents []string) (string, error) {
	args := []string{"commit-tree", tree, "-F", "-"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return d.Do(ctx, Call{Env: env, Stdin: []byte(message), Settings: []string{"-c", "user.useConfigOnly=true"}}, args...)
}

// With returns the tree of a commit with other entries, "mode id", by path.
func (d *Draft) With(ctx context.Context, commit string, entries map[string]string) (tree string, err error) {
	var stdin strings.Builder
	for path, entry := range entries {
		stdin.WriteString(entry + "\t" + path + "\x00")
	}
	if _, err = d.Git(ctx, "read-tree", commit); err == nil && len(entries) > 0 {
		_, err = d.Do(ctx, Call{Stdin: []byte(stdin.String())}, "update-index", "-z", "--index-info")
	}
	if err != nil {
		return "", err
	}
	return d.Git(ctx, "write-tree")
}

// mostPacks is the number of packs above which they are joined: many make every git command slow.
const mostPacks = 50

// Join joins small packs where there are many, as drafts leave one each. It removes no object. The user's own git does the
// same from time to time, but not while nobody works in the repository.
func (r *Repo) Join(ctx context.Context) error {
	packs, err := filepath.Glob(filepath.Join(r.Objects(), "pack", "*.pack"))
	if err != nil || len(packs) < mostPacks {
		return err
	}
	_, err = r.Run(ctx, r.Root, "repack", "--geometric=2", "-d", "--quiet")
	return err
}

// Give gives the repository a commit, at a ref. It comes as a pack, which housekeeping leaves alone until the ref is there.
func (d *Draft) Give(ctx context.Context, commit, ref string) error {
	if err := put(d.dir, "refs/heads/main", commit+"\n", 0o600); err != nil {
		return err
	}
	return d.repo.Fetch(ctx, d.dir, "+refs/heads/main:"+ref)
}
