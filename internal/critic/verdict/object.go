package verdict

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// objectEnd returns the length of the JSON object at the beginning of a text, -1 if it does
// not end.
func objectEnd(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// mentions reports whether a text can hold a decision at all.
func mentions(src string) bool {
	text := strings.ToLower(src)
	return strings.Contains(text, `"decision"`) || strings.Contains(text, `"type"`)
}

// escapeRaw escapes the line breaks and tabs that models leave inside strings.
func escapeRaw(src string) string {
	var b strings.Builder
	b.Grow(len(src))
	quoted := false
	for i := 0; i < len(src); i++ {
		c := src[i]
		switch {
		case quoted && c == '\\' && i+1 < len(src):
			b.WriteByte(c)
			i++
			c = src[i]
		case c == '"':
			quoted = !quoted
		case quoted && c < ' ':
			fmt.Fprintf(&b, "\\u%04x", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// A member is one key of an object with its value.
type member struct {
	name  string // as it is written
	key   string // the same in lower case
	value any
	raw   string // the value as it is written
}

func members(src string) (object, error) {
	if !json.Valid([]byte(src)) {
		src = escapeRaw(src)
	}
	dec := json.NewDecoder(strings.NewReader(src))
	dec.UseNumber()
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var out object
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: fmt.Sprint(key), key: strings.ToLower(fmt.Sprint(key))}
		from := dec.InputOffset()
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		m.raw = strings.TrimLeft(src[from:dec.InputOffset()], ": \t\r\n")
		out = append(out, m)
	}
	return out, nil
}

// An object is the members of a JSON object, in order: a key may come twice.
type object []member

// parseObject reads the claim of a JSON object. ok is false if it has no decision.
func parseObject(src string, s Seal) (c claim, ok bool) {
	o, err := members(src)
	if err != nil {
		c.sealed, c.problem = s.within(src), problem("the JSON object with the decision cannot be read: %s", err.Error())
		return c, strings.Contains(strings.ToLower(src), `"decision"`)
	}
	word, ok, err := o.decision()
	v := o.verdict()
	scored := !ok && o.scored(v)
	if scored {
		word, ok = byScore(v, defaultThreshold), true
	}
	if !ok {
		return c, false
	}
	c = claim{verdict: o.withDecision(v, word), scored: scored, sealed: s.on(o.seals()), object: true, given: o.given(), core: src, lines: o.lines(), problem: err}
	if key := o.twice(); key != "" {
		c.problem = problem("the JSON object with the decision holds %s more than once; give it once", quote(key))
	}
	for _, text := range []string{v.Summary, v.Feedback, v.Analysis, v.Recovery} {
		if isPlaceholder(text) {
			c.problem = problem("the JSON object is not filled in: it holds %s", quote(text))
		}
	}
	return c, true
}

// defaultThreshold is the score that approves where only a score decides and the run sets none.
const defaultThreshold = 0.9

// scored reports whether the object is a critique with issues and a score, and no decision.
func (o object) scored(v loop.Verdict) bool {
	_, listed := o.value("issues").([]any)
	return listed && v.Score != nil && !slices.ContainsFunc(o, func(m member) bool {
		return !slices.Contains([]string{"issues", "score", "summary", "confidence", "seal"}, m.key)
	})
}

// byScore is the decision of such a critique: its issues are findings, and a DONE leaves none open.
func byScore(v loop.Verdict, threshold float64) loop.Decision {
	if len(v.Issues) == 0 && *v.Score >= threshold {
		return loop.Done
	}
	return loop.Continue
}

// twice returns a key that occurs twice, "" for none.
func (o object) twice() string {
	known := map[string]bool{}
	for _, m := range o {
		if known[m.key] {
			return m.key
		}
		known[m.key] = true
	}
	return ""
}

// seals returns the seal in the object, if any.
func (o object) seals() []Seal {
	if !slices.ContainsFunc(o, func(m member) bool { return m.key == "seal" }) {
		return nil
	}
	return []Seal{sealOf(o.text("seal"))}
}

// lines returns the members in the form of lines of a block.
func (o object) lines() (all []string) {
	for _, m := range o {
		all = append(all, m.key+" "+m.raw)
	}
	return all
}

// given returns the numbers of the object.
func (o object) given() numbers {
	n := numbers{}
	for _, m := range o {
		if name := strings.ToUpper(m.key); name == labelScore || name == labelConfidence {
			n[name] = append(n[name], o.fraction(m.key))
		}
	}
	return n
}

// decision returns the value of "decision", or of "type" in its place.
func (o object) decision() (word loop.Decision, ok bool, err error) {
	typed := map[loop.Decision]bool{} // each is looked up once, however often "type" occurs
	for _, m := range o {
		if m.key != "decision" && m.key != "type" {
			continue
		}
		text, _ := m.value.(string)
		said, known := objectWord(text)
		if _, looked := typed[said]; m.key == "type" && known && !looked {
			typed[said] = o.typed(said)
		}
		switch {
		case m.key == "type" && (!known || !typed[said]):
		case !known:
			return "", true, problem("the decision of the JSON object is %s, which is none of done, continue, error and escalate", quote(m.raw))
		case ok && said != word:
			return "", true, problem("the JSON object holds two decisions that contradict each other")
		default:
			word, ok = said, true
		}
	}
	return word, ok, nil
}

// typed reports whether "type" is a decision. Many kinds of objects have that member, such
// as the last event of a stream ({"type": "done", "reason": "failed"}). It counts if all
// other members are those of a verdict, and one of them belongs to this decision.
func (o object) typed(word loop.Decision) bool {
	of := map[loop.Decision][]string{
		loop.Done: {"summary", "confidence"}, loop.Continue: {"feedback", "issues", "remaining_issues", "required_changes"},
		loop.Error: {"analysis", "recovery", "error_description", "recovery_suggestion"}, escalate: {"reason"},
	}
	members := slices.Concat([]string{"type", "score", "severity", "risks", "findings", "seal"}, of[loop.Done], of[loop.Continue], of[loop.Error], of[word])
	belongs := false
	for _, m := range o {
		switch {
		case m.key == "decision":
			return true
		case !slices.Contains(members, m.key):
			return false
		case slices.Contains(of[word], m.key) && !m.empty():
			belongs = true
		}
	}
	return belongs
}

// empty reports whether the member has no content.
func (m member) empty() bool {
	return slices.Contains([]string{"null", `""`, "[]", "{}", "false"}, m.raw)
}

// objectWord reads a decision, which has other names in JSON objects.
func objectWord(text string) (loop.Decision, bool) {
	switch core, symbols := trim(text); {
	case strings.EqualFold(core, "approve"):
		return loop.Done, glad(symbols)
	case strings.EqualFold(core, "revise"):
		return loop.Continue, true
	}
	return decisionWord(text)
}

// verdict reads all members but the decision.
func (o object) verdict() loop.Verdict {
	return loop.Verdict{
		Summary:         o.text("summary"),
		Rating:          loop.Rating{Confidence: o.fraction("confidence"), Score: o.fraction("score"), Severity: o.text("severity")},
		Feedback:        o.text("feedback"),
		Analysis:        cmp.Or(o.text("analysis"), o.text("error_description")),
		Recovery:        cmp.Or(o.text("recovery"), o.text("recovery_suggestion")),
		Issues:          slices.Concat(o.list("issues"), o.list("remaining_issues")),
		Risks:           o.risks(),
		RequiredChanges: o.list("required_changes"),
		Answers:         o.answers(),
	}
}

// withDecision sets the decision of a verdict, and uses the reason and the lists of the object
// where the decision needs a text.
func (o object) withDecision(v loop.Verdict, word loop.Decision) loop.Verdict {
	v = withDecision(v, word, o.text("reason"))
	if word != loop.Done && v.Guidance() == "" {
		v.Feedback = bullets(slices.Concat(v.RequiredChanges, v.Issues))
	}
	return v
}

func bullets(items []string) string {
	var b strings.Builder
	for _, item := range items {
		fmt.Fprintf(&b, "- %s\n", item)
	}
	return strings.TrimSpace(b.String())
}
