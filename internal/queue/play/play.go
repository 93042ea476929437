// Package play works on tasks: each is a session of its own in a work tree of its own, and what
// it comes to is merged.
package play

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/merge"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/place"
	"codeloops/internal/queue/source"
	"codeloops/internal/run"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// A Player works on the tasks of one home. It is safe for concurrent use.
type Player struct {
	Host    *host.Host
	Version string // of codeloops, for the logs
	Home    *hub.Home
	Starter git.Starter // of git, of setup commands, of checks on what was merged
	// Tell is told, in sentences, what there is to know.
	Tell func(task, sentence string)
	// Show returns what shows the run of a task; may be nil.
	Show func(*board.Job) []loop.Sink

	// Board and Conn lead to the hub.
	Board *board.Board
	Conn  *nats.Conn
	// Replicas is how many there are of what is sent, in a cluster; 0 is one.
	Replicas int
	// Remote is the name of the git remote through which the commits of tasks of this home travel; "" is
	// none: they travel through the hub.
	Remote string

	mu        sync.Mutex
	controls  map[*run.Control]bool // of the runs that are under way
	killed    bool
	store     *parcel.Store        // nil until it is needed
	homes     map[string]*presence // of other machines
	answering sync.WaitGroup
}

// Kill ends the agents that are at work at once.
func (p *Player) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	for c := range p.controls {
		c.Kill()
	}
}

// Play works on a task until its run has ended, and ends the job.
func (p *Player) Play(ctx context.Context, j *board.Job) error {
	move, err := p.work(ctx, j)
	held, isHeld := errors.AsType[*session.HeldError](err)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, queue.ErrStale):
		return cause // the task is somebody else's now, or nobody's
	case errors.Is(err, queue.ErrStale):
		return err
	case isHeld:
		move = p.later(held)
	case err != nil && (ctx.Err() != nil || board.Unreachable(err)):
		move = to(queue.Waiting, p.Board.Now(), "interrupted")
	case err != nil:
		move = to(queue.Failed, p.Board.Now(), withHint(err))
	}
	return j.End(ctx, move)
}

// busy is how long a task is left alone whose work tree another process is still at work in: one
// that was stopped, or has not heard yet that its attempt does not count any more.
const busy = 10 * time.Second

// later has a task offered again when its work tree may be free.
func (p *Player) later(held *session.HeldError) func(*queue.Record) error {
	now := p.Board.Now()
	return func(r *queue.Record) error {
		r.NotBefore = now.Add(busy)
		return r.Move(queue.Waiting, now, held.Error())
	}
}

// withHint is what went wrong, and what to do about it.
func withHint(err error) string {
	if advice, ok := hint.Of(err); ok {
		return err.Error() + " (" + advice + ")"
	}
	return err.Error()
}

// to moves a record.
func to(s queue.State, at time.Time, why string) func(*queue.Record) error {
	return func(r *queue.Record) error { return r.Move(s, at, why) }
}

// A post is where an attempt at a task is made: at home, or on another machine.
type post struct {
	site *place.Site
	// base is the commit that a new task begins at, and onto the one that its target is at by now.
	base, onto func(context.Context) (string, error)
	// settings are those of a run in a work tree.
	settings func(tree string) (run.Settings, error)
	dir      string // for what the setup command prints
	logs     string // where the session of an earlier attempt is
	moved    bool   // that was made on another machine
	ship     *shipper
	toll     *toll // of the run
	end      func()
}

// begun reports whether the session is one to be carried on here.
func (at *post) begun(id string) bool {
	store, err := session.NewStore(at.logs)
	return err == nil && id != "" && session.Look(store.Path(id)).Err == nil
}

// post finds where an attempt is made.
func (p *Player) post(ctx context.Context, j *board.Job) (*post, error) {
	if !j.Task.Repository.At(p.Home.ID()) {
		return p.away(ctx, j)
	}
	repo, site, merger, err := p.in(ctx, j.Task.Repository)
	if err != nil {
		return nil, err
	}
	if err := p.claim(ctx, &j.Task); err != nil {
		return nil, err
	}
	at := &post{site: site, dir: p.Home.In("trees"), moved: j.Parcels.Count > 0, end: func() {}}
	if err := p.bring(ctx, &j.Record, repo, site, func(change func(*queue.Record) error) error { return j.Change(ctx, change) }); err != nil {
		return nil, err
	}
	at.base = func(ctx context.Context) (string, error) { return merger.Onto(ctx, j.Task.Target) }
	at.onto = at.base
	at.settings = func(tree string) (run.Settings, error) { return p.settings(&j.Task, repo.Root, tree) }
	at.logs, err = p.logsAt(&j.Task, repo.Root)
	return at, err
}

// work works on a task, and says what becomes of it.
func (p *Player) work(ctx context.Context, j *board.Job) (move func(*queue.Record) error, err error) {
	at, err := p.post(ctx, j)
	switch {
	case errors.Is(err, source.ErrTaken):
		return to(queue.Cancelled, p.Board.Now(), err.Error()), nil
	case errors.Is(err, errAway):
		return p.waits(), nil
	case err != nil:
		return nil, err
	}
	defer at.end()
	here, err := p.place(ctx, j, at)
	if err != nil {
		return nil, err
	}
	if j.Feedback != "" && !at.begun(j.Progress.Session) {
		if err := update(ctx, at, here); err != nil {
			return nil, err
		}
	}
	settings, err := at.settings(here.Dir)
	if err != nil {
		return nil, err
	}
	out, err := p.run(ctx, j, at, here.Dir, settings)
	if err != nil {
		return nil, err
	}
	head := ""
	if out.Result == loop.Success {
		if head, err = here.Commit(context.WithoutCancel(ctx), message(&j.Record)); err != nil {
			return nil, err
		}
	}
	if at.ship != nil {
		if err := at.ship.last(ctx, head); err != nil {
			return nil, err
		}
	}
	return outcome(at.toll, out, head, p.Board.Now()), nil
}

// outcome is what becomes of a task whose run has ended.
func outcome(toll *toll, out loop.Outcome, head string, now time.Time) func(*queue.Record) error {
	if back := toll.back(out, now); back != nil {
		return back
	}
	switch out.Result {
	case loop.Success:
		return func(r *queue.Record) error {
			r.Head = head
			return r.Move(queue.Finished, now, out.Summary)
		}
	case loop.Interrupted:
		return to(queue.Waiting, now, "interrupted")
	case loop.MaxIterations, loop.BudgetExhausted, loop.Failed:
	}
	why := words.Outcome(string(out.Result))
	switch {
	case out.Result == loop.Failed && out.Summary != "":
		why = out.Summary // the state says the rest
	case out.Summary != "":
		why += ": " + out.Summary
	}
	return to(queue.Failed, now, why)
}

// in is where the tasks of a repository are worked on.
func (p *Player) in(ctx context.Context, r queue.Repository) (repo *git.Repo, site *place.Site, merger *merge.Merger, err error) {
	if repo, err = git.Open(ctx, r.Root, p.Starter, p.Host.Environ); err != nil {
		return nil, nil, nil, err
	}
	if site, err = place.New(repo, p.Home.In("trees")); err != nil {
		return nil, nil, nil, err
	}
	merger, err = merge.New(repo, p.Home.In("trees"))
	return repo, site, merger, err
}

// place opens the work tree of a task. The first one begins at what its target is by then, and one that
// is made anew for a session that goes on is what it was in the last checkpoint of that.
func (p *Player) place(ctx context.Context, j *board.Job, at *post) (*place.Place, error) {
	if j.Base == "" {
		base, err := at.base(ctx)
		if err != nil {
			return nil, err
		}
		if err := j.Change(ctx, func(r *queue.Record) error { r.Base = base; return nil }); err != nil {
			return nil, err
		}
	}
	if held := p.held(at.site.Dir(j.Task.ID)); held != nil {
		return nil, held
	}
	return at.site.Open(ctx, place.Task{
		Name: j.Task.ID, Base: j.Base, Setup: j.Task.Setup, Log: filepath.Join(at.dir, j.Task.ID+".setup.log"),
		Fill: func(ctx context.Context, dir string) error {
			if !at.begun(j.Progress.Session) { // none that was sent, or is there still: a new one begins
				return nil
			}
			return p.restore(ctx, dir, at.logs, j.Progress.Session)
		},
	})
}

// held is who is at work in a work tree, nil where nobody is.
func (p *Player) held(dir string) error {
	if held := (session.WorkTree{Root: dir, GitDir: dir, Own: p.Host.Data("locks")}).Held(); held != nil {
		return held
	}
	return nil
}

// update brings what the target has by now into the place, for a result that could not be merged.
func update(ctx context.Context, at *post, here *place.Place) error {
	tip, err := at.onto(ctx)
	if err == nil {
		_, err = here.Update(ctx, tip)
	}
	return err
}

// message is that of the commit with a task's result.
func message(r *queue.Record) string {
	return fmt.Sprintf("%s\n\nTask: %s\nSession: %s\n", r.Task.Title(), r.Task.ID, r.Progress.Session)
}

// settings are those of the run. A project's file counts in the place if it is the one that the
// user trusts in the repository.
func (p *Player) settings(t *queue.Task, root, dir string) (run.Settings, error) {
	flags := t.Flags
	trusted, err := config.TrustedIn(p.options(root), dir)
	if err != nil {
		return run.Settings{}, err
	}
	if trusted {
		flags = append(slices.Clip(flags), loop.Flag{Name: "trust-project", Values: []string{"true"}})
	}
	return run.NewSettings(flags)
}

// options are those of the configuration in a work tree.
func (p *Player) options(root string) config.Options {
	return config.Options{Env: p.Host.Environ, Home: p.Host.Home(), WorkingDir: root, RepositoryRoot: root}
}
