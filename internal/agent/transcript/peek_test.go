package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

// FuzzJSON compares decode with encoding/json on any line: truncated, not UTF-8, with
// repeated or capitalized names, or with a number in place of a text.
func FuzzJSON(f *testing.F) {
	for _, s := range samples(f) {
		for line := range bytes.Lines(s.stdout) {
			f.Add(bytes.TrimSpace(line))
		}
	}
	for _, line := range []string{
		`{"type":"a","TYPE":"b","type":null,"x":{"type":"c"}}`, `{"ty\u0070e":"\ud800é"}`, `{"type":"a"`, `{"type":"a"} x`,
		"{\"type\":\"\xff\",\"text\":\"\xc3\"}", `{"type":5,"is_error":"no","num_turns":1e99,"result":{},"usage":[]}`,
		`{"content":[{"text":1},{"text":"b"}],"content":[{"type":"c"}],"error":{"message":["a"]}}`,
		`{"command":["a","b"],"cmd":[1],"path":null,"query":"\u0000"}`, `{"modelUsage":{"a":{"inputTokens":1}},"modelUsage":{"b":{}}}`,
		`[1]`, `null`, `{}`, `{"a":01}`, `{"type":"a",}`, "{\"a\":\"\t\"}", `{"usage":{"input":9223372036854775808,"cost":{"total":-0.0}}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var head struct {
			Type string `json:"type"`
		}
		want := bytes.HasPrefix(line, []byte{'{'}) && standard(line, &head)
		if !want {
			head.Type = ""
		}
		if kind := kindOf(line); kind != head.Type {
			t.Errorf("type %q, want %q", kind, head.Type)
		}
		if !want {
			return
		}
		for _, fresh := range []func() any{
			func() any { return new(claudeResult) }, func() any { return new(clineEvent) }, func() any { return new(codexItem) },
			func() any { return new(input) }, func() any { return new(openCodeError) }, func() any { return new(piMessage) },
			func() any { return new(struct{ Error loose }) },
		} {
			got, want := fresh(), fresh()
			if ok := decode(line, got); ok != standard(line, want) || !reflect.DeepEqual(got, want) {
				t.Errorf("read as %T: %+v, want %+v", got, got, want)
			}
		}
	})
}

// standard is decode implemented with encoding/json.
func standard(object []byte, v any) bool {
	err := json.Unmarshal(object, v)
	_, mismatch := errors.AsType[*json.UnmarshalTypeError](err)
	return err == nil || mismatch
}
