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

// ToolCommand is the tool that runs a command in a plan of evidence; the other tool is "ask".
const ToolCommand = "command"

// maxStep bounds the text of a step, in bytes.
const maxStep = 2000

var (
	numbered  = wording.Pattern(`^()(\d{1,3})[.)][ \t]+(.+)$`)
	evidenced = wording.Pattern(`^(E\d{1,3})[ \t]*=[ \t]*(command|run|ask)[ \t]*:[ \t]*(.+)$`)
	stepID    = wording.Pattern(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)
	unfilled  = wording.Pattern(`^<[^<>]*>$`) // a placeholder of the form
)

// Plan reads a plan of at most so many steps: the line "PLAN:" in the planner's own words with
// numbered lines below it, or {"steps": [{"id", "description"}]}. ok is false if there is
// none, or if there are two that differ.
func Plan(reply string, most int) (steps []PlanStep, ok bool) {
	return readPlan(reply, most, func(line string) (PlanStep, bool) {
		m := numbered().FindStringSubmatch(line)
		if m == nil {
			return PlanStep{}, false
		}
		return PlanStep{ID: m[2], Text: m[3]}, true
	}, func(i int, s PlanStep) bool {
		n, err := strconv.Atoi(s.ID)
		return s.Tool == "" && (err != nil || n == i+1)
	})
}

// Evidence is [Plan] for a plan of evidence: lines like "E1 = ask: where is it tested?", or
// {"steps": [{"id": "E1", "tool": "run" or "ask", "args": "…"}]}.
func Evidence(reply string, most int) (steps []PlanStep, ok bool) {
	return readPlan(reply, most, func(line string) (PlanStep, bool) {
		m := evidenced().FindStringSubmatch(line)
		if m == nil {
			return PlanStep{}, false
		}
		return PlanStep{ID: m[1], Tool: strings.Replace(m[2], "run", ToolCommand, 1), Text: m[3]}, true
	}, func(_ int, s PlanStep) bool {
		return evidenced().MatchString(s.String())
	})
}

// readPlan reads a plan. read parses a line, and sound reports whether a step is valid at its
// index.
func readPlan(reply string, most int, read func(line string) (PlanStep, bool), sound func(int, PlanStep) bool) ([]PlanStep, bool) {
	lines := scanner{text: reply}
	plans, within := [][]PlanStep{}, false
	for l := range lines.lines() {
		text := strings.TrimSpace(wording.Clean(l.text))
		if !l.own || text == "" {
			continue
		}
		if strings.EqualFold(strings.Trim(text, "#*_ \t"), "plan:") {
			plans, within = append(plans, nil), true
		} else if within {
			last := &plans[len(plans)-1]
			s, is := read(unmarked(text))
			switch n := len(*last); {
			case is:
				*last = append(*last, s)
			case n > 0 && wording.Indent(l.text) > 1:
				(*last)[n-1].Text += " " + text
			default:
				within = false
			}
		}
	}
	plans = slices.DeleteFunc(plans, isForm)
	if fenced, ok := lines.finalFence(); ok && len(plans) == 0 {
		return readPlan(fenced, most, read, sound)
	}
	if text := strings.TrimSpace(reply); len(plans) == 0 && strings.HasPrefix(text, "{") {
		plans = append(plans, planObject(text))
	}
	if len(plans) == 0 || slices.ContainsFunc(plans, func(p []PlanStep) bool { return !slices.Equal(p, plans[0]) }) {
		return nil, false
	}
	return plans[0], wellMade(plans[0], most, sound)
}

// isForm reports whether a plan is empty, or a copy of the form that was asked for.
func isForm(p []PlanStep) bool {
	return len(p) == 0 || slices.ContainsFunc(p, func(s PlanStep) bool { return unfilled().MatchString(s.Text) })
}

// unmarked returns a line of a list without its bullet and its first bold marks.
func unmarked(line string) string {
	for _, bullet := range []string{"- ", "* ", "• "} {
		line = strings.TrimLeft(strings.TrimPrefix(line, bullet), " \t")
	}
	if rest, bold := strings.CutPrefix(line, "**"); bold {
		line = strings.Replace(rest, "**", "", 1)
	}
	return line
}

// planObject reads a plan that is a JSON object, nil for none.
func planObject(text string) (steps []PlanStep) {
	var plan struct {
		Steps []struct {
			ID          any    `json:"id"`
			Description string `json:"description"`
			Tool        string `json:"tool"`
			Args        any    `json:"args"`
		} `json:"steps"`
	}
	if json.Unmarshal([]byte(escapeRaw(text)), &plan) != nil { // duplicate names are an error, too
		return nil
	}
	for i, s := range plan.Steps {
		if s.ID == nil {
			s.ID = i + 1
		}
		if args, ok := s.Args.(map[string]any); ok && len(args) == 1 {
			for _, only := range args {
				s.Args = only
			}
		}
		if args, ok := s.Args.(string); ok {
			s.Description += args
		}
		if s.Tool == "run" {
			s.Tool = ToolCommand
		}
		steps = append(steps, PlanStep{fmt.Sprint(s.ID), s.Tool, s.Description})
	}
	return steps
}

// wellMade puts each text of a plan on one line, and reports whether the plan is valid.
func wellMade(plan []PlanStep, most int, sound func(int, PlanStep) bool) bool {
	seen := map[string]bool{}
	for i, s := range plan {
		plan[i].Text = wording.Line(s.Text)
		s = plan[i]
		if s.Text == "" || len(s.Text) > maxStep || unfilled().MatchString(s.Text) || !stepID().MatchString(s.ID) || seen[s.ID] || !sound(i, s) {
			return false
		}
		seen[s.ID] = true
	}
	return len(plan) > 0 && len(plan) <= most
}
