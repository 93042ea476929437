package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"codeloops/internal/launch"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

func (s *server) addCommands(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "verdict", Annotations: looks("Judge the work tree"),
		Description: "Have an independent critic judge the work tree as it is now: the project's checks, its rules, then the critic. " +
			"Say in task what was to be done. If the result says pending, call it again with the same arguments.",
	}, s.verdict)
	add(s, m, &mcp.Tool{
		Name: "queue_add", Annotations: changes("Add a task to the queue", false),
		Description: "Add a task to the queue of this repository. `codeloops queue run` works on it, in a work tree of its own.",
	}, func(ctx context.Context, c *call, in taskInput) (queued, error) {
		args := []string{"queue", "add", "--json", "--prompt-file=-"}
		for _, id := range in.After {
			args = append(args, "--after="+id)
		}
		if in.Priority != 0 {
			args = append(args, "--priority="+strconv.Itoa(in.Priority))
		}
		var r queue.Record
		err := c.codeloops().Document(ctx, in.Prompt, &r, args...)
		return queuedOf(&r), err
	})
	add(s, m, &mcp.Tool{
		Name: "queue_list", Annotations: looks("List the queue"),
		Description: "List the tasks of this repository in the order in which they are worked on.",
	}, func(ctx context.Context, c *call, _ place) (backlog, error) {
		var all struct {
			Tasks []queue.Record `json:"tasks"`
		}
		err := c.codeloops().Document(ctx, "", &all, "queue", "list", "--json")
		list := backlog{Tasks: []queued{}}
		for _, r := range all.Tasks {
			list.Tasks = append(list.Tasks, queuedOf(&r))
		}
		return list, err
	})
}

type taskInput struct {
	place

	Prompt   string   `json:"prompt" jsonschema:"the task"`
	After    []string `json:"after,omitempty" jsonschema:"ids of tasks that must be merged before"`
	Priority int      `json:"priority,omitempty" jsonschema:"tasks with a higher one are worked on first"`
}

type backlog struct {
	Tasks []queued `json:"tasks"`
}

// A queued is a task of the queue.
type queued struct {
	ID       string   `json:"id"`
	State    string   `json:"state" jsonschema:"waiting, offered, running, finished, merged, needs-human, failed, dead or cancelled"`
	Why      string   `json:"why,omitempty" jsonschema:"the reason for the state"`
	Prompt   string   `json:"prompt"`
	Target   string   `json:"target" jsonschema:"the branch that the result is merged into"`
	After    []string `json:"after,omitempty"`
	Priority int      `json:"priority,omitempty"`
	Session  string   `json:"session,omitempty" jsonschema:"of the last attempt"`
}

func queuedOf(r *queue.Record) queued {
	return queued{
		ID: r.Task.ID, State: string(r.State), Why: r.Why, Prompt: r.Task.Prompt, Target: r.Task.Target,
		After: r.Task.After, Priority: r.Task.Priority, Session: r.Progress.Session,
	}
}

// codeloops is the program in the directory of the call.
func (c *call) codeloops() launch.Program {
	return launch.Program{Path: c.server.self, Dir: c.Dir, Environ: c.Environ}
}

type verdictInput struct {
	place

	Task  string `json:"task,omitempty" jsonschema:"what was to be done, in the words that you were told; default: the task of the last session here"`
	Since string `json:"since,omitempty" jsonschema:"the commit that the change is measured from; default: merge-base, with the main branch"`
}

// A verdict is what the critic says, or that it has not said it yet.
type verdict struct {
	Pending    bool      `json:"pending,omitempty" jsonschema:"the critic is at work: call verdict again with the same arguments"`
	Done       bool      `json:"done" jsonschema:"the task is done, and every check passed"`
	Outcome    string    `json:"outcome,omitempty"`
	StopReason string    `json:"stop_reason,omitempty"`
	Summary    string    `json:"summary,omitempty"`
	Confidence *float64  `json:"confidence,omitempty"`
	Feedback   string    `json:"feedback,omitempty" jsonschema:"what is missing"`
	Checks     []checked `json:"checks,omitempty"`
	Findings   []any     `json:"findings,omitempty" jsonschema:"what the critic found, one by one"`
	Session    string    `json:"session_id,omitempty"`
	Log        string    `json:"log,omitempty"`
}

type checked struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	Output string `json:"output,omitempty" jsonschema:"the end of what it printed"`
}

// An ended is the document of a run, or of a gate, that has ended.
type ended struct {
	verdict

	Error *session.Failure `json:"error"`
}

// refused is why there was no session.
func (e *ended) refused() error {
	if e.Session != "" || e.Error == nil {
		return nil
	}
	return hint.Add(errors.New(e.Error.Message), e.Error.Hint)
}

// A judging is a verdict that is being made. It goes on when a call has to be answered before, and the next one with
// the same arguments gets it, if it comes soon.
type judging struct {
	end  context.CancelFunc
	over chan struct{} // closed when the rest is set
	at   time.Time
	out  []byte
	err  error
}

// fresh is how long a verdict waits for the next call. Later, the work is another.
const fresh = time.Minute

// old reports whether it has ended, and nobody has come for it.
func (j *judging) old(now time.Time) bool {
	select {
	case <-j.over:
		return now.Sub(j.at) > fresh
	default:
		return false
	}
}

// verdict waits for the verdict on a work tree. A client that cancels the call ends it.
func (s *server) verdict(ctx context.Context, c *call, in verdictInput) (verdict, error) {
	in.Dir = c.Dir
	key := fmt.Sprintf("%q", in)
	s.mu.Lock()
	j := s.verdicts[key]
	if j == nil || j.old(c.Now()) {
		own, end := context.WithCancel(context.WithoutCancel(ctx))
		j = &judging{end: end, over: make(chan struct{})}
		s.verdicts[key] = j
		go func() {
			defer close(j.over)
			j.out, j.err = c.gate(own, in)
			j.at = c.Now()
		}()
	}
	s.mu.Unlock()
	began := c.Now()
	beat := time.NewTicker(5 * time.Second)
	defer beat.Stop()
	over := time.After(s.most)
	for {
		c.tell(ctx, fmt.Sprintf("judging the work tree for %.0f s", c.Now().Sub(began).Seconds()))
		select {
		case <-over:
			return verdict{Pending: true}, nil
		case <-beat.C:
			continue
		case <-ctx.Done():
			j.end()
		case <-j.over:
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.verdicts, key)
		return verdictOf(j)
	}
}

// close ends the verdicts that are being made: nobody is left to get them.
func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.verdicts {
		j.end()
		<-j.over
	}
}

// gate judges the work tree with a command.
func (c *call) gate(ctx context.Context, in verdictInput) ([]byte, error) {
	if in.Task == "" {
		last, err := c.find("")
		if err != nil {
			return nil, hint.Errorf("say in task what was to be done", "there is no task to judge the work by")
		}
		in.Task = last.Session.Prompt
	}
	args := []string{"gate", "--json", "--task=" + in.Task}
	if in.Since != "" {
		args = append(args, "--since="+in.Since)
	}
	return c.codeloops().Output(ctx, "", args...)
}

// verdictOf reads what the gate has printed. It prints a verdict whether the task is done or not.
func verdictOf(j *judging) (v verdict, err error) {
	select {
	case <-j.over:
	default:
		return v, context.Canceled
	}
	if len(bytes.TrimSpace(j.out)) == 0 {
		return v, j.err
	}
	var doc ended
	if err := json.Unmarshal(j.out, &doc); err != nil {
		return v, errors.Join(j.err, err)
	}
	doc.Done = doc.Outcome == string(loop.Success)
	return doc.verdict, doc.refused()
}
