package critic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/critique"
	"codeloops/internal/loop"
)

// objectEnd returns the length of the JSON object that text begins with, -1
// when it does not end.
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

// mentions is a quick look whether a text can hold a decision at all.
func mentions(src string) bool {
	plain := strings.ToLower(src)
	if strings.Contains(plain, `"decision"`) || strings.Contains(plain, `"type"`) {
		return true
	}
	return strings.Contains(src, `\u`) && strings.Contains(fold(src), "decision")
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
	key   string
	value json.RawMessage
}

func members(src string) (object, error) {
	if !json.Valid([]byte(src)) {
		src = escapeRaw(src)
	}
	dec := json.NewDecoder(strings.NewReader(src))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var out object
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: strings.ToLower(fmt.Sprint(key))}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// An object is the members of a JSON object, in order: a key may come twice.
type object []member

// parseObject makes a claim of a JSON object. One that has no decision is not
// ok; one that has something else in its place is an error.
func parseObject(src string, s seal) (c claim, ok bool, err error) {
	o, err := members(src)
	if err != nil {
		if !strings.Contains(strings.ToLower(src), `"decision"`) {
			return c, false, nil
		}
		return c, true, problem("the JSON object with the decision cannot be read: %s", err.Error())
	}
	word, ok, err := o.decision()
	if !ok || err != nil {
		return c, ok, err
	}
	if key := o.twice(); key != "" {
		return c, true, problem("the JSON object with the decision holds %s more than once; give it once", quote(key))
	}
	v := o.verdict()
	for _, text := range []string{v.Summary, v.Feedback, v.Analysis, v.Recovery} {
		if isPlaceholder(text) {
			return c, true, problem("the JSON object is not filled in: it holds %s", quote(text))
		}
	}
	if word == approve || word == loop.Done {
		if len(v.RequiredChanges) > 0 {
			return c, true, problem("the JSON object approves the work and requires changes")
		}
		if key := o.against(); key != "" {
			return c, true, problem("the JSON object approves the work, and its member %s speaks against that", quote(key))
		}
	}
	return claim{verdict: o.decided(v, word), sealed: s.on(o.seals()), object: true, given: o.given(), core: src}, true, nil
}

// twice returns a key that looks like another one.
func (o object) twice() string {
	known := map[string]bool{}
	for _, m := range o {
		key := strings.TrimSpace(fold(m.key))
		if known[key] {
			return m.key
		}
		known[key] = true
	}
	return ""
}

// against returns a member that an approval cannot have: one that names what is
// wrong or open, or says that something is not so.
func (o object) against() string {
	for _, m := range o {
		switch strings.NewReplacer("_", "", "-", "", " ", "").Replace(fold(m.key)) {
		case "problems", "errors", "bugs", "blockers", "blocking", "failures", "failing", "failed", "faults", "missing", "todo", "todos",
			"remaining", "open", "openissues", "openfindings", "unresolved", "nextsteps":
			for _, item := range o.list(m.key) {
				if !nothing(item) {
					return m.key
				}
			}
		case "done", "approved", "approve", "passed", "pass", "success", "complete", "completed", "finished", "ok":
			if string(m.value) == "false" {
				return m.key
			}
		}
	}
	return ""
}

// seals returns the seal that the object repeats, if it repeats any.
func (o object) seals() []seal {
	if !slices.ContainsFunc(o, func(m member) bool { return m.key == "seal" }) {
		return nil
	}
	return []seal{sealOf(o.text("seal"))}
}

// given returns the numbers of the object.
func (o object) given() (n numbers) {
	for _, m := range o {
		switch m.key {
		case "score":
			n.score = append(n.score, o.fraction(m.key))
		case "confidence":
			n.confidence = append(n.confidence, o.fraction(m.key))
		}
	}
	return n
}

// What the other vocabulary of JSON replies has for the three decisions.
const (
	approve  loop.Decision = "APPROVE"
	revise   loop.Decision = "REVISE"
	escalate loop.Decision = "ESCALATE"
)

// decision returns what "decision" says, or "type" in its place.
func (o object) decision() (word loop.Decision, ok bool, err error) {
	for _, m := range o {
		if m.key != "decision" && m.key != "type" {
			continue
		}
		var text string
		said, known := loop.Decision(""), false
		if json.Unmarshal(m.value, &text) == nil {
			said, known = decisionWord(text)
		}
		switch {
		case m.key == "type" && (!known || !o.typed(said)):
		case !known:
			return "", true, problem("the decision of the JSON object is %s, which is none of done, continue, error and escalate", quote(string(m.value)))
		case ok && said != word:
			return "", true, problem("the JSON object holds two decisions that contradict each other")
		default:
			word, ok = said, true
		}
	}
	return word, ok, nil
}

// typed reports whether "type" is a decision. Objects of many kinds have one,
// the last event of a stream among them ({"type": "done", "reason": "failed"}):
// it counts where nothing but members of a verdict stands beside it, and one of
// them belongs to this decision.
func (o object) typed(word loop.Decision) bool {
	belongs := false
	for _, m := range o {
		switch m.key {
		case "decision":
			return true
		case "summary", "confidence":
			belongs = belongs || (word == loop.Done || word == approve) && !m.empty()
		case "feedback", "issues", "remaining_issues", "required_changes":
			belongs = belongs || (word == loop.Continue || word == revise) && !m.empty()
		case "analysis", "recovery", "error_description", "recovery_suggestion":
			belongs = belongs || word == loop.Error && !m.empty()
		case "reason":
			if word != escalate {
				return false
			}
			belongs = true
		case "type", "score", "severity", "risks", "seal":
		default:
			return false
		}
	}
	return belongs
}

// empty reports whether the member holds nothing.
func (m member) empty() bool {
	return slices.Contains([]string{"null", `""`, "[]", "{}", "false"}, string(m.value))
}

func decisionWord(text string) (loop.Decision, bool) {
	core, symbols := trim(text)
	for _, d := range append(decisions(), approve, revise) {
		if strings.EqualFold(core, string(d)) {
			return d, glad(symbols) || d != loop.Done && d != approve
		}
	}
	return "", false
}

// verdict reads the members, the decision apart.
func (o object) verdict() loop.Verdict {
	return loop.Verdict{
		Summary:         o.text("summary"),
		Confidence:      o.fraction("confidence"),
		Score:           o.fraction("score"),
		Feedback:        o.text("feedback"),
		Analysis:        either(o.text("analysis"), o.text("error_description")),
		Recovery:        either(o.text("recovery"), o.text("recovery_suggestion")),
		Issues:          slices.Concat(o.list("issues"), o.list("remaining_issues")),
		Severity:        o.text("severity"),
		Risks:           o.risks(),
		RequiredChanges: o.list("required_changes"),
		Answers:         o.answers(),
	}
}

// decided puts the decision into a verdict, and what the object says without a
// place of its own to where the decision needs it.
func (o object) decided(v loop.Verdict, word loop.Decision) loop.Verdict {
	reason := o.text("reason")
	v.Decision = word
	switch word {
	case loop.Done, approve:
		v.Decision = loop.Done
		v.Summary = either(v.Summary, reason)
		return v
	case loop.Continue, revise:
		v.Decision = loop.Continue
		v.Feedback = either(v.Feedback, reason)
	case loop.Error:
		v.Analysis = either(v.Analysis, reason)
	case escalate:
		v.Decision = loop.Error
		v.Escalation = either(reason, v.Guidance(), critique.NoReason)
	}
	if v.Guidance() == "" {
		v.Feedback = bullets(slices.Concat(v.RequiredChanges, v.Issues))
	}
	return v
}

// either returns the first text that is not empty.
func either(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func bullets(items []string) string {
	var b strings.Builder
	for _, item := range items {
		fmt.Fprintf(&b, "- %s\n", item)
	}
	return strings.TrimSpace(b.String())
}

// value returns the last value of a key; nil when there is none.
func (o object) value(key string) (v any) {
	for _, m := range o {
		if m.key != key {
			continue
		}
		dec := json.NewDecoder(strings.NewReader(string(m.value)))
		dec.UseNumber()
		v = nil
		if dec.Decode(&v) != nil {
			v = nil
		}
	}
	return v
}

func (o object) text(key string) string {
	v := o.value(key)
	if items, ok := v.([]any); ok {
		return bullets(texts(items))
	}
	return textOf(v)
}

func (o object) list(key string) []string {
	switch v := o.value(key).(type) {
	case []any:
		return texts(v)
	case nil, bool: // "required_changes": false is none
		return nil
	default: // what should be a list and is none must not read as nothing
		return texts([]any{v})
	}
}

func (o object) fraction(key string) *float64 {
	switch v := o.value(key).(type) {
	case json.Number:
		if n, err := v.Float64(); err == nil && n >= 0 && n <= 1 {
			return &n
		}
	case string:
		return fraction(v)
	}
	return nil
}

func (o object) risks() []loop.Risk {
	items, isList := o.value("risks").([]any)
	if one := o.value("risks"); !isList && one != nil {
		items = []any{one}
	}
	var risks []loop.Risk
	for _, item := range items {
		risk := loop.Risk{Detail: textOf(item)}
		m, ok := item.(map[string]any)
		if ok {
			risk.Type = textOf(m["type"])
			risk.Detail = detail(m)
		}
		if risk != (loop.Risk{}) || ok { // an object without a word in it is a risk that lacks everything
			risks = append(risks, risk)
		}
	}
	return risks
}

func texts(items []any) (out []string) {
	for _, item := range items {
		if t := textOf(item); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// textOf writes a JSON value as text: an object by the member that describes
// it, or else as JSON.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case map[string]any:
		if d := detail(v); d != "" || len(v) == 0 {
			return d
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// detail returns the member that describes an issue or a risk.
func detail(m map[string]any) string {
	for _, key := range []string{"note", "detail", "description", "message", "issue", "change", "text", "title", "reason", "why"} {
		if s, ok := m[key].(string); ok && strings.TrimSpace(s) != "" {
			return strings.TrimSpace(s)
		}
	}
	return ""
}
