package merge

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"codeloops/internal/file"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A mark is what the merger has set the refs of a target to: agents can write refs, too.
type mark struct {
	Ahead string `json:"ahead"`
	Base  string `json:"base"`
}

// ErrForeign says that a ref of the merger was moved by somebody else: nobody has judged what it holds.
var ErrForeign = errors.New("was not set by codeloops")

// note records where the refs of a target will be, and where they are: the process may be killed in between.
func (m *Merger) note(at position, next mark) error {
	text, err := json.Marshal([]mark{next, {at.ahead, at.base}})
	if err == nil {
		err = os.MkdirAll(m.room(at.target), 0o700)
	}
	if err != nil {
		return err
	}
	return file.Write(m.marks(at.target), text, 0o600)
}

func (m *Merger) marks(target string) string {
	return filepath.Join(m.room(target), "refs-"+url.PathEscape(target)+".json")
}

// known returns an error for refs that the merger has not set.
func (m *Merger) known(ctx context.Context, at position) error {
	set := []mark{{}}
	text, err := os.ReadFile(m.marks(at.target))
	if err == nil {
		err = json.Unmarshal(text, &set)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) || len(set) == 0 {
		return err
	}
	is := func(at string, of func(mark) string) bool {
		return at == "" || slices.ContainsFunc(set, func(m mark) bool { return of(m) == at })
	}
	if !is(at.ahead, func(m mark) string { return m.Ahead }) {
		return m.foreign(ctx, at, waiting+at.target, at.ahead, set[0].Ahead)
	}
	if !is(at.base, func(m mark) string { return m.Base }) {
		return m.foreign(ctx, at, bases+at.target, at.base, set[0].Base)
	}
	return nil
}

// foreign returns an error for a ref whose commit is neither in the target nor in the one that the merger has set.
func (m *Merger) foreign(ctx context.Context, at position, ref, commit, set string) error {
	for _, of := range []string{at.tip, set} {
		if of == "" {
			continue
		}
		if in, err := m.repo.Contains(ctx, of, commit); in || err != nil {
			return err
		}
	}
	back := "git update-ref -d " + wording.Shell(ref) + " removes it"
	if set != "" {
		back = "git update-ref " + wording.Shell(ref) + " " + set + " puts it back"
	}
	return hint.Errorf("git log "+wording.Shell(ref)+" shows it; "+back+", and codeloops queue retry goes on",
		"the ref %s is at %.12s, which %w: was it an agent?", ref, commit, ErrForeign)
}
