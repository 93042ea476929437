package run

import (
	"context"
	"errors"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/run/crew"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/strategy"
	"codeloops/internal/wording/hint"
)

// Options are what a front end says of a run.
type Options struct {
	Host     *host.Host
	Version  string // of codeloops, for the log
	Dir      string // where the agents work, from the host's directory
	Prompt   string // of a new session
	Task     string // of a queue, that the session works on; "" is none
	Say      string // what the actor is told in its next turn, of a session that is carried on; "" is nothing
	Settings Settings

	// Around puts something between the run and each of its agents, which is asked each time that a
	// process would be started for a turn, and may refuse it with [loop.Stop]. May be nil.
	Around func(crew.Stake, agent.Player) agent.Player
	// MaxWait is the longest wait for a limit, whatever the configuration says; 0: as that says.
	MaxWait time.Duration

	User
	// Dropped is told of a sink that failed, or did not come back when the run was to
	// stop: it gets nothing more. May be nil.
	Dropped func(loop.Sink, error)
}

// A Plan is a run that could start: everything that can be refused has been
// looked at, and nothing has been started or written. Of a session to carry on, the
// log and the lock are taken first: what they keep others from changing decides.
type Plan struct {
	Dir    string // where the agents work, absolute and free of symbolic links
	Config *config.Config
	crew.Players
	Logs string // directory of the session logs
	// Strategy is how the agents are driven.
	Strategy loop.Strategy

	options  Options
	settings Settings // what was said, now and when the session began
	tree     *worktree.Tree
	casting  *crew.Casting
	control  *Control
	earlier  *session.Course // of the session to carry on; nil for a new one
	own      own
}

// own is what a run has of its own while it lasts.
type own struct {
	log    *session.Recorder
	lock   *session.Lock // of the work tree
	state  progress.State
	last   last
	memory memory
	accept bool // carry on whatever the work tree looks like
}

// Prepare makes the plan of a new session. The caller closes it.
func Prepare(ctx context.Context, o Options) (*Plan, error) {
	p, err := open(ctx, o, o.Host.Path(o.Dir))
	if err != nil {
		return nil, err
	}
	p.settings = o.Settings
	if err := p.settle(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Fit says who would play, and refuses settings with which no run could ever begin: those that are
// wrong, or contradict each other, and agents that there are not. Which of the others are installed, and
// signed in, is the matter of the machine on which the run will be: where they are not here, the cast is
// the zero value.
func Fit(ctx context.Context, o Options) (cast loop.Cast, err error) {
	p, err := open(ctx, o, o.Host.Path(o.Dir))
	if err != nil {
		return cast, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	p.settings = o.Settings
	if err = p.load(); err != nil {
		return cast, err
	}
	if err = p.cast(ctx); err != nil && crew.Elsewhere(err) {
		return cast, crew.CheckNames(o.Host, p.Config)
	} else if err != nil {
		return cast, err
	}
	return p.Logged(), nil
}

// open opens the work tree of a plan.
func open(ctx context.Context, o Options, dir string) (*Plan, error) {
	dir, err := worktree.RealDir(dir)
	if err != nil {
		return nil, err
	}
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	p := &Plan{Dir: dir, options: o, control: newControl(o.Host.Secrets)}
	p.own.memory.plan = p
	p.tree, err = worktree.Open(ctx, o.Host, dir, o.Tell)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// settle works out the configuration and what follows from it.
func (p *Plan) settle(ctx context.Context) error {
	if err := p.load(); err != nil {
		return err
	}
	if err := mayKeepLogs(p.tree, p.Logs); err != nil {
		return err
	}
	return p.cast(ctx)
}

// load works out the configuration.
func (p *Plan) load() (err error) {
	h := p.options.Host
	p.Config, err = config.Load(config.Options{
		Flags: p.settings.values, Env: h.Environ, Home: h.Home(), WorkingDir: p.Dir,
		RepositoryRoot: p.tree.Root(), TrustProject: p.settings.Trusts(), Outputs: agent.Formats(),
	})
	if err != nil {
		return err
	}
	if longest := p.options.MaxWait; longest > 0 {
		p.Config.MaxWait = min(p.Config.MaxWait, longest)
	}
	p.Logs, err = p.Config.Sessions()
	return err
}

// cast finds who plays, and how.
func (p *Plan) cast(ctx context.Context) (err error) {
	if p.casting, err = crew.New(p.options.Host, p.Config, p.Dir, p.settings.text("script")); err != nil {
		return err
	}
	p.casting.Around = p.options.Around
	if p.Strategy, err = strategy.New(p.strategy(), &p.own.memory); err != nil {
		return err
	}
	kind, values, err := strategy.Read(p.strategy())
	if err != nil {
		return err
	}
	if err := mayAsk(p, kind, values); err != nil {
		return err
	}
	if p.Players, err = p.casting.Find(ctx, kind.Cast(values)); err == nil && kind.Refines(values) {
		err = p.casting.Fit(p.Actor.Reading(p.Config))
	}
	return err
}

// mayAsk refuses a strategy that is to ask about its plan where nobody can answer, or where it
// makes none.
func mayAsk(p *Plan, kind strategy.Kind, values strategy.Values) error {
	makes, asks := kind.Plans(values)
	switch {
	case asks && makes && p.options.Alone:
		return hint.Errorf("run it on a terminal, or without --approve-plan", "you are to approve the plan, and there is no terminal to ask on")
	case makes && p.settings.has("approve-plan") && p.settings.on("approve-plan") != asks: // as the log says
		return hint.Errorf("leave out --approve-plan, or begin a new session", "session %s was begun with approve_plan = %t", p.earlier.Session.ID, asks)
	case !makes && p.settings.on("approve-plan"):
		return hint.Errorf("choose --strategy "+strategy.NamePlan+", or leave it out", "--approve-plan is of a strategy that plans, and %s does not", kind.Name)
	}
	return nil
}

// strategy is the one that is played, with its parameters. A session that is carried on
// keeps its own.
func (p *Plan) strategy() (ref loop.StrategyRef) {
	if p.earlier != nil {
		return p.earlier.Session.Strategy
	}
	k, _ := strategy.Find(p.Config.Strategy.Name)
	return k.Ref(p.Config.Strategy.Values())
}

// mayKeepLogs refuses logs where the agents work: what an actor can write says
// nothing of what it was held to.
func mayKeepLogs(tree *worktree.Tree, dir string) error {
	for _, of := range tree.Agents() {
		if worktree.Below(of, dir) {
			return hint.Errorf("keep them elsewhere: --session-dir DIR",
				"session logs in %s would lie in %s, where the agents can write", dir, of)
		}
	}
	return nil
}

// Root is the work tree.
func (p *Plan) Root() string { return p.tree.Root() }

// Control reaches the run, before and while it goes on.
func (p *Plan) Control() *Control { return p.control }

// BrokeOff names the last session of the work tree if it broke off: its work may not
// have been judged.
func (p *Plan) BrokeOff() (id string, ok bool) {
	store, err := session.NewStore(p.Logs)
	if err != nil {
		return "", false
	}
	id, err = store.Latest(lookup.PlaceOf(p.tree.Root(), p.tree.CommonDir()).Tree)
	if err != nil {
		return "", false
	}
	last := session.Look(store.Path(id))
	return id, last.Status == session.Crashed && last.Session.Checkpoint != ""
}

// ID names the session; "" before the run of a new one begins.
func (p *Plan) ID() string {
	if p.own.log == nil {
		return ""
	}
	return p.own.log.ID()
}

// Log is the path of the session's log; "" before the run of a new one begins.
func (p *Plan) Log() string {
	if p.own.log == nil {
		return ""
	}
	return p.own.log.Path()
}

// Tally is what the session has come to: before the run, what it had come to when it was carried on.
func (p *Plan) Tally() progress.Tally { return p.own.state.Tally }

// Kept are the steps whose states were kept, by checkpoint, likewise.
func (p *Plan) Kept() map[string]loop.Step { return p.own.state.Kept }

// Last is what was last said of the work.
func (p *Plan) Last() session.Last { return p.own.last.Last }

// last is the [loop.Sink] that keeps what was last said of the work.
type last struct{ session.Last }

// Handle never fails.
func (l *last) Handle(_ loop.Stamp, e loop.Event) error {
	switch e := e.(type) {
	case loop.ChecksFinished:
		l.Ran(e.Checks)
	case loop.IterationFinished:
		l.Last = session.LastOf(e.Round)
	case loop.Started, loop.Resumed, loop.IterationStarted, loop.PhaseEntered, loop.Activity, loop.TurnStarted, loop.TurnFinished, loop.Noted,
		loop.WaitStarted, loop.WaitFinished, loop.ActorFinished, loop.DiffCaptured, loop.Inspected, loop.BaselineChecked, loop.ReviewRejected,
		loop.CriticFinished, loop.Warned, loop.Finished, loop.Steered:
	}
	return nil
}

// Close gives back what the plan holds. Handling the end has closed the log; one to which
// nothing was written goes.
func (p *Plan) Close() error {
	if p.own.log != nil {
		_ = p.own.log.Close() // a write that failed has been told
	}
	if p.own.lock != nil {
		_ = p.own.lock.Close() // the system takes it back in any case
	}
	return p.tree.Close()
}
