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

// statusOverloaded is the non-standard status of Anthropic's service under overload.
const statusOverloaded = 529

// ofStatus returns the ending for an HTTP status, EndFailed if there is no special one.
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

// statusOf returns the HTTP status in a message of a service or its client, and the rest
// of the message. The status stands at the start ("401 Unauthorized", "401: {…}") or
// further on ("unexpected status 401", "(HTTP 401)"). 0: there is none.
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

// inPlain replaces the JSON in a message with the text that it holds.
func inPlain(message string) string {
	status, rest := statusOf(message)
	if _, text := answered(rest); text != "" && status != 0 {
		return fmt.Sprintf("%d %s", status, text)
	}
	return message
}

// furtherStatus matches a status within a message.
var furtherStatus = wording.Pattern(`(?i)\b(?:http|status(?: code)?|error code)[ :=]+([45]\d\d)\b`)

// ofMessage returns the ending for a message of a model's service or its client. Texts
// matter because services report a prompt that is too long with the status of any bad
// request.
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
		// These come without a status: from Google's services through Gemini CLI, from
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

// apiErrorMark is how Gemini CLI and its forks begin a service's answer.
const apiErrorMark = "[API Error: "

// apiError parses "[API Error: …]", which Gemini CLI and its forks print. It holds a
// message, which may begin with a status, or the service's JSON.
func apiError(message string) (loop.Ending, string) {
	inner, ok := strings.CutPrefix(message, apiErrorMark)
	if !ok {
		return loop.EndFailed, message
	}
	inner, _, _ = strings.Cut(inner, "]\n") // advice follows
	inner = strings.TrimSuffix(inner, "]")
	if ending, text := answered(inner); text != "" {
		return ending, text
	}
	return ofMessage(inner), inner
}

// answered parses the JSON body of a service's error, or the object under "error" alone.
// The message is "" if body is neither. The status may be a number, a text or a word.
func answered(body string) (loop.Ending, string) {
	type fault struct {
		Code    json.RawMessage `json:"code"`
		Status  json.RawMessage `json:"status"`
		Type    json.RawMessage `json:"type"`
		Message string          `json:"message"`
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
	for _, told := range []json.RawMessage{f.Code, f.Status, f.Type} {
		if ending := ofWord(told); ending != loop.EndFailed {
			return ending, f.Message
		}
	}
	return ofMessage(f.Message), f.Message
}

// ofWord returns the ending for a status, which may be a number or a string, or for the
// word that a service uses instead.
func ofWord(raw json.RawMessage) loop.Ending {
	word := strings.Trim(string(raw), `"`)
	if status, err := strconv.Atoi(word); err == nil {
		return ofStatus(status)
	}
	switch strings.ToLower(word) {
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
