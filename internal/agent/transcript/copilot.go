package transcript

import (
	json "github.com/go-json-experiment/json/v1"

	"codeloops/internal/loop"
)

// copilot reads the JSONL of GitHub Copilot CLI. The last line is a result with the exit
// code; a session.error before it says what went wrong. The token counts are in a separate
// file, see [Counts].
type copilot struct{ *record }

// event handles few of the many events: what comes in pieces is repeated as a whole.
func (c *copilot) event(kind string, object []byte) bool {
	var e struct {
		Session string          `json:"sessionId"`
		Exit    json.RawMessage `json:"exitCode"`
		Data    struct {
			ID      string `json:"messageId"`
			Content string `json:"content"`
			Call    string `json:"toolCallId"`
			Tool    string `json:"toolName"`
			Error   struct {
				Code string `json:"code"`
			} `json:"error"`
			Shell struct {
				Exit int `json:"exitCode"`
			} `json:"shellExecution"`
			Arguments input  `json:"arguments"`
			ErrorType string `json:"errorType"`
			InfoType  string `json:"infoType"`
			Message   string `json:"message"`
			Status    number `json:"statusCode"`
		} `json:"data"`
	}
	decode(object, &e)
	switch kind {
	case "assistant.message":
		c.message(e.Data.ID)
		c.say(e.Data.Content)
	case "assistant.turn_start":
		c.closed = false
		c.asked()
	case "tool.execution_start":
		c.tool(e.Data.Tool, e.Data.Arguments)
		c.call(e.Data.Call, e.Data.Tool, e.Data.Arguments)
	case "tool.execution_complete":
		c.done(e.Data.Call, e.Data.Error.Code != "", e.Data.Shell.Exit, e.Data.Error.Code == "denied")
	case "session.info":
		if e.Data.InfoType == "model_retry" {
			c.retries(ofMessage(e.Data.Message), e.Data.Message)
		}
	case "session.error":
		c.fault(ofCopilot(e.Data.ErrorType, int(e.Data.Status), e.Data.Message), e.Data.Message)
		if e.Data.Status != 0 {
			c.answered()
		}
	case "result":
		c.closed = true
		c.report.Conversation = e.Session
		if isTrue(e.Exit) && !c.failed {
			c.fault(loop.EndFailed, "it gave up with exit code "+Line(unquoted(e.Exit)))
		}
	default:
		return false
	}
	return true
}

func ofCopilot(errorType string, status int, message string) loop.Ending {
	if errorType == "authentication" {
		return loop.EndAuth
	}
	return ofFault(status, message)
}

// Counts reads the file to which a CLI writes the tokens of a turn if its output does not
// hold them. It returns nil if they are not there, or for other formats.
func Counts(format string, document []byte) *loop.Tokens {
	if format != "copilot-json" {
		return nil
	}
	var all struct {
		Models map[string]struct {
			Usage counts `json:"usage"`
		} `json:"modelMetrics"`
	}
	if !decode(document, &all) || len(all.Models) == 0 {
		return nil
	}
	var r record
	for _, m := range all.Models {
		t := m.Usage.tokens()
		t.Input -= t.CacheRead + t.CacheWrite
		r.add(t)
	}
	return r.report.Usage.Tokens
}
