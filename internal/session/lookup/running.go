package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"codeloops/internal/git"
	"codeloops/internal/loop/progress"
	"codeloops/internal/session"
	"codeloops/internal/session/door"
	"codeloops/internal/session/standing"
	"codeloops/internal/wording/hint"
)

// A Run is a running session.
type Run struct {
	Holder session.Holder
	At     standing.Standing
	Client *door.Client
	// Err says why the run could not be asked. At is then from its log.
	Err error
}

// Store is the store of the session's log.
func (r Run) Store() (*session.Store, error) { return session.NewStore(filepath.Dir(r.At.Log)) }

// Runs returns the running sessions of the user's repository, or of all with [Logs.All]: first
// those of this work tree, then by when they began. Each is given this long to answer; 0: some
// seconds.
func (l *Logs) Runs(ctx context.Context, patience time.Duration) []Run {
	here := Here(l.Host)
	holders := slices.DeleteFunc(session.Holders(l.Host.Data("locks")), func(h session.Holder) bool {
		return !l.All && !here.holds(h.Lock.WorkTree)
	})
	if h, ok := l.stranger(holders); ok {
		holders = append(holders, h)
	}
	runs := make([]Run, len(holders))
	var asked sync.WaitGroup
	for i, h := range holders {
		asked.Go(func() { runs[i] = l.meet(ctx, h, patience) })
	}
	asked.Wait()
	runs = slices.DeleteFunc(runs, func(r Run) bool { return r.Err != nil && !r.still() })
	slices.SortStableFunc(runs, func(a, b Run) int {
		return cmp.Compare(here.distance(a.Holder.Lock.WorkTree), here.distance(b.Holder.Lock.WorkTree))
	})
	return runs
}

// Follow yields a session while it goes on, with what its agents are doing. Each question is work for the run, and many may follow
// it: so it is asked seldom.
func (l *Logs) Follow(ctx context.Context, store *session.Store, id string) iter.Seq2[session.Entry, error] {
	const seldom = 300 * time.Millisecond
	run, asked := &door.Client{Locks: l.Host.Data("locks"), Session: id}, time.Time{}
	return store.Follow(ctx, id, func(ctx context.Context) []progress.Instant {
		now := l.Host.Now()
		if now.Sub(asked) < seldom {
			return nil
		}
		asked = now
		return run.Doing(ctx)
	})
}

// stranger returns the session that runs in the user's work tree but under another home
// directory: only the lock in the git directory tells of it.
func (l *Logs) stranger(known []session.Holder) (h session.Holder, ok bool) {
	at, err := git.Open(l.Host.Dir, l.Host.Environ)
	if err != nil {
		return h, false
	}
	held := session.WorkTree{Root: at.WorkTree, GitDir: at.GitDir}.Held()
	if held == nil {
		return h, false
	}
	_, ok = session.Began(held.Session) // other commands hold it for a moment
	return session.Holder{Lock: *held}, ok && !slices.ContainsFunc(known, func(h session.Holder) bool { return h.Lock.WorkTree == held.WorkTree })
}

// holds reports whether a work tree belongs to the repository.
func (p *Place) holds(root string) bool {
	if p.common == "" || root == p.root {
		return root == p.root
	}
	r := p.repository(root)
	return r != nil && r.Family == p.common
}

// distance is 0 for the user's work tree and 1 for any other.
func (p *Place) distance(root string) int {
	if root == p.root {
		return 0
	}
	return 1
}

// meet asks a run where it stands, or else reads its log.
func (l *Logs) meet(ctx context.Context, h session.Holder, patience time.Duration) Run {
	r := Run{Holder: h, Client: &door.Client{Path: h.Door, Session: h.Lock.Session, Patience: patience}}
	if r.At, r.Err = r.Client.Look(ctx); r.Err != nil {
		r.At = l.read(h)
	}
	return r
}

// read returns where a run stands from its log, if that is in the directory of logs.
func (l *Logs) read(h session.Holder) standing.Standing {
	board := standing.Board{State: &progress.State{}, Known: known(h.Lock)}
	store, err := l.Store()
	if err != nil {
		return board.Standing()
	}
	id, err := store.Find(h.Lock.Session)
	if err != nil {
		return board.Standing()
	}
	board.Known.Log = store.Path(id)
	for entry, err := range session.Read(board.Known.Log) {
		if err == nil {
			_ = board.Handle(entry.At, entry.Event) // never fails
		}
	}
	return board.Standing()
}

// known is what a lock tells of a run.
func known(lock session.HeldError) standing.Standing {
	return standing.Standing{Session: lock.Session, PID: lock.PID, WorkTree: lock.WorkTree, Began: lock.Since}
}

// still reports whether the run goes on.
func (r Run) still() bool {
	return r.Holder.Door == "" || slices.ContainsFunc(session.Holders(filepath.Dir(r.Holder.Door)), func(h session.Holder) bool {
		return h.Lock.Session == r.Holder.Lock.Session
	})
}

// A SeveralError says that more than one running session could be meant.
type SeveralError struct{ Runs []Run }

func (e *SeveralError) Error() string {
	return fmt.Sprintf("%d sessions run that could be meant", len(e.Runs))
}

// Hint returns what to do about it.
func (e *SeveralError) Hint() string { return "name one: " + strings.Join(ids(e.Runs), ", ") }

// ErrNoRun says that no session is running that could be meant.
var ErrNoRun = errors.New("nothing runs")

// Run returns the running session that a reference means: the beginning of its id or of its
// hash, in any repository. "" is the one of this work tree, or the only one of the repository.
func (l *Logs) Run(ctx context.Context, ref string) (Run, error) {
	if ref == "latest" {
		ref = ""
	}
	everywhere := *l
	everywhere.All = l.All || ref != ""
	runs := everywhere.Runs(ctx, 0)
	if ref != "" {
		runs = slices.DeleteFunc(runs, func(r Run) bool { return !named(r.Holder.Lock.Session, ref) })
	} else if root := Here(l.Host).Root(); len(runs) > 1 && root != "" && runs[0].Holder.Lock.WorkTree == root {
		runs = runs[:1]
	}
	switch {
	case len(runs) == 1:
		return runs[0], nil
	case len(runs) > 1:
		return Run{}, &SeveralError{runs}
	case ref != "":
		return Run{}, hint.Add(fmt.Errorf("%w whose id begins with %q", ErrNoRun, ref), "`codeloops status --all` shows what runs")
	case l.All:
		return Run{}, hint.Add(ErrNoRun, `codeloops "what to do" begins something`)
	}
	return Run{}, hint.Add(fmt.Errorf("%w in this repository", ErrNoRun), "`codeloops status --all` shows what runs in others")
}

// named reports whether a reference fits an id.
func named(id, ref string) bool {
	_, hash, _ := strings.Cut(id, "_")
	ref = strings.TrimSuffix(ref, ".jsonl")
	return strings.HasPrefix(id, ref) || strings.HasPrefix(hash, ref)
}

func ids(runs []Run) (all []string) {
	for _, r := range runs {
		all = append(all, r.Holder.Lock.Session)
	}
	return all
}
