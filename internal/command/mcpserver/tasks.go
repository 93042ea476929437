package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/session/standing"
	"codeloops/internal/wording/hint"
)

// tasksExtension lets run_start answer with a task: the session, which the client asks for by its id, also after both
// were started again. https://github.com/modelcontextprotocol/ext-tasks
const tasksExtension = "io.modelcontextprotocol/tasks"

// lacksExtension is the code of an error for a client that has not declared an extension.
const lacksExtension = -32021

// pollEvery is how often clients are to ask, in milliseconds.
const pollEvery = 2000

// A task is a session as the extension describes it.
type task struct {
	mcp.ResultBase

	ResultType string         `json:"resultType"`
	ID         string         `json:"taskId"`
	Status     string         `json:"status"`
	Message    string         `json:"statusMessage,omitempty"`
	Created    time.Time      `json:"createdAt"`
	Updated    time.Time      `json:"lastUpdatedAt"`
	TTL        *int           `json:"ttlMs"` // null: the log is kept
	Poll       int            `json:"pollIntervalMs"`
	Result     map[string]any `json:"result,omitempty"`
	Error      *jsonrpc.Error `json:"error,omitempty"`

	Asks mcp.InputRequestMap `json:"inputRequests,omitempty"`
}

// A done is an answer that says no more.
type done struct {
	mcp.ResultBase

	ResultType string `json:"resultType"`
}

// An ofTask is a question about a task, or an answer to one of its own.
type ofTask struct {
	mcp.ParamsBase

	ID      string               `json:"taskId"`
	Answers mcp.InputResponseMap `json:"inputResponses,omitempty"`
}

// addTasks adds the extension.
func (s *server) addTasks(m *mcp.Server) error {
	m.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			called, _ := req.(*mcp.CallToolRequest)
			begun, _ := result.(*mcp.CallToolResult)
			if err != nil || called == nil || begun == nil || called.Params.Name != "run_start" || begun.IsError || begun.InputRequests != nil || !speaksTasks(called.Params.Meta) {
				return result, err
			}
			var p progress
			text, _ := json.Marshal(begun.StructuredContent) // it is JSON
			if err := json.Unmarshal(text, &p); err != nil {
				return nil, err
			}
			t := s.taskOf(p, session.Look(p.Log))
			t.ResultType = "task"
			return t, nil
		}
	})
	err := mcp.AddReceivingCustomMethod(m, "tasks/get", func(ctx context.Context, _ *mcp.ServerSession, of *ofTask) (*task, error) {
		c, one, err := s.taken(of)
		if err != nil {
			return nil, err
		}
		t := s.taskOf(c.progress(ctx, one), one)
		s.inquire(t, c.asks(ctx, one), of.Meta)
		return t, nil
	})
	if err == nil {
		err = mcp.AddReceivingCustomMethod(m, "tasks/cancel", func(ctx context.Context, _ *mcp.ServerSession, of *ofTask) (*done, error) {
			c, one, err := s.taken(of)
			if err == nil && one.Status == session.Running {
				_, err = c.stop(ctx, stopInput{Session: one.ID, Now: true})
			}
			return &done{ResultType: "complete"}, err
		})
	}
	if err == nil {
		err = mcp.AddReceivingCustomMethod(m, "tasks/update", func(ctx context.Context, _ *mcp.ServerSession, of *ofTask) (*done, error) {
			c, one, err := s.taken(of)
			if err == nil {
				err = c.answer(ctx, one, of.Answers)
			}
			return &done{ResultType: "complete"}, err
		})
	}
	return err
}

// The questions of a task, by their keys.
const (
	askAnswer = "answer" // of a strategy, such as for its plan
	askRaise  = "raise"  // of a run that has used up a limit of its own
	askAgent  = "agent"  // of a run whose agent has used up that of its service
)

// wait is the answer to [askAgent] that changes nothing.
const wait = "wait"

// asks is what a session wants its user to say.
func (c *call) asks(ctx context.Context, one session.Overview) mcp.InputRequestMap {
	if one.Status != session.Running {
		return c.asksMore(one)
	}
	at, err := c.ask(ctx, one.ID)
	if err != nil {
		return nil
	}
	if at.Now.Question != "" {
		return mcp.InputRequestMap{askAnswer: form(at.Now.Question, map[string]any{"answer": map[string]any{"type": "string", "description": "y, n, or a change"}})}
	}
	turn, limited := c.limited(at)
	if !limited || c.server.isDeclined(declinedWait(one, turn)) {
		return nil
	}
	return mcp.InputRequestMap{askAgent: form(
		fmt.Sprintf("The %s %s has reached a limit of its service, and the run waits until %s. Shall another agent take over?", turn.Role, turn.Agent, turn.Waiting.Local().Format(time.DateTime)),
		map[string]any{"agent": map[string]any{"type": "string", "enum": append([]string{wait}, c.others(turn.Agent)...)}},
	)}
}

// asksMore is what a session asks that has ended: whether it may have more of what it has used up.
func (c *call) asksMore(one session.Overview) mcp.InputRequestMap {
	if one.Outcome == nil || c.server.isDeclined(one.ID) {
		return nil
	}
	number := func(kind, says string) map[string]any {
		return map[string]any{"type": kind, "minimum": 0, "description": says}
	}
	all := map[loop.StopReason]map[string]any{
		loop.StopMaxIterations: {"max_iterations": number("integer", "how many iterations it may have in all")},
		loop.StopMaxCost:       {"max_cost_usd": number("number", "how many US dollars it may cost in all")},
		loop.StopMaxTokens:     {"max_tokens": number("integer", "how many tokens it may use in all")},
	}
	if fields := all[one.Outcome.Reason]; fields != nil {
		return mcp.InputRequestMap{askRaise: form(strings.TrimSuffix(one.Outcome.Summary, ".")+". May it go on?", fields)}
	}
	return nil
}

// briefly is a wait about which nobody is asked.
const briefly = time.Minute

// limited returns the turn of a run that waits for its service, and will for a while.
func (c *call) limited(at standing.Standing) (standing.Turn, bool) {
	for _, turn := range at.Now.Turns {
		if turn.Waiting.Sub(c.Now()) > briefly {
			return turn, true
		}
	}
	return standing.Turn{}, false
}

// declinedWait is the name under which an answer to a wait is remembered.
func declinedWait(one session.Overview, turn standing.Turn) string {
	return one.ID + " " + turn.Waiting.String()
}

// others returns the agents of the catalogue that are here, but for one. An agent of the user's own, with its command, is a
// rule that a session keeps.
func (c *call) others(but string) (names []string) {
	for _, spec := range agent.Catalogue() {
		if _, err := spec.Resolve(loop.Write, c.Dir, c.Environ); err == nil && spec.Equipped(c.Environ) == nil && spec.Name != but {
			names = append(names, spec.Name)
		}
	}
	return names
}

// form is a question whose answer has all of the fields.
func form(message string, fields map[string]any) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": fields, "required": slices.Sorted(maps.Keys(fields)),
	}}
}

// inquire has a task ask its client, if that can ask its user.
func (s *server) inquire(t *task, asks mcp.InputRequestMap, meta mcp.Meta) {
	able, _ := meta[mcp.MetaKeyClientCapabilities].(map[string]any)
	if _, can := able["elicitation"]; !can || len(asks) == 0 {
		return
	}
	t.Status, t.Asks, t.Result = "input_required", asks, nil
	for _, q := range asks {
		if q, is := q.(*mcp.ElicitParams); is {
			q.Message = s.console.Secrets.String(q.Message)
			t.Message = q.Message
		}
	}
}

// answer takes the user's answer to what a session asks. What it does not ask is not answered.
func (c *call) answer(ctx context.Context, one session.Overview, answers mcp.InputResponseMap) error {
	asked := c.asks(ctx, one)
	for key, given := range answers {
		says, is := given.(*mcp.ElicitResult)
		if asked[key] == nil || !is {
			continue
		}
		var err error
		switch yes := says.Action == "accept"; {
		case key == askAnswer && yes:
			_, err = c.steer(ctx, one.ID, fmt.Sprint(says.Content["answer"]), "say")
		case key == askAnswer:
			_, err = c.steer(ctx, one.ID, "no", "say")
		case key == askAgent:
			err = c.choose(ctx, one, says.Content["agent"], yes)
		case yes:
			err = c.raise(ctx, one, says.Content)
		default:
			c.server.decline(one.ID)
		}
		if err != nil {
			return c.server.sentence(err)
		}
	}
	return nil
}

// choose has a run that waits go on with another agent, or wait.
func (c *call) choose(ctx context.Context, one session.Overview, name any, yes bool) error {
	at, err := c.ask(ctx, one.ID)
	if err != nil {
		return err
	}
	turn, limited := c.limited(at)
	if !limited {
		return nil // it goes on by itself
	}
	if !yes || name == wait {
		c.server.decline(declinedWait(one, turn))
		return nil
	}
	other, _ := name.(string)
	if !slices.Contains(c.others(turn.Agent), other) {
		return hint.Errorf("name one of "+strings.Join(c.others(turn.Agent), ", "), "there is no agent %q here", other)
	}
	if _, err := c.stop(ctx, stopInput{Session: one.ID, Now: true}); err != nil {
		return err
	}
	if at, err := c.wait(ctx, waitInput{Session: one.ID}); err != nil || at.Running {
		return cmp.Or(err, hint.Errorf("`codeloops resume "+one.ID+"` with another agent when it has", "the run has not ended yet"))
	}
	_, err = c.launch(ctx, "", "resume", "--fallback="+other, one.ID) // for whichever role meets the limit
	return err
}

// raise has a session go on with a higher limit, in a process of its own.
func (c *call) raise(ctx context.Context, one session.Overview, limits map[string]any) error {
	args := []string{"resume"}
	for _, l := range []struct{ field, flag string }{{"max_iterations", "max-iterations"}, {"max_cost_usd", "max-cost"}, {"max_tokens", "max-tokens"}} {
		if n, is := limits[l.field].(float64); is {
			args = append(args, "--"+l.flag+"="+strconv.FormatFloat(n, 'f', -1, 64))
		}
	}
	_, err := c.launch(ctx, "", append(args, one.ID)...)
	return err
}

// speaksTasks reports whether a request declares the extension.
func speaksTasks(meta mcp.Meta) bool {
	able, _ := meta[mcp.MetaKeyClientCapabilities].(map[string]any)
	extensions, _ := able["extensions"].(map[string]any)
	_, speaks := extensions[tasksExtension]
	return speaks
}

// taken returns the session of a task. It is looked for where the server was started: the question has no directory.
func (s *server) taken(of *ofTask) (c *call, one session.Overview, err error) {
	if !speaksTasks(of.Meta) {
		needs := json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`)
		return nil, one, &jsonrpc.Error{Code: lacksExtension, Message: "the request does not declare the extension " + tasksExtension, Data: needs}
	}
	if c, err = s.at([]string{s.console.Dir}, ""); err == nil {
		one, err = c.find(of.ID)
	}
	if err != nil || of.ID == "" {
		return nil, one, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such task"}
	}
	return c, one, nil
}

// taskOf is the task of a session.
func (s *server) taskOf(p progress, one session.Overview) *task {
	t := &task{
		ResultType: "complete", ID: p.Session, Status: "working", Message: s.console.Secrets.String(p.Now),
		Created: one.Started.UTC(), Updated: one.Started.Add(one.Duration).UTC(), Poll: pollEvery,
	}
	switch {
	case p.Running:
		t.Updated = s.console.Now().UTC()
	case loop.Result(p.Outcome) == loop.Interrupted:
		t.Status, t.Message = "cancelled", p.Next
	case one.Status == session.Crashed:
		t.Status, t.Message = "failed", p.Next
		t.Error = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the process of session " + p.Session + " was killed"}
	default:
		t.Status, t.Message = "completed", s.console.Secrets.String(p.Summary)
		if err := clean(s.console.Secrets, &p); err != nil {
			return t
		}
		text, _ := json.Marshal(p) // has been JSON
		t.Result = map[string]any{
			"content": []any{map[string]any{"type": "text", "text": string(text)}}, "structuredContent": p, "isError": loop.Result(p.Outcome) != loop.Success,
		}
	}
	return t
}
