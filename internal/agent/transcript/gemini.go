package transcript

import (
	"cmp"
	"strings"

	"codeloops/internal/loop"
)

// gemini reads the stream-json of Gemini CLI. Messages come in pieces without an end
// mark: the next event ends them.
type gemini struct{ *record }

func (g *gemini) event(kind string, object []byte) bool {
	var e struct {
		Session string `json:"session_id"`
		Role    string `json:"role"`
		Content string `json:"content"`
		Delta   bool   `json:"delta"`
		Tool    string `json:"tool_name"`
		Input   input  `json:"parameters"`
		Status  string `json:"status"`
		Message string `json:"message"`
		Error   loose  `json:"error"`
		Stats   counts `json:"stats"`
	}
	decode(object, &e)
	if kind != "message" {
		g.whole()
	}
	switch kind {
	case "init":
		g.begins(e.Session)
	case "message":
		g.message(e.Role, e.Content, e.Delta)
	case "tool_use":
		g.round() // what was said before a tool is not the final text
		g.tool(e.Tool, e.Input)
	case "tool_result":
		g.round()
		g.used(e.Status != "success")
	case "error":
		g.cope(e.Message)
		if !strings.HasPrefix(e.Message, "Agent execution blocked: ") { // by a user's hook; the agent goes on
			g.fault(loop.EndFailed, e.Message)
		}
	case "result":
		g.closed = true
		if e.Status != "success" || e.Error != "" {
			problem := cmp.Or(string(e.Error), g.problem, "it ended with the status "+cmp.Or(e.Status, "unknown"))
			g.fault(g.faultOf(problem))
			if strings.HasPrefix(problem, apiErrorMark) {
				g.answered()
			}
		}
		if e.Stats != nil {
			t := e.Stats.tokens()
			// Tokens that are neither input nor output are reasoning.
			t.Reasoning = max(0, e.Stats["total_tokens"]-t.Input-t.Output)
			t.Input -= t.CacheRead
			t.Output += t.Reasoning
			g.add(t)
		}
	default:
		return false
	}
	return true
}

func (g *gemini) message(role, content string, delta bool) {
	switch {
	case role != "assistant":
		g.whole()
	case delta:
		g.piece(content)
	default:
		g.whole()
		g.say(content)
	}
}

func (g *gemini) faultOf(message string) (loop.Ending, string) {
	if strings.HasPrefix(message, "The model returned an empty response") {
		return loop.EndEmpty, message
	}
	return apiError(message)
}
