package gates

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"codeloops/internal/config/host"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/run"
	"codeloops/internal/run/worktree"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Patience is how long a hook takes at most, unless told otherwise: agents end a hook after 10 minutes, and then it has
// decided nothing.
const Patience = 9*time.Minute + 30*time.Second

// The agents whose hooks are known.
const (
	Claude = "claude"
	Codex  = "codex"
)

// An Event is what an agent tells its hook, as far as it matters.
type Event struct {
	Name       string `json:"hook_event_name"`
	Session    string `json:"session_id"`
	Dir        string `json:"cwd"`
	Transcript string `json:"transcript_path"`
	Prompt     string `json:"prompt"`                 // of UserPromptSubmit
	Last       string `json:"last_assistant_message"` // what the agent says when it stops
	Agent      string `json:"agent_id"`               // of SubagentStop
	Own        string `json:"agent_transcript_path"`  // likewise
	Task       string `json:"task_id"`                // of TaskCompleted
	Subject    string `json:"task_subject"`           // likewise
	Text       string `json:"task_description"`       // likewise
	Tasks      []struct {
		ID any `json:"id"`
	} `json:"background_tasks"` // that go on after the agent has stopped
	Crons []any `json:"session_crons"` // likewise
}

// pending reports whether something goes on, and the agent will stop again. A sub-agent that stops is among the tasks
// itself.
func (e Event) pending() bool {
	for _, task := range e.Tasks {
		if e.Agent == "" || task.ID != e.Agent {
			return true
		}
	}
	return len(e.Crons) > 0
}

// part names what is judged by itself in a conversation: a sub-agent, or a task of the agent's list; "" is all of it.
func (e Event) part() string {
	switch e.Name {
	case subagentEnds:
		return e.Agent
	case taskCompleted:
		return cmp.Or(e.Task, e.Subject)
	}
	return ""
}

// The events that a hook answers.
const (
	prompted      = "UserPromptSubmit"
	stopped       = "Stop"
	subagentEnds  = "SubagentStop"
	taskCompleted = "TaskCompleted"
)

// A Reply is what a hook tells the agent.
type Reply struct {
	Decision string `json:"decision,omitempty"` // "block": go on
	Reason   string `json:"reason,omitempty"`   // for the agent
	Message  string `json:"systemMessage,omitempty"`
}

// A Hook answers the events of one agent.
type Hook struct {
	Agent  string
	Strict bool   // what could not be judged is not approved
	Rounds int    // after so many the agent is let go
	Since  string // a commit, "merge-base" or "start"; "" is start
	Within time.Duration

	Host     *host.Host
	Version  string // of this program
	Settings run.Settings
}

// options are those of a run that judges what is there.
func (h *Hook) options(dir string) run.Options {
	return run.Options{
		Host: h.Host, Version: h.Version, Dir: dir, Settings: h.Settings, User: run.User{Alone: true},
		Judge:   &run.Judged{By: loop.AgentRef{Agent: h.Agent}},
		MaxWait: h.Within / 10, // somebody sits there
	}
}

// maxEvent limits an event, in bytes.
const maxEvent = 16 << 20

// Answer reads an event and answers it. Nil is no answer: the agent does what it would have done. Whatever goes wrong is told
// to the user.
func (h *Hook) Answer(ctx context.Context, in io.Reader) *Reply {
	ctx, cancel := context.WithTimeoutCause(ctx, h.Within, fmt.Errorf("there was no verdict after %s", h.Within))
	defer cancel()
	e, err := read(in)
	if err != nil {
		return h.Unsure(err)
	}
	var reply *Reply
	switch e.Name {
	case prompted:
		if err = h.begin(ctx, e); err != nil && !errors.Is(err, git.ErrNotRepository) {
			return &Reply{Message: "codeloops has not noted what you ask for: " + hint.Sentence(err)}
		}
	case stopped, subagentEnds, taskCompleted:
		reply, err = h.stop(ctx, e)
	}
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return nil // the user's settings hold everywhere
	case err != nil:
		return h.Unsure(cmp.Or(context.Cause(ctx), err))
	}
	return reply
}

// read reads an event, and does not wait for what may follow it.
func read(in io.Reader) (e Event, err error) {
	if err := json.NewDecoder(io.LimitReader(in, maxEvent)).Decode(&e); err != nil {
		return e, fmt.Errorf("read the event of the hook: %w", err)
	}
	if e.Session == "" || e.Dir == "" {
		return e, errors.New("the event of the hook has no session_id or no cwd")
	}
	return e, nil
}

// Unsure is the answer if there is no verdict.
func (h *Hook) Unsure(err error) *Reply {
	what := "codeloops could not judge the work: " + strings.TrimSuffix(hint.Sentence(err), ".")
	if h.Strict {
		return &Reply{Decision: "block", Reason: cut(what + ".\nTell the user; do not try to mend it yourself.\n\n" + h.off())}
	}
	return &Reply{Message: what + ". Nobody has approved it."}
}

// off says how to get rid of the gate.
func (h *Hook) off() string {
	return "(The user can switch this gate off: codeloops gate uninstall " + h.Agent + ")"
}

// brief is how long a prompt waits for another event of its conversation, such as one whose critic was left to itself when the
// agent was killed.
const brief = 5 * time.Second

// begin keeps what a conversation begins with: what its user asks, and the state of the work tree then.
func (h *Hook) begin(ctx context.Context, e Event) error {
	soon, cancel := context.WithTimeoutCause(ctx, brief, errors.New("a critic is still judging for this conversation"))
	defer cancel()
	return h.with(soon, e.Session, func(c *conversation) error {
		if c.Over { // a new task
			*c = conversation{}
		}
		c.Rounds = 0 // somebody is there
		if strings.TrimSpace(e.Prompt) != "" {
			c.Asked = append(c.Asked, e.Prompt)
		}
		if c.Since != "" {
			return nil
		}
		h.tidy()
		seen := stats(ctx, h.Host.Environ, e.Dir)
		since, state, err := run.Begin(ctx, h.options(e.Dir), name(e.Session))
		if err != nil {
			return err
		}
		c.Since, c.Began, c.Kept = since, state, true
		c.Stats, c.State = seen, state
		return nil
	})
}

// stop judges the work of a conversation whose agent wants to stop.
func (h *Hook) stop(ctx context.Context, e Event) (reply *Reply, err error) {
	if e.pending() {
		return nil, nil //nolint:nilnil // it will stop again
	}
	var whole conversation
	of := e.Session
	if part := e.part(); part != "" {
		if err := h.with(ctx, e.Session, func(c *conversation) error { whole = *c; return nil }); err != nil {
			return nil, err
		}
		of += "/" + part
	}
	err = h.with(ctx, of, func(c *conversation) error {
		if c.Since == "" { // a part begins with what it is a part of
			c.Since, c.Kept, c.Began, c.Stats, c.State = whole.Since, whole.Kept, whole.Began, whole.Stats, whole.State
		}
		reply, err = h.round(ctx, e, c)
		return err
	})
	return reply, err
}

// round judges what has not been judged.
func (h *Hook) round(ctx context.Context, e Event, c *conversation) (*Reply, error) {
	state, err := h.look(ctx, e.Dir, c)
	if err != nil || state == c.Began {
		return nil, err
	}
	if state == c.Judged && len(c.Asked) == c.Told {
		if c.Approved {
			return nil, nil //nolint:nilnil // it was said
		}
		return h.decide(c), nil
	}
	if err := h.measure(ctx, e.Dir, c); err != nil {
		return nil, err
	}
	if !c.Kept { // else it has been seen
		o := h.options(e.Dir)
		o.Judge.Since = c.Since
		if changed, err := run.Differs(ctx, o); err != nil || !changed {
			return nil, err
		}
	}
	if err := c.judge(ctx, h, e); err != nil {
		return nil, err
	}
	c.Judged = state
	return h.decide(c), nil
}

// look returns the present state of the work tree. Nothing is read if no file was touched since it was looked at last.
func (h *Hook) look(ctx context.Context, dir string, c *conversation) (state string, err error) {
	seen := stats(ctx, h.Host.Environ, dir) // before the look: what changes meanwhile is looked at again
	if seen != "" && seen == c.Stats {
		return c.State, nil
	}
	if state, err = run.Look(ctx, h.options(dir)); err == nil {
		c.Stats, c.State = seen, state
	}
	return state, err
}

// measure finds what the work of a conversation is measured from, if that is not its beginning.
func (h *Hook) measure(ctx context.Context, dir string, c *conversation) (err error) {
	name := h.Since
	if name == "" || name == "start" {
		if c.Since != "" {
			return nil
		}
		name = "HEAD" // the gate was installed while it went on
	}
	if c.Since, err = worktree.Commit(ctx, h.Host, dir, name); err == nil && c.Kept {
		c.Kept, c.Session = false, ""
	}
	return err
}

// decide is the answer to a round.
func (h *Hook) decide(c *conversation) *Reply {
	if c.Approved {
		c.Over = true
		return &Reply{Message: cut("codeloops: approved. " + c.Says)}
	}
	if c.Rounds >= h.Rounds {
		return &Reply{Message: cut(fmt.Sprintf("codeloops lets go: the work is not approved, and was sent back %s.\n\n%s\n\n%s",
			wording.Count(c.Rounds, "time"), c.Says, c.look()))}
	}
	c.Rounds++
	return &Reply{Decision: "block", Reason: cut(fmt.Sprintf("codeloops: the work is not done (round %d of %d).\n\n%s\n\n%s\n%s",
		c.Rounds, h.Rounds, c.Says, c.look(), h.off()))}
}

// most is how many bytes of a text agents show as it is.
const most = 9_800

func cut(text string) string {
	if len(text) <= most {
		return text
	}
	const gap = "\n… (cut; codeloops sessions show latest has all of it)\n"
	tail := text[len(text)-most/8:]
	return strings.ToValidUTF8(text[:most-len(tail)-len(gap)], "") + gap + strings.ToValidUTF8(tail, "")
}
