package parcel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/session"
)

// Work on a task travels as refs, which are below this in the rooms at both ends.
const refs = "refs/codeloops/parcel/"

// The refs of what travels. That of the session is a commit with the files of the session. Its checkpoints are below its
// ID.
const (
	Base        = refs + "base" // where an attempt begins
	Onto        = refs + "onto" // the current commit of the target
	Branch      = refs + "branch"
	sessionRef  = refs + "session"
	checkpoints = refs + "checkpoints/"
)

// The names of a session's files: its log has its ID, and those beside the log have a prefix.
const (
	logEnding  = ".jsonl"
	besidePart = "file."
)

// A Packer keeps the refs of a session in a room up to date.
type Packer struct {
	Room *Room // its own, which can read the objects of the repository

	id      string
	settled session.Settled
	packed  int64 // bytes of the log
}

// Session updates the refs to the resumable part of a session, with its log at a path. It reports whether there is
// anything new.
func (p *Packer) Session(ctx context.Context, id, log string) (fresh bool, err error) {
	if id != p.id {
		*p = Packer{Room: p.Room, id: id}
	}
	if err := p.settled.Read(log); err != nil || p.settled.Size <= p.packed {
		return false, err
	}
	update, err := p.checkpoints(ctx, log)
	if err == nil {
		update[sessionRef], err = p.commit(ctx, log)
	}
	if err == nil {
		err = p.Room.Set(ctx, update)
	}
	if err != nil {
		return false, err
	}
	p.packed = p.settled.Size
	return true, nil
}

// checkpoints returns refs for the session's checkpoints, which are in the private repository next to its log.
func (p *Packer) checkpoints(ctx context.Context, log string) (update map[string]string, err error) {
	update = map[string]string{}
	store, err := session.NewStore(filepath.Dir(log))
	if err != nil {
		return nil, err
	}
	private := store.Checkpoints(p.settled.Session.Checkpoints)
	if private == "" {
		return update, nil
	}
	if err := p.Room.Borrow(filepath.Join(private, "objects")); err != nil {
		return nil, err
	}
	out, err := p.Room.Run(ctx, private, "--git-dir=.", "for-each-ref", "--format=%(objectname) %(refname)", checkpointsOf(p.id))
	for line := range strings.Lines(out) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		update[checkpoints+p.id+"/"+strings.TrimPrefix(name, checkpointsOf(p.id))] = commit
	}
	return update, err
}

// checkpointsOf is the prefix of the refs of a session's checkpoints in the private repository.
func checkpointsOf(id string) string { return "refs/codeloops/" + id + "/" }

// commit makes the commit of the session's files.
func (p *Packer) commit(ctx context.Context, log string) (string, error) {
	part := filepath.Join(p.Room.Root, "log-part")
	if err := copyPart(log, part, p.settled.Size); err != nil {
		return "", err
	}
	names, paths := []string{p.id + logEnding}, []string{part}
	folder := strings.TrimSuffix(log, logEnding) + ".d"
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && plain().MatchString(e.Name()) {
			names, paths = append(names, besidePart+e.Name()), append(paths, filepath.Join(folder, e.Name()))
		}
	}
	out, err := p.Room.Do(ctx, git.Call{Dir: p.Room.Root, Stdin: []byte(strings.Join(paths, "\n") + "\n")}, "hash-object", "-w", "--no-filters", "--stdin-paths")
	ids := strings.Fields(out)
	if err == nil && len(ids) != len(names) {
		err = fmt.Errorf("git hash-object has named %d of %d files", len(ids), len(names))
	}
	if err != nil {
		return "", err
	}
	var listing strings.Builder
	for i, name := range names {
		fmt.Fprintf(&listing, "100644 blob %s\t%s\x00", ids[i], name)
	}
	tree, err := p.Room.Do(ctx, git.Call{Dir: p.Room.Root, Stdin: []byte(listing.String())}, "mktree", "-z")
	if err != nil {
		return "", err
	}
	return p.Room.Do(ctx, git.Call{Dir: p.Room.Root, Env: []string{
		"GIT_AUTHOR_NAME=codeloops", "GIT_AUTHOR_EMAIL=codeloops@localhost", "GIT_COMMITTER_NAME=codeloops", "GIT_COMMITTER_EMAIL=codeloops@localhost",
	}}, "commit-tree", tree, "-m", "session")
}

// copyPart copies the beginning of a file.
func copyPart(from, to string, size int64) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(out, in, size)
	return errors.Join(err, out.Close())
}
