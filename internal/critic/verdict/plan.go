package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"codeloops/internal/wording"
)

// A PlanStep is one step of a plan.
type PlanStep struct {
	ID   string
	Tool string // "" in a plan of work
	Text string // in one line
}

// String returns the step in the form that a plan has.
func (s PlanStep) String() string {
	if s.Tool == "" {
		return s.ID + ". " + s.Text
	}
	return s.ID + " = " + s.Tool + ": " + s.Text
}

// ToolCommand is the tool that runs a command in a plan of evidence; the other tool is "ask".
const ToolCommand = "command"

// maxStep bounds the text of a step, in bytes.
const maxStep = 2000

// The groups of a step are its ID, its tool and its text.
var (
	numbered  = wording.Pattern(`^(\d{1,3})()[.)][ \t]+(.+)$`)
	evidenced = wording.Pattern(`^(E\d{1,3})[ \t]*=[ \t]*(?:(command|run|ask)[ \t]*:)?[ \t]*(.+)$`)
	bulleted  = wording.Pattern(`^[-*•][ \t]+(.+)$`)
	stepID    = wording.Pattern(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)
	unfilled  = wording.Pattern(`^<[^<>]*>$`) // a placeholder of the form
)

// Plan reads a plan of at most so many steps: the line "PLAN:" in the planner's own words with a
// list below it, or {"steps": [{"id", "description"}]}, or else a numbered list that is not in the
// task. ok is false if there is none, or if there are two that differ.
func Plan(reply, task string, most int) (steps []PlanStep, ok bool) {
	plans := plansIn(reply, task, false)
	if len(plans) == 0 || len(plans[0]) > most || slices.ContainsFunc(plans, func(p []PlanStep) bool { return !slices.Equal(p, plans[0]) }) {
		return nil, false
	}
	return plans[0], len(wellMade(plans[0], false)) == 0
}

// Evidence reads a plan of evidence: the line "PLAN:" with lines like "E1 = ask: where is it
// tested?" below it, or {"steps": [{"id": "E1", "tool": "run" or "ask", "args": "…"}]}. A plan that is
// in the task does not count. Steps that cannot be read are left out, and wrong says which.
func Evidence(reply, task string, most int) (steps []PlanStep, wrong []string, ok bool) {
	plans := plansIn(reply, task, true)
	if len(plans) == 0 || len(plans[0]) > most || slices.ContainsFunc(plans, func(p []PlanStep) bool { return !slices.Equal(p, plans[0]) }) {
		return nil, nil, false
	}
	bad := wellMade(plans[0], true)
	for i, s := range plans[0] {
		if slices.Contains(bad, i) {
			wrong = append(wrong, wording.Quote(s.ID+" = "+s.Tool+": "+s.Text, 80)+" is not of that form, or its name is there twice")
		} else {
			steps = append(steps, s)
		}
	}
	return steps, wrong, len(steps) > 0
}

// plansIn returns the plans of a reply in the best form that it has.
func plansIn(reply, task string, evidence bool) [][]PlanStep {
	labelled, others, block := listsIn(reply, evidence)
	inBlock, _, _ := listsIn(block, evidence)
	quoted := func(lead string) func([]PlanStep) bool {
		return func(p []PlanStep) bool {
			lines := []string{lead}
			for _, s := range p {
				lines = append(lines, s.String())
			}
			return repeated(strings.Join(lines, "\n"), []string{task})
		}
	}
	if evidence {
		labelled, inBlock = slices.DeleteFunc(labelled, quoted("PLAN:")), slices.DeleteFunc(inBlock, quoted("PLAN:"))
	}
	for _, plans := range [][][]PlanStep{labelled, inBlock, planObjects(block, task), planObjects(reply, task), slices.DeleteFunc(others, quoted(""))} {
		if len(plans) > 0 {
			return plans
		}
	}
	return nil
}

// listsIn returns the lists below a line "PLAN:", the other numbered lists, and the content of a
// fence at the end of the reply.
func listsIn(reply string, evidence bool) (labelled, others [][]PlanStep, block string) {
	lines, all, last := scannerOf(reply), []*planList{}, (*planList)(nil)
	for l := range lines.lines() {
		text := strings.TrimSpace(wording.Clean(l.text))
		if !l.own || text == "" {
			continue
		}
		step, is := stepIn(text, evidence)
		switch {
		case strings.EqualFold(strings.Trim(text, "#*_ \t"), "plan:"):
			last = &planList{labelled: true}
			all = append(all, last)
		case last != nil && last.takes(text, wording.Indent(l.text), step, is):
		case is && step.ID == "1":
			last = &planList{steps: []PlanStep{step}, indent: wording.Indent(l.text)}
			all = append(all, last)
		default:
			last = nil
		}
	}
	for _, list := range all {
		switch {
		case isForm(list.steps):
		case list.labelled:
			labelled = append(labelled, list.steps)
		default:
			others = append(others, list.steps)
		}
	}
	block, _ = lines.finalFence()
	return labelled, others, block
}

// stepIn reads a line as a step, which has no ID in a list of bullets.
func stepIn(line string, evidence bool) (s PlanStep, ok bool) {
	form := numbered()
	if evidence {
		form = evidenced()
	}
	if m := form.FindStringSubmatch(unmarked(line)); m != nil {
		return PlanStep{m[1], strings.Replace(m[2], "run", ToolCommand, 1), m[3]}, true
	}
	if m := bulleted().FindStringSubmatch(line); m != nil && !evidence {
		return PlanStep{Text: m[1]}, true
	}
	return s, false
}

// A planList is a list in a planner's own words.
type planList struct {
	steps    []PlanStep
	labelled bool   // it stands below "PLAN:"
	bullets  bool   // it has no numbers
	indent   int    // of its first line
	rest     string // what follows its last step: part of that step if another one comes
}

// takes adds a line to the list, which may be a step, and reports whether it belongs there.
func (p *planList) takes(text string, indent int, step PlanStep, is bool) bool {
	n, bullet := len(p.steps), step.ID == ""
	if bullet && p.rest == "" { // else the bullets may stand below the list, and be no steps
		step.ID = strconv.Itoa(n + 1)
	}
	if n == 0 && is {
		p.indent, p.bullets, p.steps = indent, bullet, []PlanStep{step}
	}
	deeper := indent > p.indent+1
	switch {
	case n == 0:
		return is
	case deeper && p.rest == "":
		extend(&p.steps[n-1].Text, text)
	case !is || deeper || bullet != p.bullets:
		extend(&p.rest, text)
	case p.rest != "" && step.ID == "1":
		return false
	default:
		p.steps[n-1].Text += p.rest
		p.steps, p.rest = append(p.steps, step), ""
	}
	return true
}

// extend adds a line to a text, unless that is too long for a step in any case.
func extend(text *string, line string) {
	if len(*text) <= maxStep {
		*text += " " + line
	}
}

// isForm reports whether a plan is empty, or a copy of the form that was asked for.
func isForm(p []PlanStep) bool {
	return len(p) == 0 || slices.ContainsFunc(p, func(s PlanStep) bool { return unfilled().MatchString(s.Text) })
}

// unmarked returns a line of a list without its bullet, or the marks of a heading, and its first bold
// marks.
func unmarked(line string) string {
	line = strings.TrimLeft(line, "# ")
	for _, bullet := range []string{"- ", "* ", "• "} {
		line = strings.TrimLeft(strings.TrimPrefix(line, bullet), " \t")
	}
	if rest, bold := strings.CutPrefix(line, "**"); bold {
		line = strings.Replace(rest, "**", "", 1)
	}
	return line
}

// planObjects reads the plans that are JSON objects, which may follow a sentence.
func planObjects(reply, task string) (plans [][]PlanStep) {
	s := scannerOf(reply)
	for l := range s.lines() {
		at := strings.IndexByte(l.text, '{')
		if at < 0 || !l.own {
			continue
		}
		n := objectEnd(s.text[l.start+at:])
		if n < 0 {
			break // none below it is read: each would be searched to the end of the reply
		}
		text := s.text[l.start+at:][:n]
		if p, ok := planObject(text); ok && !repeated(text, []string{task}) {
			plans = append(plans, p)
		}
		s.skipTo(l.start + at + n)
	}
	return plans
}

// planObject reads a JSON object as a plan.
func planObject(text string) (steps []PlanStep, ok bool) {
	var plan struct {
		Steps []struct {
			ID          any    `json:"id"`
			Description string `json:"description"`
			Tool        string `json:"tool"`
			Args        any    `json:"args"`
		} `json:"steps"`
	}
	if json.Unmarshal([]byte(escapeRaw(text)), &plan) != nil || len(plan.Steps) == 0 { // duplicate names are an error, too
		return nil, false
	}
	for i, s := range plan.Steps {
		if s.ID == nil {
			s.ID = i + 1
		}
		args, _ := s.Args.(string)
		if all, ok := s.Args.(map[string]any); ok {
			args = arguments(all, s.Tool)
		}
		steps = append(steps, PlanStep{fmt.Sprint(s.ID), strings.Replace(s.Tool, "run", ToolCommand, 1), s.Description + args})
	}
	return steps, true
}

// arguments returns the arguments of a step: the only one, or those of a question with their names.
func arguments(all map[string]any, tool string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text := textOf(all[name])
		if len(all) == 1 {
			return text
		}
		parts = append(parts, name+": "+text)
	}
	if tool != "ask" {
		return "" // no order of words makes a command of them
	}
	return strings.Join(parts, "; ")
}

// wellMade puts each text of a plan on one line, and returns the indexes of the steps that are not
// valid.
func wellMade(plan []PlanStep, evidence bool) (bad []int) {
	count := map[string]int{}
	for _, s := range plan {
		count[s.ID]++
	}
	for i := range plan {
		s := &plan[i]
		s.Text = wording.Line(s.Text)
		if s.Text == "" || len(s.Text) > maxStep || unfilled().MatchString(s.Text) || !stepID().MatchString(s.ID) || count[s.ID] > 1 || !s.sound(i, evidence) {
			bad = append(bad, i)
		}
	}
	return bad
}

// sound reports whether a step is one of its kind of plan, at its index.
func (s PlanStep) sound(i int, evidence bool) bool {
	n, err := strconv.Atoi(s.ID)
	if evidence {
		return (s.Tool == ToolCommand || s.Tool == "ask") && evidenced().MatchString(s.String())
	}
	return s.Tool == "" && (err != nil || n == i+1)
}
