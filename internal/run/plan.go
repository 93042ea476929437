package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/policy/tamper"
	"codeloops/internal/run/crew"
	"codeloops/internal/run/worktree"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/strategy"
	"codeloops/internal/view"
	"codeloops/internal/wording/hint"
)

// Options are what a front end says about a run.
type Options struct {
	Host    *host.Host
	Version string // of codeloops, for the log
	Dir     string // the agents' working directory, relative to the host's
	Prompt  string // of a new session
	Task    string // the queue's task that the session works on; "": none
	Since   string // the commit that the work of a new session is measured from; "": the files that are there
	Say     string // what the actor is told in its next turn when a session is resumed; "": nothing
	// Words are what the user has said about the task before: all that the log of the session
	// does not have is said when the run begins.
	Words    []string
	Settings Settings
	Judge    *Judged // only judge work that was done before; nil: play the actor
	// Project is a project's configuration file that was read earlier, and applies instead of any that is there now; nil
	// is none.
	Project *config.ProjectFile
	// Global is a copy of the user's configuration file that applies instead of that; "" is none.
	Global string

	// Around wraps each of the run's agents. It is asked each time a process would be started for
	// a turn, and may refuse it with [loop.Stop]. May be nil.
	Around func(crew.TurnInfo, agent.Player) agent.Player
	// MaxWait is an upper limit for max_wait in the configuration; 0: none.
	MaxWait time.Duration

	// Outputs are the files that the front end writes during the run: absolute paths, with what
	// goes there.
	Outputs map[string]string

	User
	// Dropped is called for a sink that failed, or that hung when the run was to stop: it gets no
	// more events. May be nil.
	Dropped func(loop.Sink, error)
}

// A Plan is a run that could start: everything that can be refused has been checked, and nothing
// has been started or written. When a session is resumed, its log and its lock are taken first,
// because others could change what the checks depend on.
type Plan struct {
	Dir    string // the agents' working directory, absolute and without symbolic links
	Config *config.Config
	crew.Players
	Logs string // directory of the session logs

	options  Options
	settings Settings // given now and when the session began
	tree     *worktree.Tree
	choice   strategy.Choice // how the agents are driven
	casting  *crew.Casting
	tables   *tamper.Tables // of what tests look like
	control  *Control
	earlier  *session.Course // the session to resume; nil for a new one
	own      own
}

// own is the state of a run.
type own struct {
	log    *session.Recorder
	lock   *session.Lock // of the work tree
	state  progress.State
	last   last
	memory memory
	drive  loop.Strategy // with that memory
	accept bool          // resume whatever the work tree looks like
}

// Prepare returns the plan of a new session. The caller closes it.
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

// Fit says who would play, and rejects settings with which no run could ever begin: wrong or
// contradictory ones, and unknown agents. Agents that are not installed or signed in are no error,
// because the run may be on another machine: lack says what is missing on this one, and the cast is
// the zero value.
func Fit(ctx context.Context, o Options) (cast loop.Cast, lack, err error) {
	p, err := open(ctx, o, o.Host.Path(o.Dir))
	if err != nil {
		return cast, nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	p.settings = o.Settings
	if err = p.load(); err != nil {
		return cast, nil, err
	}
	if err = p.cast(ctx); err != nil && crew.Elsewhere(err) {
		return cast, err, crew.CheckNames(o.Host, p.Config)
	} else if err != nil {
		return cast, nil, err
	}
	return p.Logged(), nil, nil
}

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

// settle loads the configuration and derives the rest of the plan from it.
func (p *Plan) settle(ctx context.Context) error {
	if p.earlier == nil { // a resumed session compares with its own start, and tells the critic
		if err := worktree.CheckDir(p.tree); err != nil {
			return err
		}
	}
	if err := p.load(); err != nil {
		return err
	}
	if err := checkLogDir(p.tree, p.Logs); err != nil {
		return err
	}
	if err := checkOutputs(ctx, p.tree, p.options.Outputs); err != nil {
		return err
	}
	return p.cast(ctx)
}

func (p *Plan) load() (err error) {
	h := p.options.Host
	p.Config, err = config.Load(config.Options{
		Flags: p.settings.Values(), Env: h.Environ, Home: h.Home(), WorkingDir: p.Dir,
		RepositoryRoot: p.tree.Root(), MainTree: git.First(p.tree.CommonDir()), TrustProject: p.settings.Trusts(), Project: p.options.Project, Global: p.options.Global,
	})
	if err != nil {
		return err
	}
	if longest := p.options.MaxWait; longest > 0 {
		p.Config.MaxWait = min(p.Config.MaxWait, longest)
	}
	p.judgeOnly()
	if p.tables, err = tablesOf(p.Config); err != nil {
		return err
	}
	p.Logs, err = p.Config.Sessions()
	return err
}

// cast finds the strategy and the players.
func (p *Plan) cast(ctx context.Context) (err error) {
	script, _ := p.settings.Said("script")
	if p.casting, err = crew.New(p.options.Host, p.Config, p.Dir, script); err != nil {
		return err
	}
	p.casting.Around = p.options.Around
	if judge := p.options.Judge; judge != nil {
		p.casting.Worked = &judge.By
	}
	if p.choice, err = strategy.Read(p.strategy()); err != nil {
		return err
	}
	if p.own.drive, err = p.choice.Drive(&p.own.memory); err != nil {
		return err
	}
	if err := cmp.Or(checkApproval(p), checkThreshold(p), checkWitness(p)); err != nil {
		return err
	}
	p.tellIdle()
	if p.Players, err = p.casting.Find(ctx, p.choice.Cast()); err == nil && p.choice.Refines() {
		err = p.casting.Fit(p.Actor.Reading(p.Config))
	}
	return err
}

// tellIdle names the roles that have settings and do not play, and a form of critiques that nobody writes.
func (p *Plan) tellIdle() {
	plays := p.choice.Cast()
	var idle []string
	for _, name := range slices.Sorted(maps.Keys(p.Config.Strategy.Roles)) {
		if _, is := plays[loop.Role(name)]; !is {
			idle = append(idle, name)
		}
	}
	if len(idle) > 0 {
		p.options.Tell(fmt.Sprintf("the settings of these roles have no effect, because %s does not play them: %s", p.choice.Kind.Name, strings.Join(idle, ", ")))
	}
	if part := p.choice.Unjudged(); part != "" && p.Config.Policy.Critique != "free" {
		p.options.Tell(fmt.Sprintf("policy.critique = %q has no effect on %s, which asks no critic", p.Config.Policy.Critique, part))
	}
}

// checkApproval rejects a plan approval if nobody can answer, or if the strategy makes no plan.
func checkApproval(p *Plan) error {
	makes, asks := p.choice.Plans()
	switch {
	case asks && makes && p.options.Alone:
		return hint.Errorf("run it on a terminal, or with --wait-for-answers", "you are to approve the plan, and there is no terminal to ask on")
	case makes && p.settings.has("approve-plan") && p.settings.on("approve-plan") != asks: // as the log says
		return hint.Errorf("leave out --approve-plan, or begin a new session", "session %s was begun with approve_plan = %t", p.earlier.Origin.ID, asks)
	case !makes && p.settings.on("approve-plan"):
		return hint.Errorf("choose --strategy "+strategy.NamePlan+", or leave it out", "--approve-plan is of a strategy that plans, and %s does not", p.choice.Kind.Name)
	}
	return nil
}

// checkThreshold rejects a minimum score if no critic is asked for one: the run could never be done.
func checkThreshold(p *Plan) error {
	part := p.choice.Unjudged()
	if p.Config.ApprovalThreshold <= 0 || part == "" {
		return nil
	}
	return hint.Errorf("choose a strategy or a base with a critic, such as "+strategy.NameActorCritic+", or set approval_threshold = 0",
		"%s asks no critic for a score, and approval_threshold is %v", part, p.Config.ApprovalThreshold)
}

// checkWitness rejects a required witness that nothing could give.
func checkWitness(p *Plan) error {
	asked := p.Config.Policy.Witness
	switch {
	case asked == "off":
	case len(p.Config.Checks) == 0 && asked == "require":
		return hint.Errorf("give the command that runs the tests: --check 'COMMAND'", "a witness is required, and there is no check that could give one")
	case len(p.Config.Checks) == 0:
		p.options.Tell("policy.witness has no effect, because there is no check that runs the tests")
	case p.Config.CriticView == string(view.Tree) && asked == "require":
		return hint.Errorf("leave out critic_view, or set another one", "a witness is required, and with critic_view = %q nothing can be run on the code as it was", view.Tree)
	}
	return nil
}

// strategy is the strategy to play, with its parameters. A resumed session keeps its own.
func (p *Plan) strategy() (ref loop.StrategyRef) {
	if p.earlier != nil {
		return p.earlier.Origin.Strategy
	}
	k, _ := strategy.Find(p.Config.Strategy.Name)
	return k.With(p.Config.Strategy.Values()).Ref()
}

// checkLogDir rejects a log directory that the agents can write to: a log that an actor can
// change proves nothing about it.
func checkLogDir(tree *worktree.Tree, dir string) error {
	for _, of := range tree.Agents() {
		if worktree.Below(of, dir) {
			return hint.Errorf("keep them elsewhere: --session-dir DIR",
				"session logs in %s would lie in %s, where the agents can write", dir, of)
		}
	}
	return nil
}

// checkOutputs rejects files of the front end that would count as work: they grow after each capture, so
// no DONE could ever count.
func checkOutputs(ctx context.Context, tree *worktree.Tree, files map[string]string) error {
	for file, what := range files {
		counts, err := tree.Counts(ctx, worktree.Followed(file))
		if err != nil {
			return err
		}
		if st, err := os.Stat(file); counts && (err != nil || st.Mode().IsRegular()) {
			return hint.Errorf("write it elsewhere, or into a file that git ignores",
				"%s would go to %s in the work tree, and count as work", what, file)
		}
	}
	return nil
}

// Root returns the root of the work tree.
func (p *Plan) Root() string { return p.tree.Root() }

// Control returns the control of the run, which is valid before the run as well.
func (p *Plan) Control() *Control { return p.control }

// BrokeOff names the last session of the work tree if it broke off: its work may be unjudged.
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

// ID names the session; "" before a new one begins.
func (p *Plan) ID() string {
	if p.own.log == nil {
		return ""
	}
	return p.own.log.ID()
}

// Log is the path of the session's log; "" before a new one begins.
func (p *Plan) Log() string {
	if p.own.log == nil {
		return ""
	}
	return p.own.log.Path()
}

// State is what the session has come to; before the run of a resumed one, in its earlier runs.
func (p *Plan) State() progress.State { return p.own.state }

// Last is what was last said about the work.
func (p *Plan) Last() session.Last { return p.own.last.Last }

// last is a [loop.Sink] that keeps what was last said about the work.
type last struct{ session.Last }

// Handle implements [loop.Sink].
func (l *last) Handle(_ loop.Stamp, e loop.Event) error {
	switch e := e.(type) { //nolint:gochecksumtype // no other event says anything of the work
	case loop.ChecksFinished:
		l.SetChecks(e.Checks)
	case loop.IterationFinished:
		l.Last = session.LastOf(e.Round)
	}
	return nil
}

// Beside lists files that git ignores, that were written since a time, and that look like work.
func (p *Plan) Beside(ctx context.Context, since time.Time) []string {
	return p.tree.WrittenBeside(ctx, since, p.options.Prompt)
}

// Release gives back the log and the lock of the work tree after the run. What the plan knows can still be asked.
func (p *Plan) Release() {
	if p.own.log != nil {
		_ = p.own.log.Close() // a failed write has been reported
	}
	if p.own.lock != nil {
		_ = p.own.lock.Close() // the system releases it in any case
	}
}

// Close releases what the plan holds. The end of a run has closed the log; an empty log is
// removed.
func (p *Plan) Close() error {
	p.Release()
	return p.tree.Close()
}
