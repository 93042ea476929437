package session

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"codeloops/internal/loop"
)

var snippets = []string{
	"plain", " ", "\n", "\r\n", "\t", `"`, `\`, "<a href='x'>&</a>", "\x00", "\x1b[31m", "\x7f", "\u0085", "\u009b",
	"\u2028", "é", "語", "😀", "\ufffd", "\ufeff", "\xff", "\xc3", "\xed\xa0\x80", "\xf0\x9f\x98",
	"diff --git a/x b/x\n", "+line\n", "[redacted]", "/", "..", "0", "null",
}

func randomText(rnd *rand.Rand) string {
	var b strings.Builder
	for range rnd.IntN(5) {
		b.WriteString(snippets[rnd.IntN(len(snippets))])
	}
	return b.String()
}

func randomFloat(rnd *rand.Rand) float64 {
	switch rnd.IntN(8) {
	case 0:
		return math.NaN()
	case 1:
		return math.Inf(1 - 2*rnd.IntN(2))
	case 2:
		return 0
	}
	return rnd.NormFloat64()
}

// randomize sets v and everything in it to random values. It knows no field by name, so a new field
// must be known to the codec.
func randomize(rnd *rand.Rand, v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		at := time.Unix(rnd.Int64N(1<<33), rnd.Int64N(1e9)).In(time.FixedZone("", rnd.IntN(20)*1800))
		v.Set(reflect.ValueOf(at))
		return
	case loop.State, loop.Access:
		words := map[string]uint64{"State": uint64(loop.Ended) + 1, "Access": uint64(loop.Write) + 1}
		v.SetUint(rnd.Uint64N(words[v.Type().Name()]))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(randomText(rnd))
	case reflect.Int, reflect.Int64:
		v.SetInt(rnd.Int64() >> rnd.IntN(64) * int64(1-2*rnd.IntN(2)))
	case reflect.Uint32:
		v.SetUint(uint64(rnd.Uint32() >> rnd.IntN(32)))
	case reflect.Float64:
		v.SetFloat(randomFloat(rnd))
	case reflect.Bool:
		v.SetBool(rnd.IntN(2) == 0)
	case reflect.Pointer:
		if rnd.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			randomize(rnd, v.Elem())
		}
	case reflect.Slice:
		if n := rnd.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
		}
		for i := range v.Len() {
			randomize(rnd, v.Index(i))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			randomize(rnd, field)
		}
	default:
		panic("a field of a kind that this test does not know: " + v.Type().String())
	}
}

func randomEvents(seed uint64) (stamps []loop.Stamp, events []loop.Event) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	for _, e := range everyEvent() {
		v := reflect.New(reflect.TypeOf(e)).Elem()
		randomize(rnd, v)
		var at loop.Stamp
		randomize(rnd, reflect.ValueOf(&at).Elem())
		stamps, events = append(stamps, at), append(events, v.Interface().(loop.Event))
	}
	return stamps, events
}

// checkCodec compares decode(encode(e)) with Logged(e).
func checkCodec(t *testing.T, at loop.Stamp, e loop.Event) {
	t.Helper()
	line := Encode(at, e)
	if !json.Valid(line) || !utf8.Valid(line) {
		t.Fatalf("not JSON in UTF-8: %q", line)
	}
	if n := strings.Count(string(line), "\n"); n != 1 || line[len(line)-1] != '\n' {
		t.Fatalf("not one line: %q", line)
	}
	got, err := decode(line)
	if err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	wantAt, want, ok := Logged(at, e)
	if _, passing := e.(loop.Activity); ok == passing {
		t.Fatalf("%T is logged: %v", e, ok)
	}
	if got.At != wantAt || !reflect.DeepEqual(got.Event, want) {
		t.Fatalf("%s\n got %v %+v\nwant %v %+v", line, got.At, got.Event, wantAt, want)
	}
}

func TestCodec(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		stamps, events := randomEvents(seed)
		_, same := randomEvents(seed)
		for i, e := range events {
			checkCodec(t, stamps[i], e)
			if !equalButNaN(e, same[i]) {
				t.Fatalf("%T differs after it was encoded", e)
			}
		}
	}
}

// equalButNaN compares the output of %v, for which NaN equals NaN.
func equalButNaN(a, b loop.Event) bool {
	return string(Encode(loop.Stamp{}, a)) == string(Encode(loop.Stamp{}, b)) && reflect.TypeOf(a) == reflect.TypeOf(b)
}

func FuzzCodec(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		stamps, events := randomEvents(seed)
		for i, e := range events {
			checkCodec(t, stamps[i], e)
		}
	})
}

// FuzzDecode: every line that can be decoded can be encoded again, and then decodes to the same
// event.
func FuzzDecode(f *testing.F) {
	for _, e := range wholeRun() {
		f.Add(Encode(stamped(1), e))
	}
	f.Add([]byte(`{"type":"iteration","files":[{"diff_bytes":-1}],"git_diff":"x"}`))
	f.Add([]byte(`{"type":"iteration","git_diff":"diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n","git_diff_base64":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		first, err := decode(line)
		if err != nil || first.Event == nil {
			return
		}
		if y := first.At.Time.Year(); y < 0 || y > 9999 {
			return
		}
		checkCodec(t, first.At, first.Event)
	})
}

func FuzzString(f *testing.F) {
	for _, s := range snippets {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := marshal(map[string]string{"text": s})
		var object struct{ Text string }
		if err := json.Unmarshal(quoted, &object); err != nil {
			t.Fatalf("%q: %v", quoted, err)
		}
		got := object.Text
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && got != want {
			t.Fatalf("%q reads %q", quoted, got)
		}
		if strings.Count(got, "\ufffd") != strings.Count(string([]rune(s)), "\ufffd") {
			t.Fatalf("%q reads %q", quoted, got)
		}
		for _, r := range strings.TrimSuffix(string(quoted), "\n") {
			if r < ' ' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q holds the control character %U", quoted, r)
			}
		}
	})
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                       "0.0",
		time.Second:             "1.0",
		1500 * time.Millisecond: "1.5",
		1:                       "0.000000001",
		-90 * time.Second / 4:   "-22.5",
		math.MaxInt64:           "9223372036.854775807",
		math.MinInt64:           "-9223372036.854775808",
	} {
		raw := seconds(d)
		back, err := parseSeconds(string(raw))
		if err != nil || string(raw) != want || back != d {
			t.Errorf("%d is written %s and read %d (%v)", d, raw, back, err)
		}
	}
	for raw, want := range map[string]time.Duration{"2": 2 * time.Second, "1.5e1": 15 * time.Second, "1e-3": time.Millisecond} {
		if got, err := parseSeconds(raw); err != nil || got != want {
			t.Errorf("%s is read %v, %v", raw, got, err)
		}
	}
	for _, raw := range []string{`"1"`, "1e300", "true", "[]"} {
		if _, err := parseSeconds(raw); err == nil {
			t.Errorf("%s is read as a number of seconds", raw)
		}
	}
}

// TestLastOf: the summary of the last iteration for programs.
func TestLastOf(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é line\n", 1000)
	checks := []loop.CheckResult{
		{Command: "true\n" + strings.Repeat("x ", 50), Ending: loop.EndCompleted, Output: loop.Output{Text: long}},
		{Command: "false", Ending: loop.EndFailed, ExitCode: 1, Output: loop.Output{Text: strings.Repeat("é", 4000)}},
	}
	round := loop.Round{Checks: checks, Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "more"}, Findings: []loop.Finding{{ID: "F1"}}}}
	got := LastOf(round)
	if got.Feedback != "more" || len(got.Findings) != 1 || len(got.Checks) != 2 {
		t.Fatalf("%+v", got)
	}
	for i, want := range []ResultCheck{
		{"true " + strings.Repeat("x ", 27) + "…", checks[0].Command, true, 0, strings.Repeat("é line\n", mostResultOutput/8)},
		{"false", "false", false, 1, strings.Repeat("é", mostResultOutput/2)},
	} {
		if got.Checks[i] != want {
			t.Errorf("got %.200q\nwant %.200q", fmt.Sprint(got.Checks[i]), fmt.Sprint(want))
		}
	}
	round.Verdict.Decision = loop.Done
	if got := LastOf(round); got.Feedback != "" {
		t.Errorf("DONE says %q", got.Feedback)
	}
}

func TestResult(t *testing.T) {
	t.Parallel()
	half := 0.5
	for _, r := range []Result{
		{},
		{
			Outcome: loop.Outcome{
				Result: loop.Success, Reason: loop.StopDone, Iterations: 3, Summary: "all <done> & well",
				Confidence: &half, Duration: 90 * time.Second, Unmentioned: 2, NothingChanged: true,
			},
			SessionID: "2025-01-27T15-30-45Z_abcdef", Log: "/logs/x.jsonl", FilesChanged: 2, Insertions: 10, Deletions: 4,
			Spent: loop.Spending{
				Actor:  loop.Spent{Tokens: 1200, TokensBasis: loop.Reported, CostUSD: 0.25, CostBasis: loop.Estimated},
				Critic: loop.Spent{Tokens: 7, TokensBasis: loop.Estimated, CostBasis: loop.Unknown},
			},
			Last: Last{
				Feedback: "more\n", Checks: []ResultCheck{{"go test", "go  test", true, 0, ""}, {"x", "x", false, -1, "end\xff\n"}},
				Findings: []loop.Finding{{ID: "F1", Text: "a", State: loop.FindingOpen, Since: 1, May: true}, {ID: "F2", Check: "x"}},
			},
		},
		{
			Outcome:  loop.Outcome{Result: loop.Failed, Reason: loop.StopAgentNotFound},
			ExitCode: 2, Failure: &Failure{Message: "no agent \"x\xff\"", Hint: "install it"},
		},
		{Failure: &Failure{}},
	} {
		document := r.Encode()
		got, err := decodeResult(document)
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", document, got, err, r)
		}
	}
	want := `{"type":"result","schema_version":2,"outcome":"failed","stop_reason":null,"exit_code":2,"iterations":0,` +
		`"summary":null,"confidence":null,"duration_secs":0.0,"findings_unmentioned":0,"nothing_changed":false,"session_id":null,"log":null,"files_changed":0,` +
		`"insertions":0,"deletions":0,` +
		`"spent":{"actor":{"tokens":0,"tokens_basis":null,"cost_usd":0,"cost_basis":null},` +
		`"critic":{"tokens":0,"tokens_basis":null,"cost_usd":0,"cost_basis":null}},"feedback":null,"checks":[],"findings":[],"error":{"message":"no","hint":null}}` + "\n"
	failed := Result{Outcome: loop.Outcome{Result: loop.Failed}, ExitCode: 2, Failure: &Failure{Message: "no"}}
	if got := string(failed.Encode()); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

// decodeResult is the inverse of [Result.Encode].
func decodeResult(text []byte) (r Result, err error) {
	var d document
	if err := unmarshal(text, &d); err != nil {
		return r, err
	}
	r = Result{
		Outcome: loop.Outcome{
			Result: d.Result, Reason: orZero(d.Reason), Cause: d.Cause, Iterations: d.Iterations, Summary: orZero(d.Summary), Confidence: d.Confidence,
			Duration: d.Duration, ActorError: d.ActorError, Unmentioned: d.Unmentioned, NothingChanged: d.NothingChanged,
		},
		ExitCode: d.ExitCode, SessionID: orZero(d.SessionID), Log: orZero(d.Log), FilesChanged: d.FilesChanged, Insertions: d.Insertions,
		Deletions: d.Deletions, Musts: d.Musts, Mays: d.Mays, Spent: d.Spent, Last: Last{orZero(d.Feedback), orNil(d.Checks), orNil(d.Findings)},
	}
	if d.Failure != nil {
		r.Failure = &Failure{d.Failure.Message, orZero(d.Failure.Hint)}
	}
	return r, nil
}

// everyEvent returns one event of each kind.
func everyEvent() []loop.Event {
	return []loop.Event{
		loop.Started{},
		loop.Resumed{},
		loop.IterationStarted{},
		loop.PhaseEntered{},
		loop.Activity{},
		loop.WaitStarted{},
		loop.WaitFinished{},
		loop.ActorFinished{},
		loop.DiffCaptured{},
		loop.Inspected{},
		loop.BaselineChecked{},
		loop.ChecksFinished{},
		loop.ReviewRejected{},
		loop.CriticFinished{},
		loop.IterationFinished{},
		loop.TurnStarted{},
		loop.TurnFinished{},
		loop.Noted{},
		loop.Warned{},
		loop.Finished{},
	}
}
