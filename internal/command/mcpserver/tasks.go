package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"codeloops/internal/loop"
	"codeloops/internal/session"
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
}

// A done is an answer that says no more.
type done struct {
	mcp.ResultBase

	ResultType string `json:"resultType"`
}

// An ofTask is a question about a task. Answers to questions of ours are not read: a run asks its user nothing.
type ofTask struct {
	mcp.ParamsBase

	ID string `json:"taskId"`
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
		return s.taskOf(c.progress(ctx, one), one), nil
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
		err = mcp.AddReceivingCustomMethod(m, "tasks/update", func(_ context.Context, _ *mcp.ServerSession, of *ofTask) (*done, error) {
			_, _, err := s.taken(of)
			return &done{ResultType: "complete"}, err
		})
	}
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
