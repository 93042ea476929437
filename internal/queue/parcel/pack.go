package parcel

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	program "codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/queue/git"
	"codeloops/internal/session"
)

// Work on a task travels as refs, which are below this in the rooms at both ends.
const refs = "refs/codeloops/parcel/"

// The refs of what travels. That of the session is a commit with its log and the folder beside it, as they are in the
// directory of sessions. Its checkpoints are below its ID, as in the private repository that has them.
const (
	Base        = refs + "base" // where an attempt begins
	Onto        = refs + "onto" // the current commit of the target
	Branch      = refs + "branch"
	sessionRef  = refs + "session"
	checkpoints = refs + "checkpoints/"
	private     = "refs/codeloops/"
)

// The ends of the names of a session's log and of the folder beside it.
const (
	logEnding    = ".jsonl"
	folderEnding = ".d"
)

// Pack sets the refs of a session, with its log at a path. The room reads its checkpoints where they are.
func (r *Room) Pack(ctx context.Context, one loop.Session, log string) error {
	store, err := session.NewStore(filepath.Dir(log))
	if err != nil {
		return err
	}
	set := map[string]string{}
	if dir := store.Checkpoints(one.Checkpoints); dir != "" {
		all, err := program.At(dir).Refs(private + one.ID + "/")
		if err == nil {
			err = r.Borrow(filepath.Join(dir, "objects"))
		}
		if err != nil {
			return err
		}
		for name, commit := range all {
			set[checkpoints+strings.TrimPrefix(name, private)] = commit
		}
	}
	add := []string{"add", "--force", "--", one.ID + logEnding}
	beside, err := os.ReadDir(filepath.Join(store.Dir(), one.ID+folderEnding))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range beside {
		if e.Type().IsRegular() && plain().MatchString(e.Name()) {
			add = append(add, one.ID+folderEnding+"/"+e.Name())
		}
	}
	tree := ""
	for _, args := range [][]string{add, {"write-tree"}} {
		if tree, err = r.files(ctx, one.ID, store.Dir(), args...); err != nil {
			return err
		}
	}
	set[sessionRef], err = r.Do(ctx, git.Call{Dir: r.Root, Env: []string{
		"GIT_AUTHOR_NAME=codeloops", "GIT_AUTHOR_EMAIL=codeloops@localhost", "GIT_COMMITTER_NAME=codeloops", "GIT_COMMITTER_EMAIL=codeloops@localhost",
	}}, "commit-tree", tree, "-m", "session")
	if err != nil {
		return err
	}
	return r.Set(ctx, set)
}

// files runs git on the files of a session in a directory, which it converts neither way.
func (r *Room) files(ctx context.Context, id, dir string, args ...string) (string, error) {
	c := git.Call{
		Dir: dir, Env: []string{"GIT_DIR=" + r.Root, "GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + filepath.Join(r.Root, id+".index"), "GIT_ATTR_NOSYSTEM=1"},
		Settings: []string{"-c", "core.autocrlf=false", "-c", "core.attributesFile=" + os.DevNull, "-c", "core.symlinks=false"},
	}
	return r.Do(ctx, c, args...)
}
