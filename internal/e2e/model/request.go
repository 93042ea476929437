package model

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// A Wire is the protocol of a service.
type Wire string

// The wires.
const (
	Messages  Wire = "messages"         // Anthropic: POST …/messages
	Responses Wire = "responses"        // OpenAI: POST …/responses
	Chat      Wire = "chat/completions" // OpenAI: POST …/chat/completions
	Gemini    Wire = "generateContent"  // Google: POST …:generateContent, …:streamGenerateContent
)

// A Speaker is the author of an item in a conversation.
type Speaker string

// The speakers. Developer messages count as [System].
const (
	System    Speaker = "system"
	User      Speaker = "user"
	Assistant Speaker = "assistant"
	Result    Speaker = "result" // of a tool
)

// An Item is one piece of a conversation.
type Item struct {
	By   Speaker
	Text string
}

// A Request is what an agent asks.
type Request struct {
	Key    string // from the path, identifies the client
	Wire   Wire
	Items  []Item // the conversation so far
	Tools  []Tool
	Schema bool // the answer must be JSON that follows a schema
	Stream bool
	Header http.Header
	Body   []byte // as it came
}

// Last returns the user's last text that holds any of the marks, and the results of tools
// since then. ok is false if there is none.
func (r Request) Last(marks ...string) (text string, results []string, ok bool) {
	for _, item := range r.Items {
		switch {
		case item.By == User && slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(item.Text, mark) }):
			text, results, ok = item.Text, nil, true
		case item.By == Result:
			results = append(results, item.Text)
		}
	}
	return text, results, ok
}

func (r *Request) say(by Speaker, text string) {
	if text != "" {
		r.Items = append(r.Items, Item{by, text})
	}
}

// A content is a text, or a list of parts with texts.
type content []part

type part struct {
	Type    string  `json:"type"`
	Text    string  `json:"text"`
	Content content `json:"content"` // of a tool's result
}

// UnmarshalJSON never fails: anything else reads as empty.
func (c *content) UnmarshalJSON(raw []byte) error {
	var text string
	var parts []part
	switch {
	case json.Unmarshal(raw, &text) == nil:
		*c = content{{Type: "text", Text: text}}
	case json.Unmarshal(raw, &parts) == nil:
		*c = parts
	default:
		*c = nil
	}
	return nil
}

func (c content) text() string {
	var texts []string
	for _, p := range c {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n")
}

func speaker(role string) Speaker {
	switch role {
	case "system", "developer":
		return System
	case "assistant", "model":
		return Assistant
	case "tool":
		return Result
	}
	return User
}
