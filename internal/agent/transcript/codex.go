package transcript

import (
	"strings"

	"codeloops/internal/loop"
)

// codex reads the JSONL of `codex exec --json`. Warnings are items of type error; attempts
// to reconnect are events of type error. Input tokens include those from the cache, and in
// a resumed thread the counts are those of the whole thread.
type codex struct{ *record }

// codexItem is something that the agent does or says.
type codexItem struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Message string `json:"message"`
	Command loose  `json:"command"`
	Status  string `json:"status"`
	Exit    int    `json:"exit_code"`
	Server  string `json:"server"`
	Tool    string `json:"tool"`
	Query   string `json:"query"`
	Changes []struct {
		Path string `json:"path"`
	} `json:"changes"`
}

func (c *codex) event(kind string, object []byte) bool {
	var e struct {
		Thread  string    `json:"thread_id"`
		Item    codexItem `json:"item"`
		Message string    `json:"message"`
		Error   loose     `json:"error"`
		Usage   counts    `json:"usage"`
	}
	decode(object, &e)
	switch kind {
	case "thread.started":
		c.begins(e.Thread)
	case "item.started":
		c.gotOver()
		c.closed = false
		c.started(e.Item)
	case "item.completed":
		c.closed = false
		c.completed(e.Item)
	case "error":
		c.trouble(e.Message)
	case "turn.completed":
		c.closed = true
	case "turn.failed":
		c.closed = true
		c.fault(ofCodex(string(e.Error)))
		if _, inner := answered(string(e.Error)); inner != "" {
			c.answered()
		}
	case "turn.started":
		c.closed = false
	case "item.updated":
	default:
		return false
	}
	if e.Usage != nil {
		t := e.Usage.tokens()
		t.Input -= t.CacheRead + t.CacheWrite
		c.add(t)
	}
	return true
}

// trouble takes an error. "Reconnecting... 2/5 (…)" is one that it tries to overcome.
func (c *codex) trouble(text string) {
	if attempt, ok := strings.CutPrefix(text, "Reconnecting... "); ok {
		_, cause, _ := strings.Cut(attempt, " (")
		ending, _ := ofCodex(strings.TrimSuffix(cause, ")"))
		c.retries(ending, text)
		return
	}
	ending, problem := ofCodex(text)
	c.cope(problem)
	c.fault(ending, problem)
}

func (c *codex) started(item codexItem) {
	if item.Type != "agent_message" && item.Type != "reasoning" {
		c.round() // what was said before a tool is not the end
	}
	switch item.Type {
	case "command_execution":
		c.notice(loop.NoticeCommand, string(item.Command))
	case "mcp_tool_call":
		c.notice(loop.NoticeTool, item.Server+" "+item.Tool)
	}
}

func (c *codex) completed(item codexItem) {
	switch item.Type {
	case "agent_message":
		c.round()
		c.say(item.Text)
	case "command_execution":
		c.ends(loop.Failure{Act: purpose("", input{arguments: arguments{"command": item.Command}}), ExitCode: item.Exit, Denied: item.Status == "declined"})
	case "mcp_tool_call":
		c.used(item.Status == "failed")
	case "file_change":
		c.used(item.Status == "failed")
		for _, change := range item.Changes {
			c.notice(loop.NoticeEdit, change.Path)
		}
	case "web_search":
		c.notice(loop.NoticeTool, "web search "+item.Query)
	case "error": // a warning
		c.notice(loop.NoticeProblem, item.Message)
	}
}

// ofCodex maps the message of a failed turn. For a bad request it is the body of the
// service's answer.
func ofCodex(message string) (loop.Ending, string) {
	if ending, inner := answered(message); inner != "" {
		return ending, inner
	}
	return ofMessage(message), message
}
