package mcpserver

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"codeloops/internal/launch"
	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/session/door"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/session/standing"
	"codeloops/internal/wording/hint"
)

// longestWait is how long a call lasts at most: clients give up after 45 seconds or more. Look is how often a run
// is looked at meanwhile.
const (
	longestWait = 40 * time.Second
	look        = 200 * time.Millisecond
)

func (s *server) addRuns(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "run_start", Annotations: changes("Start a run", true),
		Description: "Start a run of codeloops: an actor works on the task in this work tree, a critic judges, until it says DONE. " +
			"Returns the id of the session as soon as the run has begun; run_wait tells how it goes. The run goes on without you.",
	}, func(ctx context.Context, c *call, in startInput) (progress, error) { return c.start(ctx, in) })
	add(s, m, &mcp.Tool{
		Name: "run_wait", Annotations: looks("Wait for a run"),
		Description: "Wait until a run has ended, for at most 40 seconds a call, and tell where it stands. Call it again while running is true.",
	}, func(ctx context.Context, c *call, in waitInput) (progress, error) { return c.wait(ctx, in) })
	add(s, m, &mcp.Tool{
		Name: "run_say", Annotations: changes("Tell a run something", false),
		Description: "Add something to the task of a run. Its actor gets it in its next turn, and its critic judges by it.",
	}, func(ctx context.Context, c *call, in sayInput) (told, error) {
		args := []string{"say"}
		if in.Now {
			args = append(args, "--now")
		}
		return c.steer(ctx, in.Session, in.Text, args...)
	})
	add(s, m, &mcp.Tool{
		Name: "run_stop", Annotations: changes("Stop a run", true),
		Description: "Stop a run after its current iteration, or at once. Its work stays, and `codeloops resume` can carry it on.",
	}, func(ctx context.Context, c *call, in stopInput) (told, error) { return c.stop(ctx, in) })
}

// A startInput is what a run is to do. There is no argument that runs a command or that allows a run more than the
// user's configuration does.
type startInput struct {
	place

	Prompt        string  `json:"prompt" jsonschema:"the task: what should be true when the work is done, and how to verify it"`
	Agent         string  `json:"agent,omitempty" jsonschema:"the agent for both roles, such as claude or codex; default: as configured"`
	ActorAgent    string  `json:"actor_agent,omitempty" jsonschema:"the agent that works"`
	CriticAgent   string  `json:"critic_agent,omitempty" jsonschema:"the agent that judges"`
	Strategy      string  `json:"strategy,omitempty" jsonschema:"such as plan-and-execute; default: as configured"`
	ApprovePlan   bool    `json:"approve_plan,omitempty" jsonschema:"plan-and-execute: have the user approve the plan; the run waits for that"`
	MaxIterations int     `json:"max_iterations,omitempty" jsonschema:"end after this many iterations"`
	MaxCostUSD    float64 `json:"max_cost_usd,omitempty" jsonschema:"end when the turns have cost this many US dollars"`
}

// flags are the arguments as flags of a command line.
func (in startInput) flags() (flags []string) {
	for _, f := range []struct{ name, value string }{
		{"agent", in.Agent},
		{"actor-agent", in.ActorAgent},
		{"critic-agent", in.CriticAgent},
		{"strategy", in.Strategy},
		{"max-iterations", strconv.Itoa(in.MaxIterations)},
		{"max-cost", strconv.FormatFloat(in.MaxCostUSD, 'f', -1, 64)},
	} {
		if f.value != "" && f.value != "0" {
			flags = append(flags, "--"+f.name+"="+f.value)
		}
	}
	if in.ApprovePlan {
		flags = append(flags, "--approve-plan", "--wait-for-answers")
	}
	return flags
}

// within rejects limits that are wider than the configured ones.
func (c *call) within(in startInput) error {
	cfg, err := c.Logs().Config()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		name        string
		asked, most float64
	}{{"max_iterations", float64(in.MaxIterations), float64(cfg.MaxIterations)}, {"max_cost_usd", in.MaxCostUSD, cfg.MaxCost}} {
		if l.asked < 0 || l.most > 0 && l.asked > l.most {
			return hint.Errorf("leave it out, or have the user change the configuration", "%s can be at most %v here, not %v", l.name, l.most, l.asked)
		}
	}
	return nil
}

// start starts a run in a process of its own, and returns when it has begun.
func (c *call) start(ctx context.Context, in startInput) (progress, error) {
	if err := c.RequireUser(map[string]bool{"run_start": true}); err != nil {
		return progress{}, err
	}
	if err := c.within(in); err != nil {
		return progress{}, err
	}
	id, err := c.launch(ctx, in.Prompt, append([]string{"run", "--prompt-file=-", "--working-dir=" + c.Dir}, in.flags()...)...)
	if err != nil {
		return progress{}, err
	}
	one, err := c.find(id)
	if err != nil {
		return progress{}, err
	}
	return c.progress(ctx, one), nil
}

// launch starts a run of this server's program.
func (c *call) launch(ctx context.Context, text string, args ...string) (id string, err error) {
	return launch.Launcher{Program: c.server.self, Logs: c.Logs().Logs}.Run(ctx, text, args...)
}

type waitInput struct {
	place

	Session string  `json:"session,omitempty" jsonschema:"id of the session; default: the latest in this work tree"`
	Seconds float64 `json:"seconds,omitempty" jsonschema:"how long to wait at most, up to 40"`
}

// wait waits for the end of a run, or until the client has to be answered.
func (c *call) wait(ctx context.Context, in waitInput) (progress, error) {
	one, err := c.find(in.Session)
	if err != nil {
		return progress{}, err
	}
	most := c.server.most
	if in.Seconds > 0 {
		most = min(most, time.Duration(in.Seconds*float64(time.Second)))
	}
	over := time.After(most)
	for {
		_, pid, _ := c.run(one.ID) // what has ended may hold the work tree for a moment
		at := c.progress(ctx, one)
		if !at.Running && pid == 0 {
			return at, nil
		}
		c.tell(ctx, at.Now)
		select {
		case <-over:
			return at, nil
		case <-ctx.Done():
			return at, context.Cause(ctx)
		case <-time.After(look):
		}
		one = session.Look(one.Path)
	}
}

// A progress is where a session stands.
type progress struct {
	Session    string   `json:"session" jsonschema:"id of the session"`
	Running    bool     `json:"running"`
	Outcome    string   `json:"outcome" jsonschema:"running, success, max_iterations_reached, budget_exhausted, failed, interrupted, or crashed: its process was killed"`
	StopReason string   `json:"stop_reason,omitempty" jsonschema:"why it ended, in one word"`
	Question   string   `json:"question,omitempty" jsonschema:"what the run asks the user; run_say answers"`
	Now        string   `json:"now,omitempty" jsonschema:"what is under way"`
	Iterations int      `json:"iterations" jsonschema:"finished ones"`
	Summary    string   `json:"summary,omitempty" jsonschema:"what was done, or why it ended"`
	Confidence *float64 `json:"confidence,omitempty" jsonschema:"of the critic, from 0 to 1"`
	Feedback   string   `json:"feedback,omitempty" jsonschema:"what the critic last found missing"`
	Files      int      `json:"files_changed"`
	Insertions int      `json:"insertions"`
	Deletions  int      `json:"deletions"`
	Tokens     int64    `json:"tokens"`
	CostUSD    float64  `json:"cost_usd"`
	Seconds    float64  `json:"duration_secs"`
	Log        string   `json:"log" jsonschema:"the file with everything that happened"`
	Next       string   `json:"next,omitempty" jsonschema:"what to do now"`
}

// progress tells where a session stands, from its run or else from its log.
func (c *call) progress(ctx context.Context, one session.Overview) progress {
	one = c.Logs().WithDuration(one)
	p := progress{
		Session: one.ID, Outcome: string(one.Status), Running: one.Status == session.Running,
		Iterations: max(0, one.Iterations), Seconds: one.Duration.Seconds(), Log: one.Path,
	}
	if p.Running {
		p.Next = "call run_wait again; run_say and run_stop steer it"
		if at, err := c.ask(ctx, one.ID); err == nil {
			p.stands(at, sessionview.UnderWay(at, c.Now()))
		}
		return p
	}
	if o := one.Outcome; o != nil {
		p.StopReason, p.Summary, p.Confidence = string(o.Reason), o.Summary, o.Confidence
	}
	p.tally(one)
	p.Next = "session_show tells what happened; `codeloops resume " + one.ID + "` carries it on"
	if loop.Result(one.Status) == loop.Success {
		p.Next = "session_diff shows the change"
	}
	return p
}

// stands takes over what the run itself says.
func (p *progress) stands(at standing.Standing, now string) {
	p.Now, p.Iterations = now, max(0, at.Now.Iteration-1)
	if p.Question = at.Now.Question; p.Question != "" {
		p.Next = "ask the user, and give the answer with run_say"
	}
	p.Files, p.Insertions, p.Deletions = at.Change.Files, at.Change.Insertions, at.Change.Deletions
	p.Tokens, p.CostUSD = at.Spent.Tokens, at.Spent.CostUSD
}

// tally takes over what the log of a session adds up to.
func (p *progress) tally(one session.Overview) {
	if one.Tally == nil {
		counted := []session.Overview{one}
		session.Count(counted)
		one.Tally = counted[0].Tally
	}
	if t := one.Tally; t != nil {
		total := t.Spent.Total()
		p.Files, p.Insertions, p.Deletions = t.FilesChanged, t.Insertions, t.Deletions
		p.Iterations, p.Tokens, p.CostUSD = t.Iterations, total.Tokens, total.CostUSD
	}
	for r := range rounds(session.Read(one.Path)) {
		if p.Feedback = ""; r.Verdict.Decision != loop.Done {
			p.Feedback = r.Verdict.Guidance()
		}
	}
}

// ask asks the run of a session where it stands.
func (c *call) ask(ctx context.Context, id string) (at standing.Standing, err error) {
	run, _, err := c.run(id)
	if err != nil {
		return at, err
	}
	return run.Look(ctx)
}

// run returns the way to the run of a session, and its process.
func (c *call) run(id string) (run *door.Client, pid int, err error) {
	for _, h := range session.Holders(c.Data("locks")) {
		if h.Lock.Session == id {
			return &door.Client{Path: h.Door, Session: id}, h.Lock.PID, nil
		}
	}
	return nil, 0, hint.Errorf("`codeloops resume "+id+"` carries it on if it was not done", "session %s does not run", id)
}

type sayInput struct {
	place

	Session string `json:"session,omitempty" jsonschema:"id of the session; default: the latest in this work tree"`
	Text    string `json:"text" jsonschema:"what to add to the task"`
	Now     bool   `json:"now,omitempty" jsonschema:"end the actor's turn now, and begin the next one with the text"`
}

type stopInput struct {
	place

	Session string `json:"session,omitempty" jsonschema:"id of the session; default: the latest in this work tree"`
	Now     bool   `json:"now,omitempty" jsonschema:"interrupt the turn under way instead of waiting for the end of the iteration"`
	Off     bool   `json:"off,omitempty" jsonschema:"do not stop it after all"`
}

// A told is the answer of a run to what it was told.
type told struct {
	Session string `json:"session"`
	Message string `json:"message" jsonschema:"what the run does now"`
}

// steer tells a run something with a command.
func (c *call) steer(ctx context.Context, ref, text string, args ...string) (told, error) {
	one, err := c.find(ref)
	if err != nil {
		return told{}, err
	}
	args = append(args, "--", one.ID)
	if text != "" {
		args = append(args, "-")
	}
	out, err := c.codeloops().Output(ctx, text, args...)
	return told{Session: one.ID, Message: string(out)}, err
}

// stop has a run stop.
func (c *call) stop(ctx context.Context, in stopInput) (told, error) {
	switch {
	case in.Off && in.Now:
		return told{}, errors.New("off and now contradict each other")
	case in.Off:
		return c.steer(ctx, in.Session, "", "stop", "--off")
	case !in.Now:
		return c.steer(ctx, in.Session, "", "stop")
	}
	one, err := c.find(in.Session)
	if err != nil {
		return told{}, err
	}
	if err := c.RequireUser(map[string]bool{"run_stop": true}); err != nil {
		return told{}, err
	}
	_, pid, err := c.run(one.ID)
	if err != nil {
		return told{}, err
	}
	if err := launch.Interrupt(pid); err != nil {
		return told{}, err
	}
	return told{Session: one.ID, Message: "the run is interrupted: its agents get some seconds to end"}, nil
}
