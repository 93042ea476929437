package proc

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// A Runner runs commands. It is safe for concurrent use.
type Runner struct {
	now  func() time.Time
	host *host

	runs   sync.WaitGroup
	mu     sync.Mutex
	killed chan struct{} // closed by Kill, which ends the current runs
	closed bool
}

// NewRunner returns a runner. If what it needs cannot be started, Run returns the
// error. On Linux this process adopts orphans from then on (PR_SET_CHILD_SUBREAPER in
// prctl(2)), and its runners share their keepers. now is the clock for durations.
func NewRunner(now func() time.Time) *Runner {
	return &Runner{now: now, host: newHost(), killed: make(chan struct{})}
}

// Run runs a command and returns when nothing of it is left running. A command that is
// stopped, for whatever reason, is a Result, not an error; so is a ctx that is done
// before the start. Errors are a [*StartError] for a command that cannot run, an
// [*OverlayError], a [*SurvivorError], [ErrKeeper], [ErrClosed], or an error of the
// record files. With a [*SurvivorError] or [ErrKeeper] the Result holds what is known.
func (r *Runner) Run(ctx context.Context, cmd Command) (Result, error) {
	killed, err := r.enter()
	if err != nil {
		return Result{}, err
	}
	defer r.runs.Done()
	if ctx.Err() != nil {
		return Result{ExitCode: -1, Stop: StopCancelled}, nil
	}
	sp, err := resolve(cmd.Invocation)
	if err != nil {
		return Result{}, err
	}
	if sp.View = cmd.View; !sp.empty() && runtime.GOOS != "linux" {
		return Result{}, &OverlayError{Err: errors.ErrUnsupported}
	}
	if sp.io, err = openStreams(cmd); err != nil {
		return Result{}, err
	}
	defer sp.io.close()
	return r.run(ctx, cmd, sp, killed)
}

func (r *Runner) run(ctx context.Context, cmd Command, sp spawn, killed <-chan struct{}) (Result, error) {
	began := r.now()
	c, err := r.host.start(sp)
	if err != nil {
		return Result{}, err
	}
	defer c.leader.close()
	sp.io.begin(c, cmd.Watch, r.now)
	fed := sp.io.feedChild()
	s := supervisor{cmd: cmd, child: c, io: sp.io, killed: killed, now: r.now}
	rep, stop := s.supervise(ctx)
	took := r.now().Sub(began)
	fed()
	late, err := sp.io.finish()
	if se, ok := errors.AsType[*StartError](rep.err); ok {
		return Result{}, se
	}
	if oe, ok := errors.AsType[*OverlayError](rep.err); ok {
		return Result{}, oe
	}
	if len(rep.Survivors) > 0 {
		rep.err = &SurvivorError{Processes: rep.Survivors}
	}
	res := rep.Result
	res.Stop, res.Duration, res.Late = stop, took, late
	return res, errors.Join(rep.err, err, res.take(sp.io))
}

func (r *Result) take(io *streams) (err error) {
	if r.Stdout, err = io.stdout.captured(); err != nil || io.stderr == io.stdout {
		return err
	}
	r.Stderr, err = io.stderr.captured()
	return err
}

func (r *Runner) enter() (killed <-chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	r.runs.Add(1)
	return r.killed, nil
}

// Kill immediately kills every running command with all its descendants. It does not
// wait for them: their Runs return as usual.
func (r *Runner) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.killed)
	r.killed = make(chan struct{})
}

// Close kills what is running, waits for it, and releases the runner's resources.
// Later calls of Run return [ErrClosed].
func (r *Runner) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.Kill()
	r.runs.Wait()
	return r.host.close()
}
