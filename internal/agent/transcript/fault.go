package transcript

import (
	"net/http"
	"strconv"
	"strings"

	json "github.com/go-json-experiment/json/v1"

	"codeloops/internal/loop"
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

// leadingStatus returns the status with which a message begins, as in
// "401 Unauthorized"; 0 when there is none.
func leadingStatus(message string) int {
	const digits = 3
	if len(message) < digits || len(message) > digits && message[digits] != ' ' {
		return 0
	}
	status, err := strconv.Atoi(message[:digits])
	if err != nil || status < 100 {
		return 0
	}
	return status
}

// ofMessage returns the ending that goes with a message of a model's service,
// which may begin with a status, or of what was to ask the service. That a
// prompt is too long services say with the status of any bad request.
func ofMessage(message string) loop.Ending {
	status := leadingStatus(message)
	if status != 0 {
		message = strings.TrimSpace(message[3:])
	}
	for _, known := range []struct {
		line   string // how it begins
		ending loop.Ending
	}{
		{"prompt is too long", loop.EndContextTooLong},                         // Anthropic
		{"This model's maximum context length is", loop.EndContextTooLong},     // OpenAI
		{"Your input exceeds the context window", loop.EndContextTooLong},      // OpenAI
		{"The input token count", loop.EndContextTooLong},                      // Google
		{"Connection error.", loop.EndOverloaded},                              // OpenAI's client: nobody answers
		{"fetch failed", loop.EndOverloaded},                                   // Node: nobody answers
		{"exception TypeError: fetch failed", loop.EndOverloaded},              // Google's client on Node: nobody answers
		{"terminated (", loop.EndOverloaded},                                   // Node: the answer breaks off
		{"Connection reset by server", loop.EndOverloaded},                     // Kilo Code: the answer breaks off
		{"Cannot connect to API: ", loop.EndOverloaded},                        // Vercel's SDK: nobody answers
		{"Unable to connect.", loop.EndOverloaded},                             // Bun: nobody answers
		{"The socket connection was closed unexpectedly.", loop.EndOverloaded}, // Bun: the answer breaks off
	} {
		if strings.HasPrefix(message, known.line) || message+" (" == known.line {
			return known.ending
		}
	}
	// These are said without a status: by Google's services through Gemini CLI, by
	// OpenAI's through Cline.
	for _, known := range []string{
		"You have exhausted your capacity on this model.", "You exceeded your current quota", "Rate limit reached for ",
	} {
		if strings.HasPrefix(message, known) {
			return loop.EndRateLimited
		}
	}
	return ofStatus(status)
}

// apiError takes "[API Error: …]" apart, as Gemini CLI and its descendants
// write it: inside stands a message, which may begin with a status, or the
// JSON that the service answered with.
func apiError(message string) (loop.Ending, string) {
	inner, ok := strings.CutPrefix(message, "[API Error: ")
	if !ok {
		return loop.EndFailed, message
	}
	inner, _, _ = strings.Cut(inner, "]\n") // what follows is advice
	inner = strings.TrimSuffix(inner, "]")
	code, text := answered(inner)
	if text == "" {
		return ofMessage(inner), inner
	}
	if ending := ofStatus(code); ending != loop.EndFailed {
		return ending, text
	}
	return ofMessage(text), text
}

// answered takes the JSON apart that a service answers with when something is
// wrong, or what stands in its "error" alone; the message is "" where the text
// is neither.
func answered(body string) (code int, message string) {
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	var answer struct {
		fault
		Error fault `json:"error"`
	}
	if body == "" || body[0] != '{' || !decode([]byte(body), &answer) {
		return 0, ""
	}
	if answer.Error.Message == "" {
		return answer.Code, answer.Message
	}
	return answer.Error.Code, answer.Error.Message
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
