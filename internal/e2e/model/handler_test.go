package model_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/e2e/model"
)

// asks are requests as agents send them, one for each wire, all with the same conversation.
func asks() map[model.Wire]string {
	return map[model.Wire]string{
		model.Messages: `{"system":[{"type":"text","text":"be good"}],"messages":[
			{"role":"user","content":"begin, please"},
			{"role":"assistant","content":[{"type":"text","text":"I look"},{"type":"tool_use","id":"a","name":"Bash","input":{}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"seen"}]}]}],
			"tools":[{"name":"Bash","input_schema":SCHEMA}],"stream":STREAM}`,
		model.Responses: `{"instructions":"be good","input":[
			{"type":"message","role":"user","content":[{"type":"input_text","text":"begin, please"}]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look"}]},
			{"type":"function_call","name":"Bash","call_id":"a","arguments":"{}"},
			{"type":"function_call_output","call_id":"a","output":"seen"}],
			"tools":[{"type":"function","name":"Bash","parameters":SCHEMA}],"stream":STREAM}`,
		model.Chat: `{"messages":[{"role":"system","content":"be good"},
			{"role":"user","content":[{"type":"text","text":"begin, please"}]},
			{"role":"assistant","content":"I look","tool_calls":[{"id":"a","type":"function","function":{"name":"Bash","arguments":"{}"}}]},
			{"role":"tool","tool_call_id":"a","content":"seen"}],
			"tools":[{"type":"function","function":{"name":"Bash","parameters":SCHEMA}}],"stream":STREAM}`,
		model.Gemini: `{"systemInstruction":{"parts":[{"text":"be good"}]},"contents":[
			{"role":"user","parts":[{"text":"begin, please"}]},
			{"role":"model","parts":[{"text":"I look"},{"functionCall":{"name":"Bash","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"Bash","response":{"output":"seen"}}}]}],
			"tools":[{"functionDeclarations":[{"name":"Bash","parametersJsonSchema":SCHEMA}]}]}`,
	}
}

const bash = `{"type":"object","properties":{"command":{"type":"string"},"description":{"type":"string"},
	"background":{"type":"boolean"}},"required":["command","background"]}`

// A place is a server with a script.
type place struct {
	url string

	mu    sync.Mutex
	heard []model.Request
}

func serve(t *testing.T, script model.Script) *place {
	t.Helper()
	p := &place{}
	s := httptest.NewServer(model.Handler(func(r model.Request) model.Answer {
		p.mu.Lock()
		p.heard = append(p.heard, r)
		p.mu.Unlock()
		return script(r)
	}))
	t.Cleanup(s.Close)
	p.url = s.URL
	return p
}

// ask sends a request over a wire and returns the body of the answer, as far as it came.
func (p *place) ask(t *testing.T, wire model.Wire, stream bool) (*http.Response, string, error) {
	t.Helper()
	path := "/v1/" + string(wire)
	if wire == model.Gemini {
		path = "/v1beta/models/some:generateContent"
		if stream {
			path = "/v1beta/models/some:streamGenerateContent"
		}
	}
	body := strings.NewReplacer("SCHEMA", bash, "STREAM", map[bool]string{true: "true", false: "false"}[stream]).Replace(asks()[wire])
	resp, err := http.Post(p.url+"/k/mine"+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp, string(data), err
}

func everyWire(t *testing.T, test func(t *testing.T, wire model.Wire, stream bool)) {
	t.Helper()
	for wire := range asks() {
		for name, stream := range map[string]bool{"stream": true, "whole": false} {
			t.Run(string(wire)+" "+name, func(t *testing.T) {
				t.Parallel()
				test(t, wire, stream)
			})
		}
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	everyWire(t, func(t *testing.T, wire model.Wire, stream bool) {
		p := serve(t, func(model.Request) model.Answer { return model.Answer{Text: "good"} })
		if _, _, err := p.ask(t, wire, stream); err != nil || len(p.heard) != 1 {
			t.Fatal(err, len(p.heard))
		}
		r := p.heard[0]
		if r.Key != "mine" || r.Wire != wire || r.Stream != stream {
			t.Errorf("heard %+v", r)
		}
		text, results, ok := r.Last("begin")
		if !ok || text != "begin, please" || len(results) != 1 || !strings.Contains(results[0], "seen") {
			t.Errorf("last: %q %q %t", text, results, ok)
		}
		if _, _, ok := r.Last("be good"); ok {
			t.Error("a system message is taken for the user's")
		}
		call, ok := r.Run("make")
		want := model.Call{Tool: "Bash", Input: map[string]any{"command": "make", "background": false}}
		if !ok || !reflect.DeepEqual(call, want) {
			t.Errorf("run: %+v %t", call, ok)
		}
		if _, ok := r.Write("a", "b"); ok {
			t.Error("a tool was called that is not offered")
		}
	})
}

// TestAnswers: answers have the format of the services' references.
func TestAnswers(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("what a wörd\n", 99)
	everyWire(t, func(t *testing.T, wire model.Wire, stream bool) {
		p := serve(t, func(r model.Request) model.Answer {
			call, _ := r.Run("make")
			return model.Answer{Text: text, Call: &call}
		})
		_, body, err := p.ask(t, wire, stream)
		if err != nil {
			t.Fatal(err)
		}
		said, command := "", ""
		for _, doc := range documents(t, body, stream) {
			walk(doc, func(key string, v any) {
				s, ok := v.(string)
				switch {
				case !ok:
				case key == "text" && wire != model.Responses, key == "content", key == "delta" && wire == model.Responses,
					key == "text" && wire == model.Responses && !stream:
					said += s
				case strings.Contains(s, `"command":"make"`), key == "command":
					command = s
				}
			})
		}
		if said != text {
			t.Errorf("the text is %q", said)
		}
		if !strings.Contains(command, "make") {
			t.Errorf("the tool's input is %q in\n%s", command, body)
		}
		if !strings.Contains(body, "300") {
			t.Error("cached tokens are not counted")
		}
	})
}

// documents returns the JSON values of an answer.
func documents(t *testing.T, body string, stream bool) []any {
	t.Helper()
	if !stream {
		body = "data: " + strings.TrimSpace(body)
	}
	var all []any
	lines := bufio.NewScanner(strings.NewReader(body))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		all = append(all, v)
	}
	return all
}

func walk(v any, visit func(string, any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			visit(key, inner)
			walk(inner, visit)
		}
	case []any:
		for _, inner := range v {
			walk(inner, visit)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	everyWire(t, func(t *testing.T, wire model.Wire, stream bool) {
		var fault model.Fault
		p := serve(t, func(model.Request) model.Answer { return model.Answer{Text: "a word, and another", Fault: fault} })
		fault = model.Fault{Status: 429, Message: "slow down", Header: http.Header{"Retry-After": {"7"}}}
		resp, body, err := p.ask(t, wire, stream)
		if err != nil || resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") != "7" || !strings.Contains(body, "slow down") {
			t.Errorf("status: %v, %s, %v", resp.Status, body, err)
		}
		fault = model.Fault{Cut: true}
		if _, _, err := p.ask(t, wire, stream); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut: %v", err)
		}
		fault = model.Fault{TooLong: true}
		if _, body, err := p.ask(t, wire, stream); err != nil || !strings.Contains(body, "exceed") && !strings.Contains(body, "maximum") {
			t.Errorf("too long: %s, %v", body, err)
		}
		fault = model.Fault{Event: true, Message: "it broke"}
		_, body, err = p.ask(t, wire, stream)
		if err != nil || strings.Contains(body, "it broke") != stream {
			t.Errorf("event: %s, %v", body, err)
		}
	})
}

// TestLimitEnds: each service states the end of a limit in its own place.
func TestLimitEnds(t *testing.T) {
	t.Parallel()
	everyWire(t, func(t *testing.T, wire model.Wire, stream bool) {
		until := time.Now().Add(90*time.Second - 50*time.Millisecond) // neither a full minute nor a full second
		most := time.Until(until)
		p := serve(t, func(model.Request) model.Answer { return model.Answer{Fault: model.Fault{Until: until}} })
		resp, body, err := p.ask(t, wire, stream)
		if err != nil || resp.StatusCode != http.StatusTooManyRequests {
			t.Fatalf("%v, %s, %v", resp.Status, body, err)
		}
		left := span{time.Until(until), most}
		stated := strconv.FormatInt(until.Unix(), 10)
		switch wire {
		case model.Messages:
			if got := resp.Header.Get("anthropic-ratelimit-unified-reset"); got != stated {
				t.Errorf("the header says %q, want %s", got, stated)
			}
			left.holds(t, resp.Header.Get("Retry-After")+"s", time.Second)
		case model.Responses:
			if !strings.Contains(body, `"resets_at":`+stated) || !strings.Contains(body, `"type":"usage_limit_reached"`) {
				t.Error(body)
			}
		case model.Chat:
			left.holds(t, between(body, "Please try again in ", ". Visit"), time.Millisecond)
		case model.Gemini:
			left.holds(t, between(body, "Please retry in ", `."`), time.Nanosecond)
			left.holds(t, between(body, `"retryDelay":"`, `"`), time.Nanosecond)
		}
	})
}

// A span is the time that was left before and after a service was asked.
type span struct{ least, most time.Duration }

// holds checks that a stated time lies in the span. It is rounded up to whole units, so it must not
// be too short by more than a part of a millisecond.
func (s span) holds(t *testing.T, told string, unit time.Duration) {
	t.Helper()
	if d, err := time.ParseDuration(told); err != nil || d < s.least.Truncate(time.Millisecond) || d >= s.most+unit {
		t.Errorf("the stated time is %q, want one between %s and %s: %v", told, s.most, s.least, err)
	}
}

// between returns the text between two others.
func between(text, before, after string) string {
	_, rest, _ := strings.Cut(text, before)
	found, _, _ := strings.Cut(rest, after)
	return found
}

func TestOtherQuestions(t *testing.T) {
	t.Parallel()
	p := serve(t, func(model.Request) model.Answer { return model.Answer{} })
	resp, err := http.Get(p.url + "/k/mine/v1/models")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	resp, err = http.Post(p.url+"/k/mine/v1/messages", "application/json", strings.NewReader("no JSON"))
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	if len(p.heard) != 0 {
		t.Errorf("the script was asked: %+v", p.heard)
	}
}
