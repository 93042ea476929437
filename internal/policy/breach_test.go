package policy_test

import (
	"reflect"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

// always is a rule with a fixed result: its breach, or nil.
type always struct {
	name   string
	breach *policy.Breach
}

func (a always) Inspect(_ loop.Case, found *loop.Inspection) *policy.Breach {
	found.Concerns = append(found.Concerns, loop.Concern{Rule: a.name, Text: "looked at"})
	if a.breach == nil {
		return nil
	}
	b := *a.breach
	return &b
}

func named(rules ...always) (all []policy.Named) {
	for _, r := range rules {
		all = append(all, policy.Named{Name: r.name, Inspector: r})
	}
	return all
}

func back(rule string) loop.Round {
	return loop.Round{Unjudged: true, Ruling: loop.Ruling{Rule: rule, Verdict: loop.Verdict{Decision: loop.Continue}}}
}

func judged(v loop.Verdict) loop.Round { return loop.Round{Ruling: loop.Ruling{Verdict: v}} }

func TestBreaches(t *testing.T) {
	t.Parallel()
	more := judged(loop.Verdict{Decision: loop.Continue, Feedback: "add a test"})
	ended := loop.Round{Unjudged: true, Ruling: loop.Ruling{Rule: "a", Stop: loop.Violation("a"), Verdict: loop.Verdict{Decision: loop.Error}}}
	a := always{"a", &policy.Breach{Why: "a is broken"}}
	mild := always{"a", &policy.Breach{Why: "a is broken", Feedback: "mend a", Back: true}}
	b := always{"b", &policy.Breach{Why: "b is broken"}}

	stop := func(rule, why string) *loop.Ruling {
		return &loop.Ruling{
			Rule: rule, Stop: loop.Violation(rule), Why: why,
			Verdict: loop.Verdict{Decision: loop.Error, Analysis: why},
		}
	}
	again := func(rule, why, feedback string) *loop.Ruling {
		return &loop.Ruling{Rule: rule, Why: why, Verdict: loop.Verdict{Decision: loop.Continue, Feedback: feedback}}
	}
	const inVain = "a is broken, and the actor did not put it right when told"
	for name, c := range map[string]struct {
		rules   []always
		revise  bool
		history []loop.Round
		want    *loop.Ruling
	}{
		"kept":                     {[]always{{"a", nil}, {"b", nil}}, true, nil, nil},
		"broken":                   {[]always{{"b", nil}, a}, false, nil, stop("a", "a is broken")},
		"sent back":                {[]always{a}, true, nil, again("a", "a is broken", "a is broken")},
		"in other words":           {[]always{mild}, false, nil, again("a", "a is broken", "mend a")},
		"with what was asked for":  {[]always{mild}, false, []loop.Round{more, back("b")}, again("a", "a is broken", "mend a\n\nWhat the last review asked for is still to be done:\nadd a test")},
		"all of them at once":      {[]always{mild, b}, true, nil, again("a", "a is broken", "mend a\n\nb is broken")},
		"one is enough":            {[]always{mild, b}, false, nil, stop("b", "b is broken")},
		"the second time":          {[]always{a}, true, []loop.Round{back("a")}, again("a", "a is broken", "a is broken")},
		"the third time":           {[]always{a}, true, []loop.Round{back("a"), back("a")}, stop("a", inVain)},
		"the third time, in turns": {[]always{a}, true, []loop.Round{back("a"), back("b"), back("a")}, stop("a", inVain)},
		"not in a row":             {[]always{a}, true, []loop.Round{back("a"), back("a"), judged(loop.Verdict{Decision: loop.Continue})}, again("a", "a is broken", "a is broken")},
		"resumed":                  {[]always{a}, true, []loop.Round{back("a"), back("a"), ended}, again("a", "a is broken", "a is broken")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := policy.Gate{Inspectors: named(c.rules...), Revise: c.revise}
			found, got := gate.Inspect(loop.Case{History: c.history})
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
			if len(found.Concerns) != len(c.rules) {
				t.Errorf("%d of %d rules inspected the work", len(found.Concerns), len(c.rules))
			}
		})
	}
}

// The actor works on the last review, also after rounds that rules sent back, unless that review asked for nothing.
func TestAsked(t *testing.T) {
	t.Parallel()
	want := loop.Verdict{Decision: loop.Continue, Feedback: "more"}
	unread := loop.Round{Review: loop.Review{Problem: "no decision"}, Ruling: loop.Ruling{Verdict: loop.Verdict{Decision: loop.Error}}}
	for name, c := range map[string]struct {
		history []loop.Round
		want    loop.Verdict
	}{
		"nothing":            {nil, loop.Verdict{}},
		"the last review":    {[]loop.Round{judged(loop.Verdict{Decision: loop.Continue, Feedback: "old"}), judged(want)}, want},
		"rules in between":   {[]loop.Round{judged(want), back("a"), back("b")}, want},
		"done with":          {[]loop.Round{judged(want), judged(loop.Verdict{Decision: loop.Done})}, loop.Verdict{}},
		"no verdict since":   {[]loop.Round{judged(want), unread}, loop.Verdict{}},
		"rules alone so far": {[]loop.Round{back("a")}, loop.Verdict{}},
	} {
		if got := policy.PendingVerdict(c.history); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// word is a rule that appends its name to the feedback and may end the run.
type word struct {
	name string
	stop bool
}

func (w word) Rule(_ loop.Case, _ loop.Review, so loop.Ruling) loop.Ruling {
	so.Rule = w.name
	so.Verdict.Feedback += w.name
	if w.stop {
		so.Stop = loop.Violation(w.name)
	}
	return so
}

// Each ruler gets the ruling of the one before; the first that stops the run is the last.
func TestRulersStandOnEachOther(t *testing.T) {
	t.Parallel()
	gate := policy.Gate{
		Inspectors: named(always{"z", nil}),
		Rulers:     []policy.Ruler{word{"a", false}, word{"b", true}, word{"c", false}},
	}
	got := gate.Rule(loop.Case{}, loop.Review{Verdict: loop.Verdict{Decision: loop.Continue}})
	want := loop.Ruling{Rule: "b", Stop: "policy_violation:b", Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "ab"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
