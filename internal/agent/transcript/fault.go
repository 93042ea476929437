package transcript

import (
	"cmp"
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
	case http.StatusPaymentRequired:
		return loop.EndOutOfCredit
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
	if ending, known := said(text); known {
		return ending
	}
	return ofStatus(status)
}

// ofFault is like ofMessage, for a message whose status is told beside it. What the message
// says is more exact: a limit and an empty account have the same status.
func ofFault(status int, message string) loop.Ending {
	_, text := statusOf(message)
	ending, known := said(text)
	if told := ofStatus(status); told != loop.EndFailed && (!known || ending == loop.EndOverloaded) {
		return told
	}
	if known {
		return ending
	}
	return ofMessage(message)
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
	if ending, known := said(f.Message); known {
		return ending, f.Message
	}
	all := []loop.Ending{ofWord(f.Type), ofWord(f.Code), ofWord(f.Status)}
	for _, ending := range all {
		if ending == loop.EndOutOfCredit { // it comes with the status of a limit
			return ending, f.Message
		}
	}
	for _, ending := range all[1:] {
		if ending != loop.EndFailed {
			return ending, f.Message
		}
	}
	if all[0] != loop.EndFailed {
		return all[0], f.Message
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
	return cmp.Or(sayings().ofWord[strings.ToLower(word)], loop.EndFailed)
}
