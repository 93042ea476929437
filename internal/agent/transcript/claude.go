package transcript

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"codeloops/internal/loop"
)

// claude reads the stream-json of Claude Code, which Qwen Code and Amp print as well. The
// last line is a result. Its subtype may be "success" although the model's service failed;
// then is_error counts. Any other subtype is a failure.
type claude struct {
	*record
	// openAI is set if input tokens include those from a cache, as OpenAI counts them.
	openAI bool

	spent    map[string]loop.Tokens // by the IDs of messages, until a closing event counts them
	acts     bool                   // the last message calls a tool
	ended    bool                   // there was a closing event
	fixedKey bool                   // its key cannot be renewed
	ending   loop.Ending            // of the service's last error
	resetAt  time.Time
}

func (c *claude) event(kind string, object []byte) bool {
	switch kind {
	case "system":
		c.system(object)
	case "assistant":
		c.assistant(object)
	case "user":
		c.user(object)
	case "rate_limit_event":
		c.limit(object)
	case "result":
		c.result(object)
	default:
		return kind == "stream_event"
	}
	return true
}

func (c *claude) system(object []byte) {
	var e struct {
		Subtype   string `json:"subtype"`
		SessionID string `json:"session_id"`
		Attempt   int    `json:"attempt"`
		Call      string `json:"tool_use_id"`
		Most      int    `json:"max_retries"`
		Status    number `json:"error_status"`
		Error     loose  `json:"error"`
		KeySource string `json:"apiKeySource"`
		Tasks     []struct {
			Ambient bool `json:"ambient"` // it never ends
		} `json:"tasks"`
	}
	decode(object, &e)
	switch e.Subtype {
	case "init":
		c.begins(e.SessionID)
		c.fixedKey = e.KeySource == "ANTHROPIC_API_KEY"
	case "api_retry":
		ending := ofStatus(int(e.Status))
		c.retries(ending, fmt.Sprintf("%s (status %d), attempt %d of %d", e.Error, e.Status, e.Attempt, e.Most))
		// A token may be renewed before the next attempt, a key stays the same.
		c.lost = c.lost || ending == loop.EndAuth && (c.fixedKey || e.Attempt > 1)
	case "permission_denied":
		c.done(e.Call, true, 0, true)
	case "task_notification":
		if !c.acts {
			c.kept = len(c.text) // an answer, not what was said before a tool
		}
	case "background_tasks_changed":
		c.busy = false
		for _, task := range e.Tasks {
			c.busy = c.busy || !task.Ambient
		}
	case "retry":
		c.cope("the model's answer could not be used, it is asked again")
	}
}

func (c *claude) assistant(object []byte) {
	var e struct {
		Parent  string `json:"parent_tool_use_id"` // set inside a subagent
		Error   string `json:"error"`              // set if this is not a message of the model
		Message struct {
			ID      string `json:"id"`
			Stop    string `json:"stop_reason"`
			Usage   counts `json:"usage"`
			Content []struct {
				Type  string `json:"type"`
				Text  string `json:"text"`
				ID    string `json:"id"`
				Name  string `json:"name"`
				Input input  `json:"input"`
			} `json:"content"`
		} `json:"message"`
	}
	decode(object, &e)
	if e.Error != "" {
		c.ending = cmp.Or(sayings().ofWord[e.Error], loop.EndFailed)
	}
	if e.Parent == "" {
		c.closed = false // the model goes on after a result
		c.stopped(cmp.Or(e.Error, e.Message.Stop))
	}
	if e.Error != "" {
		return
	}
	c.spends(e.Message.ID, e.Message.Usage)
	if e.Parent == "" {
		c.acts = c.acts && e.Message.ID == c.id
		if e.Message.ID != c.id {
			c.step()
		}
		c.message(e.Message.ID)
	}
	for _, part := range e.Message.Content {
		switch {
		case part.Type == "tool_use":
			c.acts = c.acts || e.Parent == ""
			c.tool(part.Name, part.Input)
			c.call(part.ID, part.Name, part.Input)
		case part.Type == "text" && e.Parent == "":
			c.say(part.Text)
		}
	}
}

// spends takes the tokens of a message, which each of its events repeats; the last one counts.
// They are all that is known of a turn that is cut short.
func (c *claude) spends(id string, usage counts) {
	if usage == nil || id == "" {
		return
	}
	t := c.counted(usage)
	before := c.spent[id]
	c.spent[id] = t
	c.report.Usage = c.report.Usage.Less(loop.Usage{Tokens: &before})
	c.add(t)
	c.report.Running = !c.ended
}

// stopped takes the model's stop reason, which is empty while it is still writing.
func (c *claude) stopped(why string) { c.stops(why, "", "end_turn", "stop_sequence") }

// user takes what goes back to the model, mostly results of tools.
func (c *claude) user(object []byte) {
	var e struct {
		Parent  string `json:"parent_tool_use_id"`
		Message struct {
			Content []struct {
				Call    string `json:"tool_use_id"`
				IsError truth  `json:"is_error"`
				Content loose  `json:"content"`
			} `json:"content"`
		} `json:"message"`
	}
	if decode(object, &e); e.Parent == "" {
		c.round()
	}
	for _, part := range e.Message.Content {
		exit := 0
		if part.IsError {
			exit = exitCode(string(part.Content))
		}
		c.done(part.Call, bool(part.IsError), exit, false)
	}
}

// exitCode reads the code of a failed command from the result of its tool, "Exit code 1" and
// what it printed; 0 for other failures.
func exitCode(result string) (code int) {
	_, _ = fmt.Sscanf(result, "Exit code %d", &code)
	return code
}

func (c *claude) limit(object []byte) {
	var e struct {
		Info struct {
			Status   string `json:"status"`
			ResetsAt int64  `json:"resetsAt"` // seconds since 1970
		} `json:"rate_limit_info"`
	}
	if decode(object, &e); e.Info.Status == "rejected" && e.Info.ResetsAt > 0 {
		c.resetAt = time.Unix(e.Info.ResetsAt, 0).UTC()
	}
}

// claudeResult is the closing event.
type claudeResult struct {
	IsError  truth             `json:"is_error"`
	Subtype  string            `json:"subtype"`
	Result   *string           `json:"result"`
	Errors   []string          `json:"errors"`
	Error    loose             `json:"error"` // Qwen Code and Amp use it where Claude Code uses result
	Status   number            `json:"api_error_status"`
	Stop     string            `json:"stop_reason"`
	Terminal string            `json:"terminal_reason"`
	Session  string            `json:"session_id"`
	Rounds   *int              `json:"num_turns"`
	Cost     *float64          `json:"total_cost_usd"`
	Usage    counts            `json:"usage"`
	Models   map[string]counts `json:"modelUsage"`
	Denials  []struct {
		Tool  string `json:"tool_name"`
		Input input  `json:"tool_input"`
	} `json:"permission_denials"`
}

func (c *claude) result(object []byte) {
	var e claudeResult
	decode(object, &e)
	defer c.close()
	if e.Session != "" {
		c.report.Conversation = e.Session
	}
	c.report.Usage.Rounds = e.Rounds
	c.report.Usage.CostUSD = nil
	c.pay(e.Cost)
	c.tokens(e)
	for _, d := range e.Denials {
		c.ends(loop.Failure{Act: purpose(d.Tool, d.Input), Denied: true})
	}
	if c.stop == "" { // the last message's own reason takes precedence
		c.stopped(e.Stop)
	}
	switch bad := e.badEnd(); {
	case bool(e.IsError), e.Error != "", e.Result != nil && strings.HasPrefix(*e.Result, usageLimit):
		c.report.ResetAt = c.resetAt
		c.fault(c.faultOf(e))
		if e.Status != 0 || strings.HasPrefix(string(e.Error), apiErrorMark) {
			c.answered()
		}
	case bad != "":
		c.fault(loop.EndFailed, "it ended with "+strings.ReplaceAll(bad, "_", " "))
	case e.Result != nil:
		c.final(*e.Result)
	}
}

// badEnd returns what ended a turn that does not call itself an error; "" if the model
// finished.
func (e claudeResult) badEnd() string {
	switch {
	case e.Subtype != "" && e.Subtype != "success":
		return e.Subtype
	case e.Terminal != "" && e.Terminal != "completed":
		return e.Terminal
	}
	return ""
}

// tokens prefers the counts by model: they include subagents, and the cost is based on
// them.
func (c *claude) tokens(e claudeResult) {
	c.ended = true
	if e.Usage == nil && len(e.Models) == 0 {
		return
	}
	c.report.Usage.Tokens, c.report.Running = nil, false
	clear(c.spent)
	for _, m := range e.Models {
		c.add(m.tokens())
	}
	if e.Usage == nil || len(e.Models) > 0 {
		return
	}
	c.add(c.counted(e.Usage))
}

func (c *claude) counted(usage counts) loop.Tokens {
	t := usage.tokens()
	if c.openAI {
		t.Input -= t.CacheRead
	}
	return t
}

// usageLimit is how Claude Code's message at the limit of a subscription begins; the time
// at which the limit ends follows. Some versions do not mark it as an error.
const usageLimit = "Claude AI usage limit reached|"

func (c *claude) faultOf(e claudeResult) (loop.Ending, string) {
	reason := string(e.Error)
	if reason == "" && len(e.Errors) > 0 {
		reason = e.Errors[0]
	}
	if e.Result != nil && *e.Result != "" {
		reason = *e.Result
	}
	ending, plain := apiError(reason)
	switch {
	case e.Terminal == "prompt_too_long":
		ending = loop.EndContextTooLong
	case e.Status != 0 && c.ending != loop.EndOutOfCredit:
		ending = ofFault(int(e.Status), reason)
	case c.ending != "":
		ending = c.ending
	case strings.HasPrefix(reason, usageLimit):
		ending = loop.EndRateLimited
	}
	if ending == loop.EndFailed && c.ending != "" {
		ending = c.ending
	}
	plain = cmp.Or(plain, strings.ReplaceAll(e.Subtype, "_", " "))
	if ending != loop.EndRateLimited {
		c.report.ResetAt = time.Time{}
	}
	return ending, plain
}
