package transcript

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// statusOverloaded is what Anthropic's service answers when it has too much to
// do; it is in no standard.
const statusOverloaded = 529

// ofStatus returns the ending that goes with the status of an answer over
// HTTP. One that says nothing of the kind is EndFailed.
func ofStatus(status int) loop.Ending {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return loop.EndAuth
	case http.StatusTooManyRequests:
		return loop.EndRateLimited
	case http.StatusRequestEntityTooLarge:
		return loop.EndContextTooLong
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable,
		http.StatusGatewayTimeout, statusOverloaded:
		return loop.EndOverloaded
	}
	return loop.EndFailed
}

// statusOf returns the status that a message of a service, or of what asks it,
// tells, and what else it says: "401 Unauthorized", "401: {…}", or further on, as
// in "unexpected status 401" and "(HTTP 401)". 0: it tells none.
func statusOf(message string) (status int, rest string) {
	const digits = 3
	if len(message) >= digits {
		status, err := strconv.Atoi(message[:digits])
		rest, told := strings.CutPrefix(message[digits:], ":")
		told = told || rest == "" || rest[0] == ' '
		if err == nil && told && status >= 100 {
			return status, strings.TrimSpace(rest)
		}
	}
	if further := furtherStatus().FindStringSubmatch(message); further != nil {
		status, _ = strconv.Atoi(further[1]) // they are digits
	}
	return status, message
}

// inPlain is a message with the text that is in its JSON instead of that.
func inPlain(message string) string {
	status, rest := statusOf(message)
	if _, text := answered(rest); text != "" && status != 0 {
		return fmt.Sprintf("%d %s", status, text)
	}
	return message
}

// furtherStatus is how a status stands within a message.
var furtherStatus = wording.Pattern(`(?i)\b(?:http|status(?: code)?|error code)[ :=]+([45]\d\d)\b`)

// ofMessage returns the ending that goes with a message of a model's service,
// or of what was to ask the service. That a prompt is too long services say with
// the status of any bad request.
func ofMessage(message string) loop.Ending {
	status, text := statusOf(message)
	if ending, _ := answered(text); ending != loop.EndFailed {
		return ending
	}
	for _, known := range []struct {
		line   string // how it begins
		ending loop.Ending
	}{
		{"prompt is too long", loop.EndContextTooLong},                         // Anthropic
		{"This model's maximum context length is", loop.EndContextTooLong},     // OpenAI
		{"Your input exceeds the context window", loop.EndContextTooLong},      // OpenAI
		{"The input token count", loop.EndContextTooLong},                      // Google
		{"API key not valid.", loop.EndAuth},                                   // Google, with the status of any bad request
		{"Connection error.", loop.EndOverloaded},                              // OpenAI's client: nobody answers
		{"fetch failed", loop.EndOverloaded},                                   // Node: nobody answers
		{"exception TypeError: fetch failed", loop.EndOverloaded},              // Google's client on Node: nobody answers
		{"terminated (", loop.EndOverloaded},                                   // Node: the answer breaks off
		{"Connection reset by server", loop.EndOverloaded},                     // Kilo Code: the answer breaks off
		{"Cannot connect to API: ", loop.EndOverloaded},                        // Vercel's SDK: nobody answers
		{"Unable to connect.", loop.EndOverloaded},                             // Bun: nobody answers
		{"The socket connection was closed unexpectedly.", loop.EndOverloaded}, // Bun: the answer breaks off
		// These are said without a status: by Google's services through Gemini CLI, by
		// OpenAI's through Cline.
		{"You have exhausted your capacity on this model.", loop.EndRateLimited},
		{"You exceeded your current quota", loop.EndRateLimited},
		{"Rate limit reached for ", loop.EndRateLimited},
	} {
		if strings.HasPrefix(text, known.line) || text+" (" == known.line {
			return known.ending
		}
	}
	return ofStatus(status)
}

// apiErrorMark is how Gemini CLI and its descendants begin what a service has answered.
const apiErrorMark = "[API Error: "

// apiError takes "[API Error: …]" apart, as Gemini CLI and its descendants
// write it: inside stands a message, which may begin with a status, or the
// JSON that the service answered with.
func apiError(message string) (loop.Ending, string) {
	inner, ok := strings.CutPrefix(message, apiErrorMark)
	if !ok {
		return loop.EndFailed, message
	}
	inner, _, _ = strings.Cut(inner, "]\n") // what follows is advice
	inner = strings.TrimSuffix(inner, "]")
	if ending, text := answered(inner); text != "" {
		return ending, text
	}
	return ofMessage(inner), inner
}

// answered takes the JSON apart that a service answers with when something is
// wrong, or what is in its "error" alone; the message is "" where the text
// is neither. The status is in it as a number, as a text or as a word.
func answered(body string) (loop.Ending, string) {
	type fault struct {
		Code    word   `json:"code"`
		Status  word   `json:"status"`
		Type    word   `json:"type"`
		Message string `json:"message"`
	}
	var answer struct {
		fault
		Error fault `json:"error"`
	}
	if body == "" || body[0] != '{' || !decode([]byte(body), &answer) {
		return loop.EndFailed, ""
	}
	f := answer.fault
	if answer.Error.Message != "" {
		f = answer.Error
	}
	for _, told := range []word{f.Code, f.Status, f.Type} {
		if ending := told.ending(); ending != loop.EndFailed {
			return ending, f.Message
		}
	}
	return ofMessage(f.Message), f.Message
}

// A word is a text, or a number as a text; anything else reads as "".
type word string

// UnmarshalJSON never fails.
func (w *word) UnmarshalJSON(raw []byte) error {
	if *w = ""; raw[0] == '"' {
		var text string
		decode(raw, &text)
		*w = word(text)
	} else if raw[0] >= '0' && raw[0] <= '9' {
		*w = word(raw)
	}
	return nil
}

// ending returns what goes with a status, or with the word that a service has in
// its place.
func (w word) ending() loop.Ending {
	if status, err := strconv.Atoi(string(w)); err == nil {
		return ofStatus(status)
	}
	switch strings.ToLower(string(w)) {
	case "authentication_error", "invalid_api_key", "unauthenticated", "permission_error":
		return loop.EndAuth
	case "rate_limit_error", "rate_limit_exceeded", "insufficient_quota", "resource_exhausted":
		return loop.EndRateLimited
	case "overloaded_error", "unavailable":
		return loop.EndOverloaded
	case "context_length_exceeded":
		return loop.EndContextTooLong
	}
	return loop.EndFailed
}

// A message is an error as formats spell it: a text, or an object with a
// message.
type message string

// UnmarshalJSON never fails.
func (m *message) UnmarshalJSON(raw []byte) error {
	*m = ""
	switch raw[0] {
	case '"':
		var text string
		decode(raw, &text)
		*m = message(text)
	case '{':
		var object struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(raw, &object) == nil {
			*m = message(object.Message)
		}
	}
	return nil
}
