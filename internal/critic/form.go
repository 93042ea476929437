package critic

import (
	"fmt"
	"strings"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// form asks for a reply in the form that the policy wants. again is set when the critic
// has been asked before. A DONE must mention the findings that are due.
func (p *page) form(c loop.Policy, s verdict.Seal, again bool, due []loop.Finding) {
	if c.Threshold() > 0 {
		p.sayf(scoring)
	}
	if !c.Allows("done") {
		due = nil
	}
	if len(due) > 0 {
		p.sayf(answering, strings.Join(namesOf(due), ", "))
	}
	if c.Critique != nil {
		p.structured(c, s, again, due)
		return
	}
	if c.Allows("continue") {
		p.sayf(weighing)
	}
	blocks := blocks(c, s, due)
	which := "this block"
	if len(blocks) > 1 {
		which = fmt.Sprintf("one of these %s blocks", []string{"", "", "two", "three", "four"}[len(blocks)])
	}
	if again {
		p.sayf("Answer with exactly %s, filled in, as plain text and not in a code fence, with nothing before or after it. %s", which, sealing)
	} else {
		p.sayf("End your reply with exactly %s, filled in, as plain text and not in a code fence, with nothing after it. %s", which, sealing)
	}
	p.sayf("%s", strings.Join(blocks, "\n\n"))
}

// sealing explains the seal.
const sealing = `The seal shows that the decision is your own. Write it once, where it stands here, when you have decided, and nowhere else.`

const answering = `These findings are open: %s. If you decide that the task is done, say by name what has become of each: settled, if you have seen that it is; or withdrawn, and why it was wrong. One line may name several: "F1, F3-F5: settled". A finding that you leave out stays open.`

func namesOf(findings []loop.Finding) (names []string) {
	for _, f := range findings {
		names = append(names, wording.Line(f.ID))
	}
	return names
}

const scoring = `Give the work a score from 0 to 1, your confidence that it fully solves the task. The score decides, so be strict:
- 1.0: nothing is wrong or missing
- 0.7 to 0.9: mostly right, with small gaps
- 0.4 to 0.6: real faults that have to be fixed
- 0.0 to 0.3: wrong, or the main thing is missing`

const weighing = `Mark each point that you make. MUST: the task is not done without it. MAY: it only could be better, and the actor is told to leave it. CONTINUE takes a MUST. DONE has none; what it says may be better stands in its SUMMARY.`

// maxLines is how many findings have a line of their own in the form.
const maxLines = 20

// blocks returns the form of each decision that a critic may make.
func blocks(c loop.Policy, s verdict.Seal, due []loop.Finding) []string {
	var settled strings.Builder
	for _, name := range namesOf(due[:min(len(due), maxLines)]) {
		fmt.Fprintf(&settled, "\n%s: <settled; or withdrawn, and why it was wrong>", name)
	}
	score := ""
	if c.Threshold() > 0 {
		score = "\nSCORE: <the score, from 0 to 1>"
	}
	all := []struct{ word, text string }{
		{"done", "DECISION: DONE\nSUMMARY: <what was achieved>" + settled.String() + "\nCONFIDENCE: <a number from 0 to 1>" + score},
		{"continue", "DECISION: CONTINUE" + score + "\nFEEDBACK: <what is missing or wrong, where, and what to do about it, the most important first; each point in a line of its own that begins with MUST: or MAY:>"},
		{"error", "DECISION: ERROR\nANALYSIS: <what broke: the actor's turn failed, or left the project in a worse state>\nRECOVERY: <how the actor gets out of it>"},
		{"escalate", "DECISION: ESCALATE\nANALYSIS: <what only a person can decide, and why; the run ends with it>"},
	}
	var texts []string
	for _, b := range all {
		if c.Allows(b.word) {
			texts = append(texts, fmt.Sprintf("%s\nSEAL: %s", b.text, s))
		}
	}
	return texts
}

// structured asks for a JSON object that satisfies the policy.
func (p *page) structured(c loop.Policy, s verdict.Seal, again bool, due []loop.Finding) {
	var words []string
	for _, w := range []struct{ word, json string }{{"done", "approve"}, {"continue", "revise"}, {"escalate", "escalate"}, {"error", "error"}} {
		if c.Allows(w.word) {
			words = append(words, w.json)
		}
	}
	when := "End your reply with exactly one JSON object of this form, bare and not in a code fence, with nothing after it."
	if again {
		when = "Answer with exactly one JSON object of this form, bare and not in a code fence, with nothing before or after it."
	}
	score := ""
	if c.Threshold() > 0 {
		score = "\n  \"score\": 0.0,"
	}
	settled := ""
	if len(due) > 0 {
		settled = fmt.Sprintf("\n  \"findings\": [{\"id\": \"%s\", \"state\": \"settled|withdrawn\", \"why\": \"...\"}],", wording.Line(due[0].ID))
	}
	p.sayf("%s %s", when, sealing)
	p.sayf(`{
  "decision": "%s",%s%s
  "severity": "low|medium|high",
  "risks": [{"type": "...", "note": "..."}],
  "required_changes": ["..."],
  "summary": "...",
  "reason": "...",
  "seal": "%s"
}`, strings.Join(words, "|"), score, settled, s)
	p.sayf("%s", strings.Join(rules(c, c.Critique), "\n"))
}

// rules describes what the policy checks.
func rules(c loop.Policy, s *loop.CritiquePolicy) []string {
	out := []string{"Keep to these rules, or you will be asked again:"}
	say := func(format string, args ...any) { out = append(out, "- "+fmt.Sprintf(format, args...)) }
	if c.Allows("done") {
		say("approve: the task is finished. It requires no change, and no risk is high.")
	}
	if c.Allows("continue") {
		say("revise: the actor goes on. It names at least one required change%s.", atMost(s.MaxRequiredChanges))
		say(`Each required change is one of ADD "phrase", REMOVE "phrase", MUST_INCLUDE "phrase" and MUST_REMOVE "phrase", with exactly one phrase in quotation marks, of %d to %d characters. A program looks for the phrase, word for word, in the files that were changed: choose one that shows that the fault is fixed. Everything else goes into "summary".`, verdict.MinPhrase, verdict.MaxPhrase)
	}
	if c.Allows("escalate") {
		say(`escalate: a person has to decide; "reason" says why. Escalate whenever the severity is high%s, and whenever no phrase can say what has to change.`, highTypes(s.HighRiskTypes))
	}
	if c.Allows("error") {
		say(`error: the actor's turn failed, or left the project in a worse state; "reason" says how to recover.`)
	}
	say("Each risk%s has a note, and one of these types: %s.", atMost(s.MaxRisks), strings.Join(s.RiskTypes, ", "))
	return out
}

func atMost(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (at most %d)", n)
}

func highTypes(types []string) string {
	if len(types) == 0 {
		return ""
	}
	return " or a risk is of the type " + strings.Join(types, " or ")
}
