package diff

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"codeloops/internal/diff/restore"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// Namespace is the prefix of references to checkpoints in the private repository.
const Namespace = "refs/codeloops/"

// ErrGone is a checkpoint that is not in the private repository.
var ErrGone = errors.New("the checkpoint is not there any more")

// A record is what the message of a checkpoint's commit says in JSON, in its last line.
type record struct {
	beside

	Head   string      `json:"head,omitempty"` // the commit and the branch that HEAD was at when the work tree was looked at last
	Branch string      `json:"branch,omitempty"`
	Umask  fs.FileMode `json:"umask"`
	Perms  permissions `json:"permissions,omitempty"`
	Began  *beginning  `json:"began,omitempty"` // of the first checkpoint of a session
	At     time.Time   `json:"at"`
	tree   plumbing.Hash
}

// permissions are those of regular files that umask does not give.
type permissions = byName[fs.FileMode]

// perm returns the permissions of a regular file.
func (r *record) perm(name string, mode uint32) fs.FileMode {
	if perm, is := r.Perms[name]; is {
		return perm
	}
	return usual(mode, r.Umask)
}

// usual returns the permissions that git gives a file.
func usual(mode uint32, umask fs.FileMode) fs.FileMode {
	if mode == Executable {
		return 0o777 &^ umask
	}
	return 0o666 &^ umask
}

// Checkpoint keeps a state that the baseline or a capture found as a commit in the private
// repository, and returns its id. The commit's tree is the one that `git write-tree` would write,
// without large files that git has not; see [Large].
// The reference is refs/codeloops/<name>, as in "<session>/<number>", with another number
// appended if it is taken. When Checkpoint returns, everything that the commit reaches is on the
// disk. It does not depend on other checkpoints, so those can be removed. Nothing is written
// into the user's repository.
//
// The id of the first checkpoint of the baseline identifies the session, so no other session
// should have the same message.
func (t *Tree) Checkpoint(ctx context.Context, state, name, message string) (commit string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, known := t.states[state]
	if !known {
		return "", fmt.Errorf("checkpoint %s: %w", name, ErrUnknownState)
	}
	id, err := t.checkpoint(ctx, s, name, message)
	if err != nil {
		return "", fmt.Errorf("write checkpoint %s: %w", name, err)
	}
	return id.String(), nil
}

func (t *Tree) checkpoint(ctx context.Context, s *state, name, message string) (id plumbing.Hash, err error) {
	r := &record{beside: s.beside, Umask: Umask(), At: t.options.Now().UTC().Truncate(time.Second), Head: t.at.Commit, Branch: wording.Name(t.at.Branch)}
	begins := t.session == "" && t.basis.state != nil && s.id == t.basis.state.id
	if begins {
		r.Began, r.Perms = &t.began, t.permsThen
	} else if r.Perms, err = t.permissions(ctx, s, nil); err != nil {
		return id, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return id, err
	}
	content := commitOf(s.tree, r.At, strings.TrimRight(message, "\n")+"\n\n"+recordLine+string(text)+"\n")
	if id, err = t.objects.write(plumbing.CommitObject, content); err != nil {
		return id, err
	}
	if t.keptIn == "" || missing(filepath.Join(t.private.dir, "objects", "pack", t.keptIn)) {
		t.kept = plumbing.ZeroHash // somebody has removed it
	}
	if t.kept == s.tree {
		err = t.private.putObject(plumbing.CommitObject, id, content)
	} else if t.keptIn, err = t.keep(ctx, t.kept, id); err == nil {
		t.kept = s.tree
	}
	if err != nil {
		return id, err
	}
	if err := t.refer(Namespace+name, id); err != nil {
		return id, err
	}
	if begins {
		t.session = id.String()
	}
	return id, nil
}

// recordLine begins the line of a message with a [record].
const recordLine = "codeloops: "

// author is the author of the commits, whatever the user's git identity is.
const author = "codeloops <codeloops@localhost>"

// commitOf returns a commit object without parents, in the format of git-commit-tree(1).
func commitOf(tree plumbing.Hash, at time.Time, message string) []byte {
	who := fmt.Sprintf("%s %d +0000", author, at.Unix())
	return fmt.Appendf(nil, "tree %s\nauthor %s\ncommitter %s\n\n%s", tree, who, who, message)
}

// permissions returns those that umask does not give. What is there is given to meet, which may be nil.
func (w *watcher) permissions(ctx context.Context, s *state, meet func(name string, info fs.FileInfo)) (permissions, error) {
	files, err := w.objects.list(ctx, s.tree)
	for name, e := range s.Large {
		files = append(files, listedFile{name, e})
	}
	infos := make([]fs.FileInfo, len(files)) // nil for what is not there
	each(len(files), func(i int) { infos[i], _ = os.Lstat(w.absolute(files[i].name)) })
	all, umask := permissions{}, Umask()
	for i, f := range files {
		info := infos[i]
		if info == nil {
			continue
		}
		if meet != nil {
			meet(f.name, info)
		}
		if f.isFile() && info.Mode().IsRegular() && info.Mode().Perm() != usual(f.Mode, umask) {
			all[f.name] = info.Mode().Perm()
		}
	}
	return all, err
}

// each does something for each of n numbers, on all processors.
func each(n int, do func(i int)) {
	var busy sync.WaitGroup
	at := max(1, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	for from := 0; from < n; from += at {
		busy.Go(func() {
			for i := from; i < min(n, from+at); i++ {
				do(i)
			}
		})
	}
	busy.Wait()
}

const dirMode = 0o40000

// read reads a checkpoint.
func (w *watcher) read(commit string) (*record, *state, error) {
	r, err := w.recordOf(commit)
	if err != nil {
		return nil, nil, fmt.Errorf("read checkpoint %s: %w", commit, err)
	}
	if _, err := w.objects.tree(r.tree); err != nil {
		return nil, nil, fmt.Errorf("read checkpoint %s: %w", commit, err)
	}
	s, err := w.objects.named(r.tree, r.beside)
	return r, s, err
}

func (w *watcher) recordOf(commit string) (*record, error) {
	c, err := object.GetCommit(w.objects, plumbing.NewHash(commit))
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	}
	if err != nil {
		return nil, err
	}
	r := &record{tree: c.TreeHash}
	_, text, is := strings.Cut("\n"+c.Message, "\n"+recordLine)
	if !is { // of an earlier version, which said other things
		r.Umask = Umask()
		return r, nil
	}
	return r, json.Unmarshal([]byte(text), r)
}

// LargeOf returns the files, by path, that the message of a checkpoint says are not kept, as "<mode> <id>".
func LargeOf(message string) map[string]string {
	all := map[string]string{}
	r := &record{}
	if _, text, is := strings.Cut("\n"+message, "\n"+recordLine); is && json.Unmarshal([]byte(text), r) == nil {
		for name, e := range r.Large {
			all[name] = fmt.Sprintf("%06o %s", e.Mode, e.ID)
		}
		for name, commit := range r.Links {
			all[name] = fmt.Sprintf("%06o %s", Gitlink, commit)
		}
	}
	return all
}

// Resume makes the state of a checkpoint the baseline, so that the work tree is compared with
// what it was when that session began.
func (t *Tree) Resume(ctx context.Context, commit string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.make(); err != nil {
		return err
	}
	r, s, err := t.read(commit)
	if err != nil {
		return err
	}
	t.session, t.sight, t.kept, t.keptIn = commit, nil, r.tree, "."
	nests := []string{}
	if t.began = (beginning{}); r.Began != nil {
		t.began = *r.Began
	} else { // not the first one of a session
		for name := range r.Links {
			t.began.Nests = append(t.began.Nests, restore.Name(name))
		}
	}
	for _, name := range t.began.Nests {
		nests = append(nests, string(name))
	}
	b, err := t.basisOf(ctx, s, nests)
	if err != nil {
		return err
	}
	t.begin(b)
	if r.Began == nil { // then what is now has to stand for it
		if err := t.see(ctx, nil); err != nil {
			return err
		}
		t.began, t.sight = t.beginning(), nil
	}
	return nil
}

// basisOf makes indexes of a state, in which the stats count that files have now.
func (w *watcher) basisOf(ctx context.Context, s *state, nests []string) (*basis, error) {
	b := &basis{state: s, last: s, nests: nests, areas: map[string]area{}}
	slices.Sort(nests)
	areas := append([]string{""}, nests...)
	for _, at := range areas {
		tree := s.tree
		if at != "" {
			e, err := w.objects.at(s.tree, at)
			if err != nil {
				return nil, err
			}
			if e == nil || e.Mode != dirMode {
				continue
			}
			tree = e.Hash
		}
		edits := map[string]*object.TreeEntry{}
		for _, other := range nests {
			if rest, in := strings.CutPrefix("/"+other, strings.TrimSuffix("/"+at, "/")+"/"); in && other != at {
				edits[rest] = nil
			}
		}
		tree, err := w.objects.edited(tree, edits)
		if err != nil {
			return nil, err
		}
		v := &view{shadow: w.shadow, root: w.absolute(at), index: w.shadow.file("base"), flags: w.files.flags()}
		if info, err := os.Stat(v.root); err != nil || !info.IsDir() {
			v.root = w.shadow.dir // the nest is gone
		}
		if err := v.readTree(ctx, tree, w.basis.areas[at].index); err != nil {
			return nil, err
		}
		if b.areas[at], err = w.indexed(ctx, v.index, tree); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// readTree makes the index that of a tree, with the stats of the files that are as in the tree. What is the same in the
// index seen keeps its stat; "" is none.
func (v *view) readTree(ctx context.Context, tree plumbing.Hash, seen string) error {
	if seen == "" {
		_, err := v.run(ctx, nil, nil, "reset", tree.String(), "--", ".")
		return err
	}
	if err := copyIndex(seen, v.index); err != nil {
		return err
	}
	_, err := v.run(ctx, nil, nil, "read-tree", "-i", "-m", tree.String()) // whatever the files are
	return err
}

// indexed returns an area with the paths in its index.
func (w *watcher) indexed(ctx context.Context, index string, tree plumbing.Hash) (area, error) {
	files, err := w.objects.list(ctx, tree)
	a := area{index, tree, make(map[string]bool, len(files))}
	for _, f := range files {
		a.names[f.name] = true
	}
	return a, err
}

// Recall loads the state of a checkpoint, of this session or another, for [Tree.PlanRestore], and returns
// its [loop.Change.State].
func (t *Tree) Recall(commit string) (state string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.make(); err != nil {
		return "", err
	}
	r, s, err := t.read(commit)
	if err != nil {
		return "", err
	}
	t.know(s)
	if was := t.recalled[s.id]; r.Began == nil && was != nil { // another checkpoint of the same state may have it
		r.Began = was.Began
	}
	t.recalled[s.id] = r
	return s.id, nil
}

// Between returns the difference between two states of this session, as returned by Capture. A
// state of an earlier process must have a checkpoint. The zero [loop.Change] is the baseline.
func (t *Tree) Between(ctx context.Context, from, to loop.Change) (loop.Change, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, err := t.stateAt(from)
	var after *state
	if err == nil {
		after, err = t.stateAt(to)
	}
	var files []loop.FileChange
	if err == nil {
		files, err = t.render(ctx, before, after, t.withheld)
	}
	if err != nil {
		return loop.Change{}, fmt.Errorf("compare two states of %s: %w", t.Root(), err)
	}
	return loop.Change{Files: files, State: to.State, Checkpoint: to.Checkpoint}.Counted(), nil
}

func (t *Tree) stateAt(c loop.Change) (*state, error) {
	if c.State == "" && t.basis.state != nil {
		return t.basis.state, nil
	}
	if s, known := t.states[c.State]; known {
		return s, nil
	}
	if c.Checkpoint == "" {
		return nil, ErrUnknownState
	}
	_, s, err := t.read(c.Checkpoint)
	if err == nil {
		t.know(s)
	}
	return s, err
}
