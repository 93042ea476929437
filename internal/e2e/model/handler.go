package model

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Handler serves a script below /k/KEY/, where KEY identifies the client. It answers other
// requests (lists of models, token counts) by itself.
func Handler(script Script) http.Handler {
	var answers atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, path := keyed(r.URL.Path)
		wire, stream, ok := wireOf(path)
		if r.Method != http.MethodPost || !ok {
			writeJSON(w, http.StatusOK, map[string]any{"data": []any{}, "models": []any{}, "input_tokens": 1, "totalTokens": 1})
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		q := Request{Key: key, Wire: wire, Stream: stream, Header: r.Header, Body: body}
		if err := wires()[wire].parse(body, &q); err != nil {
			http.Error(w, fmt.Sprintf("read a request to %s: %v", wire, err), http.StatusBadRequest)
			return
		}
		a := script(q)
		a.number = answers.Add(1)
		answer(w, r, q, a)
	})
}

// keyed splits "/k/KEY" off a path.
func keyed(path string) (key, rest string) {
	below, ok := strings.CutPrefix(path, "/k/")
	if !ok {
		return "", path
	}
	key, rest, _ = strings.Cut(below, "/")
	return key, "/" + rest
}

func wireOf(path string) (wire Wire, stream, ok bool) {
	for _, wire := range []Wire{Messages, Responses, Chat} {
		if strings.HasSuffix(path, "/"+string(wire)) {
			return wire, false, true
		}
	}
	stream = strings.HasSuffix(path, ":streamGenerateContent")
	return Gemini, stream, stream || strings.HasSuffix(path, ":generateContent")
}

// A protocol is how a wire encodes requests and answers.
type protocol struct {
	parse func(body []byte, r *Request) error
	// stream returns the events of an answer, in order.
	stream func(Answer) []event
	whole  func(Answer) any
	// failure returns the event, or the body, of an error.
	failure func(status int, message string) event
	// limit returns the header and the body of an answer that says when a limit ends.
	limit func(left time.Duration, until time.Time) (http.Header, any)
	// tooLong is the service's message for a prompt that is too long.
	tooLong string
}

// An event is a server-sent event.
type event struct {
	name string // "": none
	data any    // a string is sent as it is, anything else as JSON
}

func wires() map[Wire]protocol {
	return map[Wire]protocol{
		Messages:  {parseMessages, streamMessages, wholeMessages, failMessages, limitMessages, "prompt is too long: 250000 tokens > 200000 maximum"},
		Responses: {parseResponses, streamResponses, wholeResponses, failResponses, limitResponses, ""},
		Chat:      {parseChat, streamChat, wholeChat, failChat, limitChat, "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens."},
		Gemini:    {parseGemini, streamGemini, wholeGemini, failGemini, limitGemini, "The input token count (1250000) exceeds the maximum number of tokens allowed (1048576)."},
	}
}

func answer(w http.ResponseWriter, r *http.Request, q Request, a Answer) {
	speak, f := wires()[q.Wire], a.Fault
	if f.TooLong && speak.tooLong != "" {
		f.Status, f.Message = http.StatusBadRequest, speak.tooLong
	}
	switch {
	case f.Hang:
		<-r.Context().Done()
	case !f.Until.IsZero():
		header, body := speak.limit(time.Until(f.Until), f.Until)
		maps.Copy(w.Header(), header)
		writeJSON(w, http.StatusTooManyRequests, body)
	case f.Status != 0:
		maps.Copy(w.Header(), f.Header)
		writeJSON(w, f.Status, speak.failure(f.Status, f.Message).data)
	case !q.Stream && f.Cut:
		w.Header().Set("Content-Length", "1000")
		_ = send(w, []event{{"", `{"id":`}}) // the client may be gone
		panic(http.ErrAbortHandler)
	case !q.Stream:
		writeJSON(w, http.StatusOK, speak.whole(a))
	default:
		stream(w, speak, a)
	}
}

func stream(w http.ResponseWriter, speak protocol, a Answer) {
	w.Header().Set("Content-Type", "text/event-stream")
	events := speak.stream(a)
	if a.Fault.Cut || a.Fault.Event {
		events = events[:len(events)/2]
	}
	if a.Fault.Event {
		events = append(events, speak.failure(http.StatusInternalServerError, a.Fault.Message))
	}
	if err := send(w, events); err != nil || a.Fault.Cut {
		panic(http.ErrAbortHandler)
	}
}

func send(w http.ResponseWriter, events []event) error {
	for _, e := range events {
		text, plain := e.data.(string)
		if !plain {
			data, err := json.Marshal(e.data)
			if err != nil {
				return fmt.Errorf("encode an event: %w", err)
			}
			text = string(data)
		}
		text = "data: " + text + "\n\n"
		if e.name != "" {
			text = "event: " + e.name + "\n" + text
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
