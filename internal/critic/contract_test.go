package critic_test

import (
	"reflect"
	"testing"

	"codeloops/internal/agent"
	"codeloops/internal/agent/seat"
	"codeloops/internal/critic"
	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
)

// A reply that breaks the contract is not a verdict, even if it could be parsed.
func TestContract(t *testing.T) {
	t.Parallel()
	structured := loop.Policy{Critique: &loop.CritiquePolicy{RiskTypes: []string{"security"}, MaxRequiredChanges: 1}}
	const (
		labels  = "DECISION: DONE\nSUMMARY: fine"
		approve = `{"decision": "approve", "severity": "low", "risks": [{"type": "security", "note": "none"}], "summary": "fine"}`
		broken  = "the reply does not keep to the rules of this run: "
	)
	for name, c := range map[string]struct {
		contract loop.Policy
		reply    string
		problem  string
	}{
		"free":                 {loop.Policy{}, labels, ""},
		"labels":               {structured, labels, "the reply holds no JSON object with a decision"},
		"labels in a fence":    {structured, "```\n" + labels + "\n```", "the reply holds no JSON object with a decision"},
		"an object":            {structured, approve, ""},
		"in a fence":           {structured, "I have looked.\n```json\n" + approve + "\n```", ""},
		"below labels":         {structured, labels + "\n\n" + approve, "the reply decides 2 times; decide once, with the seal"},
		"no phrase":            {structured, `{"decision": "revise", "required_changes": ["rewrite it"]}`, broken + `the required change "rewrite it" does not hold exactly one quoted phrase`},
		"a wrong severity":     {structured, `{"decision": "approve", "severity": 3}`, broken + `its severity is "3", which is none of low, medium and high`},
		"risks that are none":  {structured, `{"decision": "approve", "risks": "it may break"}`, broken + `it names a risk of the type "", which is none of security`},
		"an empty risk":        {structured, `{"decision": "approve", "risks": [{}]}`, broken + `it names a risk of the type "", which is none of security`},
		"changes in no list":   {structured, `{"decision": "approve", "required_changes": {"add": "a test"}}`, `the reply says DONE and also names what is open: "{\"add\":\"a test\"}"; say CONTINUE if anything is to be done, else DONE without it`},
		"a number of changes":  {structured, `{"decision": "revise", "required_changes": 2}`, broken + `the required change "2" does not hold exactly one quoted phrase`},
		"no list, no changes":  {structured, `{"decision": "approve", "required_changes": false, "risks": null, "severity": null}`, ""},
		"changes of nothing":   {structured, `{"decision": "revise", "required_changes": [null, " ", {}]}`, broken + "it asks for a revision and requires no changes"},
		"an empty reason":      {structured, `{"decision": "escalate", "reason": {}}`, broken + "it escalates and gives no reason"},
		"no object":            {structured, `["approve"]`, "no line of the reply begins with DECISION: outside of quotations, and it holds no JSON object with a decision"},
		"a decision of nobody": {structured, `{"decision": 1}`, `the decision of the JSON object is "1", which is none of done, continue, error and escalate`},
		"torn":                 {structured, `{"decision": "approve", "risks": [`, `a JSON object in the reply cannot be read: "{\"decision\": \"approve\", \"risks\": ["`},
		"no reason":            {structured, `{"decision": "escalate"}`, broken + "it escalates and gives no reason"},
		"a reason":             {structured, `{"decision": "escalate", "reason": "a licence"}`, ""},
		"no score":             {loop.Policy{ApprovalThreshold: new(0.9)}, labels, broken + "it gives no score from 0 to 1, and this run goes by the score"},
		"a score":              {loop.Policy{ApprovalThreshold: new(0.9)}, labels + "\nSCORE: 0.3", ""},
		"a decision too many":  {loop.Policy{CriticDecisions: []string{"done"}}, "DECISION: CONTINUE\nFEEDBACK: more", broken + "it decides continue, and this run lets a critic decide only done"},
		"a decision it allows": {loop.Policy{CriticDecisions: []string{"done"}}, labels, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &answering{replies: []agent.Reply{answer(c.reply)}}
			judge := &critic.Critic{ReadOnlyPlayer: seat.ReadOnlyPlayer{Agent: a}, Dir: t.TempDir(), Policy: c.contract}
			got, err := judge.Judge(t.Context(), loop.Case{Iteration: 1, Task: "do it"}, nil)
			if err != nil || got.Problem != c.problem {
				t.Errorf("got %q, %v\nwant %q", got.Problem, err, c.problem)
			}
			again := got
			again.Verdict, again.Problem = loop.Verdict{}, ""
			if verdict.Reread(&again, c.contract); again.Problem != c.problem || !reflect.DeepEqual(again.Verdict, got.Verdict) {
				t.Errorf("read again: %+v, %q", again.Verdict, again.Problem)
			}
		})
	}
}
