package verdict

import (
	"fmt"
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

// blank reports whether a step is one of the form, not filled in.
func (s PlanStep) blank() bool { return isPlaceholder(s.Text) }

// ToolCommand is the tool that runs a command in a plan of evidence; the other tool is "ask".
const ToolCommand = "command"

// maxStep bounds the text of a step, in bytes.
const maxStep = 2000

var (
	numbered = wording.Pattern(`^(\d{1,3})[.)][ \t]+(.+)$`)
	stepID   = wording.Pattern(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)
	pieceID  = wording.Pattern(`^E\d{1,3}$`)
)

// Plan reads a plan of at most so many steps: a numbered list, below the line "PLAN:" if there is one, or
// {"steps": [{"id", "description"}]}. A list without that line, or an object, must not be in the task. ok is false if there
// is none, or if there are two that differ.
func Plan(reply, task string, most int) (steps []PlanStep, ok bool) {
	own, block := ownWords(reply)
	plans, others := lists(own)
	if len(plans) == 0 {
		plans, _ = lists(block)
	}
	if len(plans) == 0 {
		plans = planObjects(own, block, task)
	}
	if len(plans) == 0 {
		plans = slices.DeleteFunc(others, func(list []PlanStep) bool {
			var text strings.Builder
			for _, s := range list {
				text.WriteString(s.String() + "\n")
			}
			return repeated(text.String(), []string{task})
		})
	}
	steps, wrong := agreedPlan(plans, most, func(i int, s PlanStep) bool {
		n, err := strconv.Atoi(s.ID)
		return s.Tool == "" && stepID().MatchString(s.ID) && (err != nil || n == i+1)
	})
	return steps, len(steps) > 0 && len(wrong) == 0
}

// Evidence reads a plan of evidence: {"steps": [{"id": "E1", "tool": "run" or "ask", "args": "…"}]}. One that is in the
// task does not count. Steps that cannot be read are left out, and wrong says which.
func Evidence(reply, task string, most int) (steps []PlanStep, wrong []string, ok bool) {
	own, block := ownWords(reply)
	steps, wrong = agreedPlan(planObjects(own, block, task), most, func(_ int, s PlanStep) bool {
		return (s.Tool == ToolCommand || s.Tool == "ask") && pieceID().MatchString(s.ID)
	})
	return steps, wrong, len(steps) > 0
}

// agreedPlan returns the sound steps of plans that are all the same, and what is wrong with the others.
func agreedPlan(plans [][]PlanStep, most int, sound func(i int, s PlanStep) bool) (steps []PlanStep, wrong []string) {
	if len(plans) == 0 || len(plans[0]) > most || slices.ContainsFunc(plans, func(p []PlanStep) bool { return !slices.Equal(p, plans[0]) }) {
		return nil, nil
	}
	count := map[string]int{}
	for _, s := range plans[0] {
		count[s.ID]++
	}
	for i, s := range plans[0] {
		if s.Text != "" && len(s.Text) <= maxStep && count[s.ID] == 1 && sound(i, s) {
			steps = append(steps, s)
		} else {
			wrong = append(wrong, wording.Quote(s.ID+" = "+s.Tool+": "+s.Text, 80)+" is not of that form, or its name is there twice")
		}
	}
	return steps, wrong
}

// lists returns the numbered lists below a line "PLAN:", and the others, without the form itself. A step goes on in lines
// that are indented more than the list.
func lists(text string) (labelled, others [][]PlanStep) {
	var steps []PlanStep
	below, indent := false, 0 // whether they stand below that line; how far the first of them is indented
	end := func() {
		switch {
		case len(steps) == 0 || slices.ContainsFunc(steps, PlanStep.blank):
		case below:
			labelled = append(labelled, steps)
		default:
			others = append(others, steps)
		}
		steps, below = nil, false
	}
	for line := range strings.Lines(text) {
		body, at := strings.TrimSpace(line), wording.Indent(line)
		m := numbered().FindStringSubmatch(unmarked(body))
		n := len(steps)
		switch {
		case strings.EqualFold(strings.Trim(body, "#*_ \t"), "plan:"):
			end()
			below = true
		case n > 0 && at > indent+1:
			if last := &steps[n-1]; len(last.Text) <= maxStep {
				last.Text = strings.TrimRight(last.Text+" "+body, " ")
			}
		case m != nil:
			if n > 0 && m[1] == "1" {
				end()
			}
			if len(steps) == 0 {
				indent = at
			}
			steps = append(steps, PlanStep{ID: m[1], Text: m[2]})
		}
	}
	end()
	return labelled, others
}

// unmarked returns a line of a list without the marks of a heading or a bullet, and its first bold marks.
func unmarked(line string) string {
	line = strings.TrimLeft(line, "#-• ")
	if rest, bold := strings.CutPrefix(strings.TrimPrefix(line, "* "), "**"); bold {
		return strings.Replace(rest, "**", "", 1)
	}
	return strings.TrimPrefix(line, "* ")
}

// planObjects returns the plans that are objects, in the fence at the end of a reply or in its writer's own words.
func planObjects(own, block, task string) (plans [][]PlanStep) {
	for _, object := range slices.Concat(objectsIn(block), objectsIn(own)) {
		if p := planObject(object); p != nil && !slices.ContainsFunc(p, PlanStep.blank) && !repeated(object, []string{task}) {
			plans = append(plans, p)
		}
	}
	return plans
}

// planObject reads a JSON object as a plan, nil for none.
func planObject(text string) (steps []PlanStep) {
	var plan struct {
		Steps []struct {
			ID          any    `json:"id"`
			Description string `json:"description"`
			Tool        string `json:"tool"`
			Args        any    `json:"args"`
		} `json:"steps"`
	}
	if json.Unmarshal([]byte(text), &plan) != nil { // duplicate names are an error, too
		return nil
	}
	for i, s := range plan.Steps {
		if s.ID == nil {
			s.ID = i + 1
		}
		if args, ok := s.Args.(map[string]any); ok && len(args) == 1 { // a tool's only argument
			for _, s.Args = range args {
			}
		}
		steps = append(steps, PlanStep{fmt.Sprint(s.ID), strings.Replace(s.Tool, "run", ToolCommand, 1), oneLine(wording.Clean(s.Description + textOf(s.Args)))})
	}
	return steps
}
