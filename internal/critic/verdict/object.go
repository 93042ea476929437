package verdict

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// flat returns a text with blanks in place of the line breaks and tabs that models leave inside strings of JSON.
func flat(text string) string {
	return strings.Map(func(r rune) rune { return max(r, ' ') }, text)
}

// cutObject returns the JSON value at the beginning of a text that is [flat]. n is its length, or how much of it could
// be read. The error is io.ErrUnexpectedEOF if it never ends.
func cutObject(text string) (src string, n int, err error) {
	d := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, err = d.ReadValue()
	n = int(d.InputOffset())
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		n = int(syntax.ByteOffset)
	}
	return text[:n], n, err
}

// objectsIn returns the JSON objects in a text, which may follow words.
func objectsIn(text string) (all []string) {
	for text = flat(text); ; {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			return all
		}
		src, n, err := cutObject(text[at:])
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF): // nor do those within it
			return all
		case err == nil:
			all = append(all, src)
		}
		text = text[at+max(n, 1):]
	}
}

// mayDecide matches what could be a decision.
var mayDecide = wording.Pattern(`(?i)"decision"|"type"\s*:\s*"(?:done|continue|error|escalate|approve|revise)`)

// object reads the JSON object at an offset. One that cannot be read is a decision that cannot be read,
// if it may be one.
func (r *reading) object(at int) {
	text := r.text[at:]
	if r.endless || !strings.HasPrefix(strings.TrimLeft(text[1:], " \t\n"), `"`) {
		return
	}
	src, n, err := cutObject(r.flat[at:])
	if err != nil {
		if r.endless = errors.Is(err, io.ErrUnexpectedEOF); !r.endless {
			end, _, _ := strings.Cut(text[n:], "}")
			text = text[:n+len(end)]
			r.pos = max(r.pos, 1+strings.LastIndexByte(r.text[:at+n], '\n')) // go on in the line of the fault
		}
		if mayDecide().MatchString(text) {
			r.objects = append(r.objects, claim{at: at, sealed: r.seal.within(text), problem: problem("a JSON object in the reply cannot be read: %s", quote(text))})
		}
		return
	}
	c, ok := parseObject(src, r.seal)
	after, _, _ := strings.Cut(text[n:], "\n")
	switch after = strings.TrimSpace(after); {
	case !ok:
	case r.boundary.In(src):
		c.problem = problem("a JSON object in the reply reaches into the evidence")
	case after != "" && !strings.EqualFold(after, closeTag):
		c.problem = problem("a JSON object with a decision is followed by other text in its line: %s", quote(after))
	}
	if ok {
		c.at, c.tail = at, text[n:]
		r.objects = append(r.objects, c)
	}
	r.skipTo(at + n)
}

// membersOf reads the members of an object, with their lines as in a block. A key that occurs twice, in any case, is an error.
func membersOf(src string) (all members, lines []string, err error) {
	var raw map[string]jsontext.Value
	err = json.Unmarshal([]byte(src), &raw, jsontext.AllowInvalidUTF8(true))
	if twice, ok := errors.AsType[*jsontext.SyntacticError](err); ok && twice.Err == jsontext.ErrDuplicateName { //nolint:errorlint // it is never wrapped
		return nil, nil, problem("the JSON object with the decision holds %s more than once; give it once", quote(twice.JSONPointer.LastToken()))
	}
	known := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(raw)) {
		name := strings.ToUpper(key)
		if known[name] {
			return nil, nil, problem("the JSON object with the decision holds %s more than once; give it once", quote(key))
		}
		known[name] = true
		m := member{name: name}
		_ = json.Unmarshal(raw[key], &m.value, jsontext.AllowInvalidUTF8(true)) // the whole object has been read
		m.text = textOf(m.value)
		if other := originals()[name]; other != "" {
			m.name = other
		}
		all, lines = append(all, m), append(lines, key+" "+string(raw[key]))
	}
	return all, lines, nil
}

// originals are the names that the original gave to some members.
func originals() map[string]string {
	return map[string]string{"ERROR_DESCRIPTION": labelAnalysis, "RECOVERY_SUGGESTION": labelRecovery, "REMAINING_ISSUES": memberIssues}
}

// parseObject reads the claim of a JSON object. ok is false if it has no decision.
func parseObject(src string, s Seal) (c claim, ok bool) {
	m, lines, err := membersOf(src)
	if err != nil {
		return claim{sealed: s.within(src), problem: err}, strings.Contains(strings.ToLower(src), `"decision"`)
	}
	c = claim{object: true, sealed: s.on(m.seals()), lines: lines}
	word, err := m.decision()
	if c.problem = err; err != nil {
		return c, true
	}
	v := m.verdict()
	if c.scored = word == "" && m.scored(v); c.scored {
		if word = loop.Done; len(v.Issues) > 0 {
			word, v.Feedback = loop.Continue, bullets(v.Issues)
		}
	}
	if word == "" {
		return c, false
	}
	c.verdict = withDecision(v, word, m.text(memberReason))
	c.verdict.Answers = m.answers()
	if v := &c.verdict; v.Decision != loop.Done && v.Guidance() == "" {
		v.Feedback = bullets(slices.Concat(v.RequiredChanges, v.Issues))
	}
	if mark, _ := m.placeholder(); mark != "" {
		c.problem = problem("the JSON object is not filled in: it holds %s", quote(mark))
	}
	return c, true
}

// decision returns the value of "decision", or of "type" in its place; "" for none. Many kinds of objects have a
// type, such as the last event of a stream: it counts beside other members of a verdict, and only those.
func (m members) decision() (loop.Decision, error) {
	key := labelDecision
	typed := m.all(memberType)
	if len(m.all(key)) == 0 {
		known := append(labels(), memberType, memberSeverity, memberIssues, memberRisks, memberChanges, memberFindings)
		if len(typed) > 0 && objectWord(typed[0].value) == loop.Escalate {
			known = append(known, memberReason)
		}
		if m.text(labelSummary)+m.text(labelFeedback)+m.text(labelAnalysis)+m.text(memberReason) == "" || slices.ContainsFunc(m, func(x member) bool { return !slices.Contains(known, x.name) }) {
			return "", nil
		}
		key = memberType
	}
	var word loop.Decision
	for _, x := range append(m.all(key), typed...) {
		switch next := objectWord(x.value); {
		case next == "" && x.name == labelDecision:
			return "", problem("the decision of the JSON object is %s, which is none of done, continue, error and escalate", quote(x.text))
		case next == "":
		case word != "" && next != word:
			return "", problem("the JSON object holds two decisions that contradict each other")
		default:
			word = next
		}
	}
	return word, nil
}

// scored reports whether the object is a critique of the original's form, with issues and a score and no decision.
func (m members) scored(v loop.Verdict) bool {
	issues := m.all(memberIssues)
	if len(issues) != 1 || v.Score == nil {
		return false
	}
	_, listed := issues[0].value.([]any)
	known := []string{memberIssues, labelScore, labelSummary, labelConfidence, labelSeal}
	return listed && !slices.ContainsFunc(m, func(x member) bool { return !slices.Contains(known, x.name) })
}

// objectWord reads a decision, which has other names in JSON objects; "" for none.
func objectWord(value any) loop.Decision {
	text, _ := value.(string)
	switch strings.ToLower(trim(text)) {
	case "approve":
		return loop.Done
	case "revise":
		return loop.Continue
	}
	return decisionOf(text)
}

func texts(items []any) (out []string) {
	for _, item := range items {
		if t := textOf(item); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// textOf converts a JSON value to text: an object to the member that describes it, or else
// to JSON.
func textOf(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case []any:
		return bullets(texts(v))
	case map[string]any:
		for _, key := range []string{"note", "description", "message"} {
			if s, ok := v[key].(string); ok && strings.TrimSpace(s) != "" {
				return strings.TrimSpace(s)
			}
		}
		if len(v) == 0 {
			return ""
		}
	}
	raw, err := json.Marshal(value, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return ""
	}
	return string(raw)
}
