// Package run runs sessions for a front end: options in, a plan, an outcome out.
//
// [Prepare] returns the plan of a new session, [Resume] that of one to continue; both reject
// whatever can be rejected. [Plan.Run] plays it and passes its events to sinks. Questions come in
// as [Options.Ask], and the [Control] of a plan controls a running session. Nothing here knows
// streams, flags, signals or exit codes, and any number of runs can go on in one process, each in
// its own work tree.
package run

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/session/checkpoints"
	"codeloops/internal/session/door"
	"codeloops/internal/session/standing"
	"codeloops/internal/view"
	"codeloops/internal/wording/hint"
)

// Run carries the plan out, once, and passes every event to the sinks, after it was logged and
// with secrets redacted. A failing sink ends no run. The result of the outcome is "" if the loop
// did not begin. The error says why it did not, or what broke.
func (p *Plan) Run(ctx context.Context, sinks ...loop.Sink) (out loop.Outcome, err error) {
	if err := p.begin(ctx); err != nil {
		return out, err
	}
	r := &running{Plan: p, runner: proc.NewRunner(p.options.Host.Now)} // its keeper process starts while the work tree is read
	defer func() {                                                     //nolint:contextcheck // what is left is kept also after Ctrl+C
		if e := r.end(out); e != nil {
			err = errors.Join(err, e)
			if out.Result == loop.Success {
				out.Result, out.Reason = loop.Failed, loop.StopInternal
			}
		}
	}()
	r.open(ctx)
	ctx, end := p.control.begin(ctx, r.runner.Kill)
	defer end()
	p.tree.Begin(p.ID())
	start, err := r.start(ctx)
	if err != nil {
		return out, causeOf(ctx, err)
	}
	p.control.shows(ctx, r.differs)
	l, err := r.loop(start)
	if err != nil {
		return out, err
	}
	return r.drive(ctx, l, start, sinks)
}

// begin opens the log of a new session and locks the work tree.
func (p *Plan) begin(ctx context.Context) error {
	if p.earlier != nil {
		return nil // both are done
	}
	store, err := session.NewStore(p.Logs)
	if err != nil {
		return err
	}
	now := p.options.Host.Now()
	if p.own.log, err = store.Create(p.options.Prompt, now); err != nil {
		return err
	}
	p.own.lock, err = p.tree.Lock(ctx, p.ID(), now)
	return err
}

// causeOf replaces an error that only says "cancelled" with the cause of the cancellation.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) && !errors.Is(err, cause) {
		return cause
	}
	return err
}

// running is a plan while it runs.
type running struct {
	*Plan

	runner   *proc.Runner
	views    *view.Place
	deciders *deciders
	kept     keptIn
	board    *standing.Board // tracks where the run stands
	door     *door.Door      // nil: the run cannot be reached from other processes
	removals sync.WaitGroup  // of forks
	sites    sites

	untrusted untrusted

	layersOnce sync.Once
	hasLayers  bool // see [forker.layers]
}

// keptIn is the private repository for the checkpoints of a session.
type keptIn struct {
	name   string // as in the log
	dir    string
	shared io.Closer // keeps others from cleaning up there; nil: not yet
}

// end releases what is only needed while the run goes on.
func (r *running) end(out loop.Outcome) error {
	r.removals.Wait()
	if r.door != nil {
		_ = r.door.Close() // the next run replaces what is left of it
	}
	if r.own.log != nil {
		r.tidyForks(out.Final())
	}
	if out.Result != "" && out.Result != loop.Success {
		r.keepEnd()
	}
	if r.kept.shared != nil {
		_ = r.kept.shared.Close() // the system releases it in any case
	}
	return r.runner.Close()
}

// keepEnd keeps the state in which the run leaves the work tree, if an agent worked there after the last capture: what
// the user does from now on is not the run's.
func (r *running) keepEnd() {
	if r.own.state.Runs == 0 || r.own.state.Checkpoint != "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastLook)
	defer cancel()
	now, err := r.tree.Capture(ctx)
	if err == nil {
		_, err = r.tree.Checkpoint(ctx, checkpoints.StepEnd, now)
	}
	if err != nil && r.options.Debug != nil { // the commands that need it say so
		r.options.Debug("could not keep the state at the end of the run: " + err.Error())
	}
}

// tidyForks removes forks left by earlier runs of the session that were killed. If the session
// can be resumed, the forks that it needs stay.
func (r *running) tidyForks(over bool) {
	forks := filepath.Join(r.outputs(), "forks")
	left, _ := filepath.Glob(filepath.Join(forks, "*.removed"))
	if over {
		left = []string{forks}
	}
	for _, dir := range left {
		_ = view.Remove(dir) // otherwise doctor finds it
	}
	for _, dir := range []string{forks, r.outputs()} {
		_ = os.Remove(dir) // only if it is empty
	}
}

// start prepares the loop, and returns the checkpoint of the session's start. The views are set
// up concurrently, because that starts processes.
func (r *running) start(ctx context.Context) (checkpoint string, err error) {
	found := make(chan error, 1)
	go func() {
		var err error
		r.views, err = r.findViews(ctx, r.tree, nil)
		found <- err
	}()
	checkpoint, err = r.look(ctx)
	if err := <-found; err != nil {
		return "", err
	}
	r.tree.Marked = r.views.Marked
	if err != nil {
		return "", err
	}
	r.deciders = r.findDeciders()
	return checkpoint, nil
}

// look reads the state of the work tree that changes are compared with.
func (r *running) look(ctx context.Context) (checkpoint string, err error) {
	if err := r.keepIn(ctx); err != nil {
		return "", err
	}
	if r.earlier != nil {
		return r.earlier.Origin.Checkpoint, r.restoreBaseline(ctx)
	}
	if err := r.base(ctx); err != nil {
		return "", err
	}
	if r.recorded() != nil {
		return r.options.Judge.Since, nil
	}
	return r.tree.Checkpoint(ctx, worktree.Start, loop.Change{State: r.tree.BaseState()})
}

// keepIn finds the private repository of the session, and cleans up there unless somebody else is
// using it. A resumed session has its own.
func (r *running) keepIn(ctx context.Context) (err error) {
	if was := r.recorded(); was != nil {
		r.kept.dir, r.kept.name = was.Store, filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(was.Store)), filepath.Base(was.Store))) // as in the log of its session
		if r.kept.shared, err = session.ShareCheckpoints(ctx, was.Store); err != nil {
			return err
		}
		return r.tree.KeepIn(was.Store)
	}
	logs := r.Logs
	if r.Log() != "" { // of a session that is resumed, perhaps elsewhere
		logs = filepath.Dir(r.Log())
	}
	store, err := session.NewStore(logs)
	if err != nil {
		return err
	}
	r.kept.name = session.CheckpointsFor(r.tree.CommonDir())
	if r.earlier != nil && store.Checkpoints(r.earlier.Origin.Checkpoints) != "" {
		r.kept.name = r.earlier.Origin.Checkpoints
	}
	r.kept.dir = store.Checkpoints(r.kept.name)
	h := r.options.Host
	private := checkpoints.Repository{
		Git:   git.Git{Environ: git.WithoutRepository(h.Environ)},
		Store: store, Dir: r.kept.dir, Own: r.ID(),
	}
	if err := private.Tidy(ctx, r.Config.Keep, checkpoints.Before(h.Now(), r.Config.KeepFor)); err != nil && ctx.Err() == nil {
		r.tree.Note("could not remove old checkpoints: " + err.Error())
	}
	if r.kept.shared, err = session.ShareCheckpoints(ctx, r.kept.dir); err != nil {
		return err
	}
	return r.tree.KeepIn(r.kept.dir)
}

// withLossHint adds a hint to an error if something has disappeared during the run.
func withLossHint(err error) error {
	if _, known := hint.Of(err); known || !worktree.Gone(err) {
		return err
	}
	return hint.Add(err, "it was there when the run began: was it the agent?")
}

// reachable is a run as seen from other processes.
type reachable struct {
	*Control
	*standing.Board
	now func() time.Time
}

// Steer implements [door.Run].
func (r reachable) Steer(kind loop.SteerKind, text string) error {
	if err := r.Control.Steer(kind, text); err != nil {
		return err
	}
	if logged := r.Logged(); logged != nil {
		select {
		case <-logged:
		case <-time.After(time.Second): // its disk is slow
		}
	}
	return nil
}

// Watched implements [door.Run].
func (r reachable) Watched() { r.watched(r.now()) }

// open tracks where the run stands and makes it reachable. A run that cannot be reached goes on
// all the same.
func (r *running) open(ctx context.Context) {
	c := r.Config
	r.board = &standing.Board{State: &r.own.state, Known: standing.Standing{
		Session: r.ID(), PID: os.Getpid(), WorkTree: r.Root(), Log: r.Log(),
		Prompt: standing.Title(r.options.Prompt), Strategy: r.strategy().Name, Began: r.options.Host.Now(),
		Limits: standing.Limits{
			Iterations: c.MaxIterations, Tokens: int64(c.MaxTokens), CostUSD: c.MaxCost,
			DurationSecs: c.MaxDuration.Seconds(), TurnSecs: c.Actor.Timeout.Seconds(),
		},
	}}
	path, err := r.tree.Door()
	if path != "" && err == nil {
		r.door, err = door.Open(ctx, path, reachable{r.control, r.board, r.options.Host.Now})
	}
	if r.options.Debug == nil {
		return
	}
	switch {
	case err != nil:
		r.options.Debug("the run cannot be reached from elsewhere: " + err.Error())
	case r.door == nil:
		r.options.Debug("the run cannot be reached from elsewhere: there is no home directory")
	}
}
