package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/session"
	"codeloops/internal/session/door"
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
	MaxIterations int     `json:"max_iterations,omitempty" jsonschema:"end after this many iterations"`
	MaxCostUSD    float64 `json:"max_cost_usd,omitempty" jsonschema:"end when the turns have cost this many US dollars"`
}

// flags are the arguments as flags of a command line.
func (in startInput) flags() (flags []string) {
	for _, f := range []struct{ name, value string }{
		{"agent", in.Agent},
		{"actor-agent", in.ActorAgent},
		{"critic-agent", in.CriticAgent},
		{"max-iterations", strconv.Itoa(in.MaxIterations)},
		{"max-cost", strconv.FormatFloat(in.MaxCostUSD, 'f', -1, 64)},
	} {
		if f.value != "" && f.value != "0" {
			flags = append(flags, "--"+f.name+"="+f.value)
		}
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
	task, err := scratch(in.Prompt)
	if err != nil {
		return progress{}, err
	}
	defer task.Close() //nolint:errcheck // only read
	result, err := scratch("")
	if err != nil {
		return progress{}, err
	}
	defer result.Close() //nolint:errcheck // the run has its own
	id, err := c.begin(ctx, proc.Tool{
		Argv:  append([]string{c.server.self, "run", "--quiet", "--json-output", "--prompt-file=-", "--working-dir=" + c.Dir}, in.flags()...),
		Stdin: task, Stdout: result, OwnSession: true,
	})
	if err != nil {
		return progress{}, err
	}
	if id == "" { // it is over already
		if id, err = resultOf(result); err != nil {
			return progress{}, err
		}
	}
	one, err := c.find(id)
	if err != nil {
		return progress{}, err
	}
	return c.progress(ctx, one), nil
}

// begin starts a run and waits for its session; "" is a run that has ended before it was seen. Only until then, the
// end of ctx is the end of the run.
func (c *call) begin(ctx context.Context, run proc.Tool) (id string, err error) {
	own, kill := context.WithCancel(context.WithoutCancel(ctx))
	pids, ended := make(chan int, 1), make(chan error, 1)
	run.Started = func(pid int) { pids <- pid }
	go func() { // to the end of the run, or of this process
		_, err := run.Run(own)
		ended <- err
		kill()
	}()
	pid := 0
	for {
		select {
		case pid = <-pids:
		case err := <-ended:
			return "", err
		case <-ctx.Done():
			kill()
			return "", context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
		if r, ok := c.Logs().RunHere(ctx, look); ok && r.Holder.Lock.PID == pid {
			if _, err := c.find(r.Holder.Lock.Session); err == nil {
				return r.Holder.Lock.Session, nil
			}
		}
	}
}

// scratch makes a file with a text that is gone when it is closed. A pipe would end a run together with its reader.
func scratch(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "codeloops-mcp-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // on Windows, an open file stays
	if _, err = io.WriteString(f, text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// resultOf reads the document of a run that has ended. The error says why there is no session.
func resultOf(f io.ReaderAt) (id string, err error) {
	var doc ended
	if err := json.NewDecoder(io.NewSectionReader(f, 0, 1<<30)).Decode(&doc); err != nil {
		return "", hint.Errorf("try it on the command line", "the run ended without a word: %w", err)
	}
	return doc.Session, doc.refused()
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
			p.stands(at, c.Screen().Segment(at, c.Now()))
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
	for r := range rounds(session.ReadLean(one.Path)) {
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
	out, err := c.codeloops(ctx, text, args...)
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
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(os.Interrupt)
	}
	if err != nil {
		return told{}, fmt.Errorf("interrupt the run (process %d): %w", pid, err)
	}
	return told{Session: one.ID, Message: "the run is interrupted: its agents get some seconds to end"}, nil
}
