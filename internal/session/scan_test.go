package session

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// checkScan compares newDecoder with encoding/json: both accept the same objects, and read the same
// fields.
func checkScan(t *testing.T, text []byte) {
	t.Helper()
	var want map[string]json.RawMessage
	err := json.Unmarshal(text, &want)
	d, wrong := newDecoder(text, whole)
	if isObject := err == nil && want != nil; (wrong == nil) != isObject {
		t.Fatalf("%q: %v, want an object: %v (%v)", text, wrong, isObject, err)
	}
	if wrong != nil {
		return
	}
	got := map[string]json.RawMessage{}
	for name, raw := range d.members {
		got[name] = json.RawMessage(raw)
		if raw[0] == '"' {
			var said, plain string
			(&decoder{members: rawObject{"x": d.members[name]}, err: d.err}).value("x", &said)
			if err := json.Unmarshal(raw, &plain); err != nil || said != plain {
				t.Fatalf("%s reads %q, want %q", raw, said, plain)
			}
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q has the fields %q, want %q", text, got, want)
	}
}

func scanSeeds() []string {
	return []string{
		``, `{}`, ` { } `, `{`, `[]`, `null`, `7`, `{"a":1}x`, `{"a":1,}`, `{,}`, `{"a" : [1, 2 ,{"b":null}] , "c":true}`,
		`{"a":01}`, `{"a":-}`, `{"a":-0.5e+10}`, `{"a":1.}`, `{"a":1e}`, `{"a":.5}`, `{"a":nul}`, `{"a":"\x"}`, `{"a":"\u12g4"}`,
		`{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `{"\u0061":1,"a":2}`, `{"a":"\"\\\/\b\f\n\r\t\u0085\u00e9"}`, `{"a":1,"a":2}`,
		"{\"a\":\"\x00\"}", "{\"a\":\"1234567\x1f\"}", "{\"a\":\"\xff\"}", "{\"\xff\":1}", "{\"a\":\"\x7f\u0085\"}", `{"a":"unended`, `{"a":"unended\`, `{a:1}`,
		`{"a":` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + `}`, `{"a":"` + strings.Repeat("é\\n", 40) + `"}`,
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range scanSeeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(checkScan)
}

// TestScanDeep nests values as deep as encoding/json permits, and deeper.
func TestScanDeep(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{10000 - 1, 10000, 10000 + 1} {
		checkScan(t, []byte(`{"a":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}`))
	}
}

// TestScanAnywhere ends the input in every possible way, at every position in a word.
func TestScanAnywhere(t *testing.T) {
	t.Parallel()
	for n := range 40 {
		for _, end := range []string{"", strings.Repeat(`\\`, 4096/2+n) + `\"`, strings.Repeat("é", 4096) + `\\`, `\n`, `\`, "\x01", "\x1f", " ", "é", "\x80", `\"`, "\"", "\u0081"} {
			checkScan(t, []byte(`{"a":"`+strings.Repeat("x", n)+end+`"}`))
		}
	}
}

// TestLean: every generated event that is read lean equals the event without its bulky parts.
func TestLean(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		stamps, events := randomEvents(seed)
		for i, e := range events {
			at, want, _ := Logged(stamps[i], e)
			if round, ok := want.(loop.IterationFinished); ok && len(round.Round.Change.Files) == 0 {
				continue
			}
			got, err := decode(Encode(at, e), lean)
			if err != nil || !reflect.DeepEqual(got.Event, withoutBulk(want)) {
				t.Fatalf("%T, %v\n got %+v\nwant %+v", e, err, got.Event, withoutBulk(want))
			}
		}
	}
}

func withoutBulk(e loop.Event) loop.Event {
	critic := func(r loop.Review) loop.Review {
		if r.Reply != r.Stdout.Text {
			r.Stdout.Text = ""
		}
		r.Stderr.Text = ""
		return r
	}
	checks := func(list []loop.CheckResult) {
		for i := range list {
			list[i].Output.Text = ""
		}
	}
	switch e := e.(type) {
	case loop.BaselineChecked:
		checks(e.Checks)
		return e
	case loop.ChecksFinished:
		checks(e.Checks)
		return e
	case loop.ReviewRejected:
		e.Review = critic(e.Review)
		return e
	case loop.Noted:
		checks(e.Checks)
		return e
	case loop.TurnFinished:
		if e.Reply.Text != e.Reply.Stdout.Text {
			e.Reply.Stdout.Text = ""
		}
		e.Reply.Stderr.Text = ""
		return e
	case loop.IterationFinished:
		e.Round.Attempt.Turn = withoutText(e.Round.Attempt.Turn)
		e.Round.Change = withoutPatches(e.Round.Change)
		if e.Round.Own != nil {
			e.Round.Own = new(withoutPatches(*e.Round.Own))
		}
		e.Round.Review = critic(e.Round.Review)
		checks(e.Round.Checks)
		return e
	}
	return e
}

// TestLeanOriginal: a line whose only information about files is the diff is read for it.
func TestLeanOriginal(t *testing.T) {
	t.Parallel()
	line := `{"type":"iteration","git_diff":"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a\n+b\n+c\n","actor_output":"x"}`
	got, err := decode([]byte(line), lean)
	round, ok := got.Event.(loop.IterationFinished)
	if err != nil || !ok || round.Round.Change.Insertions != 2 || round.Round.Change.Deletions != 1 || round.Round.Attempt.Stdout.Text != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLeanIsNoLessCareful: all that is not left out is checked as usual.
func TestLeanIsNoLessCareful(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*4096)
	for line, bad := range map[string]bool{
		`{"type":"warning","message":"` + long + `"}`:             false,
		`{"type":"warning","message":"` + long + `\u12"}`:         true,
		`{"type":"warning","message":"` + long + "\x01" + `"}`:    true,
		`{"type":"iteration","actor_output":"` + long + `\u12"}`:  true,
		`{"type":"iteration","actor_output":"` + long + `\"}`:     true,
		`{"type":"iteration","critic_output":"` + long + `\u12"}`: true,
	} {
		if got, err := decode([]byte(line), lean); (err != nil) != bad {
			t.Errorf("%.30s…%s: %v, %v", line, line[len(line)-8:], got.Event != nil, err)
		}
	}
}

func TestTotals(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 100 {
		var sum progress.Tally
		for _, part := range reflect.ValueOf(&sum).Elem().Fields() {
			if part.CanSet() {
				randomize(rnd, part)
			}
		}
		sum.Iterations = 0 // the outcome's
		sum.Actor.Usage.CostUSD, sum.Critic.Usage.CostUSD = rnd.Float64(), rnd.Float64()
		sum.Spent.Actor.CostUSD, sum.Spent.Critic.CostUSD, sum.Spent.Others.CostUSD = rnd.Float64(), rnd.Float64(), rnd.Float64()
		got, err := decode(Entry{At: stamped(1), Event: loop.Finished{}, Totals: &sum}.line(), whole)
		if err != nil || got.Totals == nil || !reflect.DeepEqual(*got.Totals, sum) {
			t.Fatalf("%v\n got %+v\nwant %+v", err, got.Totals, sum)
		}
	}
	if got, err := decode(Encode(stamped(1), loop.Finished{}), whole); err != nil || got.Totals != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func BenchmarkLean(b *testing.B) {
	e := firstRound()
	text := strings.Repeat("+\tif err := some.Call(\"of a function\"); err != nil { // é\n", 20_000)
	e.Change.Files[0].Patch, e.Attempt.Stdout.Text = text, text
	line := Encode(stamped(1), loop.IterationFinished{Round: e})
	for name, how := range map[string]care{"lean": lean, "whole": whole} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if _, err := decode(line, how); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
