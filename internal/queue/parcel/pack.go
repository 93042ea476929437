package parcel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/queue/git"
	"codeloops/internal/session"
)

// Ref is the only ref in a parcel. It points to a commit whose message is a [Manifest], whose parents are the
// commits that this names, and whose tree holds the session's files.
const Ref = "refs/codeloops/parcel"

// A Manifest lists a task's work, in this parcel and those before it.
type Manifest struct {
	Task    string `json:"task"`
	Attempt int    `json:"attempt"`
	// Branch is the last commit on the task's branch; "" is none.
	Branch  string `json:"branch,omitempty"`
	Session string `json:"session,omitempty"` // its ID; "" is none
	// Checkpoints are the session's, by their ref names after its ID.
	Checkpoints map[string]string `json:"checkpoints,omitempty"`
}

// The names of files in a parcel.
const (
	logPart    = "log."  // followed by a number: consecutive parts of the log
	besidePart = "file." // followed by the name of a file next to the log
)

// A Packer makes the parcels of an attempt, each with what is new since the last.
type Packer struct {
	Room *Room    // its own, which can read the objects of the repository
	Base []string // commits that the recipient has
	// Apart says that the branch travels separately and arrives first.
	Apart bool

	settled session.Settled
	sent    int64             // bytes of the log
	parts   int               // parts of the log
	tree    map[string]string // blob IDs, by name
	sizes   map[string]int64  // of files next to the log
	commits map[string]bool   // in earlier parcels
	last    string            // commit of the last parcel
}

// Settled says how far the session can be resumed elsewhere.
func (p *Packer) Settled() session.Settled { return p.settled }

// Log adds the resumable part of the log at path to the next parcel. It reports whether there is anything new.
func (p *Packer) Log(path string) (fresh bool, err error) {
	if err := p.settled.Read(path); err != nil {
		return false, err
	}
	return p.settled.Size > p.sent, nil
}

// Pack writes a parcel to a file. The log is that of the manifest's session, if there is one.
func (p *Packer) Pack(ctx context.Context, m Manifest, log, file string) (err error) {
	if p.tree == nil {
		p.tree, p.sizes, p.commits = map[string]string{}, map[string]int64{}, map[string]bool{}
	}
	sent, parts := p.sent, p.parts
	if m.Session != "" {
		if m.Checkpoints, err = p.checkpoints(ctx, m.Session, log); err != nil {
			return err
		}
		if err := p.files(ctx, log); err != nil {
			return err
		}
	}
	commit, parents, err := p.commit(ctx, &m)
	if err != nil {
		return err
	}
	without := p.Base
	if p.last != "" {
		without = append([]string{p.last}, p.Base...)
	}
	if p.Apart && m.Branch != "" {
		without = append(slices.Clip(without), m.Branch)
	}
	if err = p.Room.Set(ctx, map[string]string{Ref: commit}); err == nil {
		_, err = p.Room.Bundle(ctx, file, []string{Ref}, without)
	}
	if err != nil {
		p.sent, p.parts = sent, parts
		return err
	}
	p.last = commit
	for _, id := range parents {
		p.commits[id] = true
	}
	return nil
}

// checkpoints lists a session's checkpoints, from the private repository next to its log.
func (p *Packer) checkpoints(ctx context.Context, id, log string) (map[string]string, error) {
	store, err := session.NewStore(filepath.Dir(log))
	if err != nil {
		return nil, err
	}
	private := store.Checkpoints(p.settled.Session.Checkpoints)
	if private == "" {
		return nil, nil
	}
	if err := p.Room.Borrow(filepath.Join(private, "objects")); err != nil {
		return nil, err
	}
	out, err := p.Room.Run(ctx, private, "--git-dir=.", "for-each-ref", "--format=%(objectname) %(refname)", checkpointsOf(id))
	all := map[string]string{}
	for line := range strings.Lines(out) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[strings.TrimPrefix(name, checkpointsOf(id))] = commit
	}
	return all, err
}

// checkpointsOf is the prefix of the refs of a session's checkpoints.
func checkpointsOf(id string) string { return "refs/codeloops/" + id + "/" }

// files adds the new parts of the session's files.
func (p *Packer) files(ctx context.Context, log string) error {
	names, paths, err := p.beside(strings.TrimSuffix(log, ".jsonl") + ".d")
	if err != nil {
		return err
	}
	if p.settled.Size > p.sent {
		part := filepath.Join(p.Room.Root, "log-part")
		if err := copyPart(log, part, p.sent, p.settled.Size-p.sent); err != nil {
			return err
		}
		p.parts++
		p.sent = p.settled.Size
		names, paths = append(names, fmt.Sprintf("%s%06d", logPart, p.parts)), append(paths, part)
	}
	if len(names) == 0 {
		return nil
	}
	c := git.Call{Dir: p.Room.Root, Stdin: []byte(strings.Join(paths, "\n") + "\n")}
	out, err := p.Room.Do(ctx, c, "hash-object", "-w", "--no-filters", "--stdin-paths")
	ids := strings.Fields(out)
	if err == nil && len(ids) != len(names) {
		err = fmt.Errorf("git hash-object has named %d of %d files", len(ids), len(names))
	}
	for i := range ids {
		if err == nil {
			p.tree[names[i]] = ids[i]
		}
	}
	return err
}

// beside lists the files next to the log that have changed.
func (p *Packer) beside(folder string) (names, paths []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !plain().MatchString(e.Name()) || strings.HasPrefix(e.Name(), "live") || p.sizes[e.Name()] == info.Size() {
			continue
		}
		p.sizes[e.Name()] = info.Size()
		names, paths = append(names, besidePart+e.Name()), append(paths, filepath.Join(folder, e.Name()))
	}
	return names, paths, nil
}

func copyPart(from, to string, at, size int64) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.NewSectionReader(in, at, size))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, out.Close())
}

// commit makes a parcel's commit. Its parents leave out commits in earlier parcels.
func (p *Packer) commit(ctx context.Context, m *Manifest) (id string, parents []string, err error) {
	var listing strings.Builder
	for name, blob := range p.tree {
		fmt.Fprintf(&listing, "100644 blob %s\t%s\x00", blob, name)
	}
	tree, err := p.Room.Do(ctx, git.Call{Dir: p.Room.Root, Stdin: []byte(listing.String())}, "mktree", "-z")
	if err != nil {
		return "", nil, err
	}
	args := []string{"commit-tree", tree, "-F", "-"}
	if p.last != "" {
		args = append(args, "-p", p.last)
	}
	for _, commit := range m.commits() {
		if !p.commits[commit] {
			parents, args = append(parents, commit), append(args, "-p", commit)
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "", nil, err
	}
	c := git.Call{Dir: p.Room.Root, Stdin: text, Env: author}
	id, err = p.Room.Do(ctx, c, args...)
	return id, parents, err
}

// author is the author of parcels.
var author = []string{ //nolint:gochecknoglobals // a constant
	"GIT_AUTHOR_NAME=codeloops", "GIT_AUTHOR_EMAIL=codeloops@localhost", "GIT_COMMITTER_NAME=codeloops", "GIT_COMMITTER_EMAIL=codeloops@localhost",
}

// commits lists the commits that a manifest names.
func (m *Manifest) commits() (ids []string) {
	if m.Branch != "" {
		ids = append(ids, m.Branch)
	}
	for _, id := range m.Checkpoints {
		ids = append(ids, id)
	}
	return ids
}

// unused is the age at which an unnamed parcel is no longer being sent.
const unused = time.Hour

// Idle is the time before which an unnamed parcel was abandoned.
func Idle(now time.Time) time.Time { return now.Add(-unused) }
