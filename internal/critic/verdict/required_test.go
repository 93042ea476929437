package verdict_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
)

func risk(kind, note string) loop.Risk { return loop.Risk{Type: kind, Detail: note} }

func structured() loop.Policy {
	return loop.Policy{Critique: &loop.CritiquePolicy{
		RiskTypes: []string{"overconfidence", "legal_risk"}, HighRiskTypes: []string{"legal_risk"},
		MaxRisks: 2, MaxRequiredChanges: 2,
	}}
}

// cases returns, for each term of the contract, a verdict that this term alone refuses.
func cases() map[string]struct {
	contract loop.Policy
	verdict  loop.Verdict
	problem  string
} {
	done := loop.Verdict{Decision: loop.Done}
	with := func(v loop.Verdict, change func(*loop.Verdict)) loop.Verdict {
		change(&v)
		return v
	}
	revise := loop.Verdict{Decision: loop.Continue, RequiredChanges: []string{`ADD "a phrase"`}}
	type row = struct {
		contract loop.Policy
		verdict  loop.Verdict
		problem  string
	}
	return map[string]row{
		"critic_decisions": {
			loop.Policy{CriticDecisions: []string{"done", "escalate"}},
			loop.Verdict{Decision: loop.Continue},
			"it decides continue, and this run lets a critic decide only done, escalate",
		},
		"score": {
			loop.Policy{ApprovalThreshold: new(0.9)}, done, "it gives no score from 0 to 1, and this run goes by the score",
		},
		"severity": {
			structured(), with(done, func(v *loop.Verdict) { v.Severity = "grave" }),
			`its severity is "grave", which is none of low, medium and high`,
		},
		"max_risks": {
			structured(), with(done, func(v *loop.Verdict) {
				v.Risks = []loop.Risk{risk("overconfidence", "a"), risk("overconfidence", "b"), risk("overconfidence", "c")}
			}), "it names 3 risks, and 2 are the most",
		},
		"risk_types": {
			structured(), with(done, func(v *loop.Verdict) { v.Risks = []loop.Risk{risk("weather", "rain")} }),
			`it names a risk of the type "weather", which is none of overconfidence, legal_risk`,
		},
		"risk_note": {
			structured(), with(done, func(v *loop.Verdict) { v.Risks = []loop.Risk{risk("overconfidence", "")} }),
			`it names a risk of the type "overconfidence" without a note on it`,
		},
		"max_required_changes": {
			structured(), with(revise, func(v *loop.Verdict) {
				v.RequiredChanges = []string{`ADD "one of them"`, `ADD "two of them"`, `ADD "three of them"`}
			}), "it names 3 required changes, and 2 are the most",
		},
		"approve_requires_nothing": {
			structured(), with(done, func(v *loop.Verdict) { v.RequiredChanges = []string{`ADD "a phrase"`} }),
			"it approves the work and requires changes",
		},
		"approve_without_high_risk": {
			structured(), with(done, func(v *loop.Verdict) { v.Severity = "High" }),
			"it approves the work and finds a high risk in it",
		},
		"revise_requires_changes": {
			structured(),
			loop.Verdict{Decision: loop.Continue, Feedback: "more"},
			"it asks for a revision and requires no changes",
		},
		"changes_enforceable": {
			structured(), with(revise, func(v *loop.Verdict) { v.RequiredChanges = []string{"make it better"} }),
			`the required change "make it better" does not hold exactly one quoted phrase`,
		},
		"high_risk_escalates": {
			structured(), with(revise, func(v *loop.Verdict) { v.Risks = []loop.Risk{risk("legal_risk", "a licence")} }),
			"it finds a high risk, which it must escalate to a person",
		},
		"escalate_reason": {
			structured(),
			loop.Verdict{Decision: loop.Error, Escalation: verdict.NoReason},
			"it escalates and gives no reason",
		},
	}
}

// Every term refuses its case, and without a contract every case passes.
func TestTerms(t *testing.T) {
	t.Parallel()
	all := cases()
	for _, name := range verdict.Terms() {
		c, ok := all[name]
		if !ok {
			t.Errorf("the term %s has no case", name)
			continue
		}
		if term, got := verdict.Check(c.contract, c.verdict); got != c.problem || term != name {
			t.Errorf("%s: got %q and %s, want %q", name, got, term, c.problem)
		}
		if _, got := verdict.Check(loop.Policy{}, c.verdict); got != "" {
			t.Errorf("%s: without a contract: %q", name, got)
		}
	}
	if len(all) != len(verdict.Terms()) {
		t.Errorf("%d cases for %d terms", len(all), len(verdict.Terms()))
	}
}

// The page on verdicts has one row for each term.
func TestTermsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reviews.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## A structured critique\n")
	var told []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(text, -1) {
		told = append(told, m[1])
	}
	if !slices.Equal(told, verdict.Terms()) {
		t.Errorf("docs/reviews.md has %q, the terms are %q", told, verdict.Terms())
	}
}

// Without its term each case passes, so every term is needed.
func TestTermsStandAlone(t *testing.T) {
	t.Parallel()
	for name, c := range cases() {
		if got := verdict.CheckWithout(name, c.contract, c.verdict); got != "" {
			t.Errorf("without %s another term refuses its case: %q", name, got)
		}
	}
}

func TestKept(t *testing.T) {
	t.Parallel()
	scored := structured()
	scored.ApprovalThreshold = new(0.5)
	for name, c := range map[string]struct {
		contract loop.Policy
		verdict  loop.Verdict
	}{
		"approve":             {structured(), loop.Verdict{Decision: loop.Done, Severity: " LOW ", Risks: []loop.Risk{risk("overconfidence", "a")}}},
		"revise":              {structured(), loop.Verdict{Decision: loop.Continue, RequiredChanges: []string{`MUST_REMOVE "gone"`, `ADD "there"`}}},
		"escalate":            {structured(), loop.Verdict{Decision: loop.Error, Escalation: "a licence", Severity: "high", Risks: []loop.Risk{risk("legal_risk", "x")}}},
		"error":               {structured(), loop.Verdict{Decision: loop.Error, Analysis: "it broke"}},
		"no score, error":     {scored, loop.Verdict{Decision: loop.Error}},
		"no score, escalated": {scored, loop.Verdict{Decision: loop.Error, Escalation: "x"}},
		"score":               {scored, loop.Verdict{Decision: loop.Done, Rating: loop.Rating{Score: new(0.1)}}},
	} {
		if _, got := verdict.Check(c.contract, c.verdict); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestParseChange(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", verdict.MaxPhrase)
	for text, want := range map[string]verdict.RequiredChange{
		`ADD "a phrase"`:                     {Phrase: "a phrase"},
		`add: 'a  phrase'`:                   {Phrase: "a phrase"},
		`MUST_INCLUDE “a phrase”`:            {Phrase: "a phrase"},
		`You MUST_INCLUDE "a phrase" in it`:  {Phrase: "a phrase"},
		`REMOVE- "a phrase"`:                 {Phrase: "a phrase", Remove: true},
		`must_remove "don't"`:                {Phrase: "don't", Remove: true},
		`REMOVE the user's "phrase here"`:    {Phrase: "phrase here", Remove: true},
		`MUST_REMOVE 'fmt.Println("debug")'`: {Phrase: `fmt.Println("debug")`, Remove: true},
		`ADD "must_remove it"`:               {Phrase: "must_remove it"},
		"ADD \"over\ntwo lines\"":            {Phrase: "over two lines"},
		`ADD "abc"`:                          {Phrase: "abc"},
		`ADD "` + long + `"`:                 {Phrase: long},
		`ADD ""`:                             {},
		`ADD "ab"`:                           {},
		`ADD "..."`:                          {},
		`ADD "` + long + `é"`:                {},
		`ADD a phrase`:                       {},
		`ADD "one" and "another"`:            {},
		`ADD 'one' and "another"`:            {},
		`ADD "never closed`:                  {},
		`"a phrase" ADD`:                     {},
		`ADDRESS "a phrase"`:                 {},
		`REMOVED "a phrase"`:                 {},
		`please add "a phrase"`:              {},
		`rephrase "a phrase"`:                {},
		``:                                   {},
	} {
		got, err := verdict.ParseChange(text)
		if (err == nil) != (want.Phrase != "") {
			t.Errorf("%s: %+v, %v", text, got, err)
			continue
		}
		if want.Phrase != "" {
			want.Text = text
		}
		if got != want {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	got, err := verdict.ParseChanges([]string{`ADD "A phrase."`, `MUST_INCLUDE "a  phrase"`, `REMOVE "another"`})
	want := []verdict.RequiredChange{{Text: `ADD "A phrase."`, Phrase: "A phrase."}, {Text: `REMOVE "another"`, Phrase: "another", Remove: true}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := verdict.ParseChanges([]string{`ADD "fine"`, "no"}); err == nil {
		t.Errorf("got %+v", got)
	}
}

// TestManyChanges: thousands of changes are read in a moment. Compared each with each they would
// take half a minute.
func TestManyChanges(t *testing.T) {
	t.Parallel()
	var texts []string
	for n := range 3_000 {
		texts = append(texts, fmt.Sprintf("ADD \"phrase %d\"", n), fmt.Sprintf("MUST_INCLUDE \"Phrase  %d.\"", n))
	}
	if all, err := verdict.ParseChanges(texts); err != nil || len(all) != 3_000 || all[1].Text != texts[2] {
		t.Errorf("%d changes, %v", len(all), err)
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()
	const text = "We estimate\n  recovery, within ~45 minutes. Увага: so it is!\nif x != nil {\n\tpanic(\"x\")\n}\n"
	for phrase, want := range map[string]bool{
		"we ESTIMATE recovery": true, "recovery within": true, "45 minutes": true, "minutes увага so": true, "x != nil": true,
		"minutes.": true, `panic("x")`: true, "x == nil": false, "x nil": false, "recovery in": false, "panic(x)": false,
	} {
		if got := verdict.Holds(verdict.Normalize(text), phrase); got != want {
			t.Errorf("%q: %t", phrase, got)
		}
	}
}
