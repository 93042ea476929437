package merge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"codeloops/internal/file"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A mark is what the merger has set the ref of what waits for a target to, and the commit of the target that is below it:
// agents can write refs, too.
type mark struct {
	Ahead string `json:"ahead"`
	Base  string `json:"base"`
}

// ErrForeign says that a ref of the merger was moved by somebody else: nobody has judged what it holds.
var ErrForeign = errors.New("was not set by codeloops")

// note records where the ref of what waits will be, and where it is: the process may be killed in between.
func (m *Merger) note(at Position, next mark) error {
	text, err := json.Marshal([]mark{next, {at.ahead, at.base}})
	if err != nil {
		return err
	}
	return file.Write(m.marks(at.target), text, 0o600)
}

func (m *Merger) marks(target string) string {
	return filepath.Join(m.room(target), "refs-"+url.PathEscape(target)+".json")
}

// set returns the last mark of a target, and the one before; none where there is none.
func (m *Merger) set(target string) (marks []mark, err error) {
	text, err := os.ReadFile(m.marks(target))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &marks)
	}
	return marks, err
}

// mend puts back the ref of what waits for a target where it names nothing: housekeeping has removed the merge before the
// ref was there, so no task counts as merged by it.
func (j *job) mend(ctx context.Context) error {
	at, err := j.Look(ctx, j.Target)
	if err != nil || at.ahead == "" {
		return err
	}
	if _, there, err := j.repo.Commit(ctx, at.ahead); err != nil || there {
		return err
	}
	marks, err := j.set(at.target)
	changes := []string{"delete " + waiting + at.target + " " + at.ahead}
	for _, was := range marks {
		if _, there, e := j.repo.Commit(ctx, was.Ahead); e == nil && there && was.Ahead != "" {
			changes = []string{"update " + waiting + at.target + " " + was.Ahead + " " + at.ahead}
		}
	}
	if err == nil {
		_, err = j.change(ctx, at, "put back what waited", changes...)
	}
	if err == nil && j.Tell != nil {
		j.Tell(fmt.Sprintf("the commit %.12s, where %s was, is gone; the ref is put back to what was there before, and the merge is made again", at.ahead, waiting+at.target))
	}
	return err
}

// known returns what a waiting commit is based on, and an error for one that the merger has not set, and that the
// target does not have.
func (m *Merger) known(ctx context.Context, at Position) (base string, err error) {
	if at.ahead == "" {
		return "", nil
	}
	set, err := m.set(at.target)
	if err != nil {
		return "", err
	}
	for _, one := range set {
		if one.Ahead == at.ahead {
			return one.Base, nil
		}
	}
	if in, err := m.repo.Contains(ctx, at.tip, at.ahead); in || err != nil {
		return "", err
	}
	ref := waiting + at.target
	back := "git update-ref -d " + wording.Shell(ref) + " removes it"
	if len(set) > 0 && set[0].Ahead != "" {
		back = "git update-ref " + wording.Shell(ref) + " " + set[0].Ahead + " puts it back"
	}
	return "", hint.Errorf("git log "+wording.Shell(ref)+" shows it; "+back+", and codeloops queue retry goes on",
		"the ref %s is at %.12s, which %w: was it an agent?", ref, at.ahead, ErrForeign)
}
