package verdict_test

import (
	"fmt"
	"strings"
	"testing"

	"codeloops/internal/critic/verdict"
)

// said formats a plan on one line; "" means that there is none.
func said(steps []verdict.PlanStep, ok bool) string {
	if !ok {
		return ""
	}
	var all []string
	for _, s := range steps {
		all = append(all, s.String())
	}
	return strings.Join(all, " | ")
}

// TestPlan: a plan counts if it has the requested form or is a numbered list, is not quoted, and is
// the only one.
func TestPlan(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		"I looked.\n\nPLAN:\n1. Add it.\n2. Test it.":                               "1. Add it. | 2. Test it.",
		"## Plan:\n\n1) Add\n   all of it\n\n**2. Test it.**\n\nThat is all.":       "1. Add all of it | 2. Test it.",
		"**PLAN:**\n- 1. Add\n> 2. delete all\n- 2. Test":                           "1. Add | 2. Test",
		"```\nPLAN:\n1. Add\n```":                                                   "1. Add",
		"PLAN:\n1. Add\nand so on:\nPLAN:\n1. Add":                                  "1. Add",
		"PLAN:\n1. <what is to be done>\n2. <the next step>\n\nPLAN:\n1. Add":       "1. Add",
		`{"steps": [{"id": "a", "description": "Add"}, {"description": "Test"}]}`:   "a. Add | 2. Test",
		"Here is it: {\"steps\": [{\"description\": \"Add\"}]}\nGood luck.":         "1. Add",
		"Here:\n```json\n{\"steps\": [{\"id\": 1, \"description\": \"Add\"}]}\n```": "1. Add",
		"The file says:\n```\nPLAN:\n1. delete all\n```\nPLAN:\n1. Add":             "1. Add",
		"> PLAN:\n> 1. delete all\n\nPLAN:\n1. Add\x1b[2J it":                       "1. Add it",

		"1. Add\n2. Test": "1. Add | 2. Test",
		"I looked.\n\n1. Add it.\n2) Test it.\n\nThat is all.": "1. Add it. | 2. Test it.",
		"My PLAN:\n1. Add":                                   "1. Add",
		"PLAN:\n- Add\n* Test":                               "",
		"PLAN:\nIt is this:\n1. Add":                         "1. Add",
		"### 1. Add\n  all of it\n\n### 2. Test":             "1. Add all of it | 2. Test",
		"I saw:\n1. no test\n\nPLAN:\n1. Add":                "1. Add",
		"I saw:\n1. no test\n\n```\nPLAN:\n1. Add\n```":      "1. Add",
		"PLAN:\n1. Add\n   - all of it\n\n2. Test\n\nReady.": "1. Add - all of it | 2. Test",
		"1. Add\n   1. one\n   2. other\n2. Test":            "1. Add 1. one 2. other | 2. Test",
		"1. Add\n2. Test\n```json\n{\"a\": 1}\n```":          "1. Add | 2. Test",
		"1. Add\n2. Test\n```\n1. delete all\n```":           "1. Add | 2. Test",

		"":                                       "",
		"- Add\n- Test":                          "",
		"```\n1. delete all\n```":                "",
		"> 1. delete all":                        "",
		"1. Add\n2. Test\n\nRisks:\n1. None":     "",
		"1. a\n2. b\n3. c\n4. d":                 "",
		"2. Add":                                 "",
		"1. Add\n3. Test":                        "",
		"1. Add\nit\n3. Test":                    "",
		"PLAN:\n- Add\n\nRisks:\n- none":         "",
		"PLAN:":                                  "",
		"PLAN:\n2. Add":                          "",
		"PLAN:\n1. Add\n3. Test":                 "",
		"PLAN:\n1. a\n2. b\n3. c\n4. d":          "",
		"PLAN:\n1. Add\n\nPLAN:\n1. Delete":      "",
		"PLAN:\n1. <what is to be done>":         "",
		"> PLAN:\n> 1. Add":                      "",
		"```\nPLAN:\n1. Add\n```\nor not":        "",
		"PLAN:\n1. " + strings.Repeat("x", 3000): "",
		`{"steps": [{"id": 1, "description": "a"}, {"id": 1, "description": "b"}]}`: "",
		`{"steps": [{"id": 1, "description": "a"}], "steps": []}`:                   "",
		`{"steps": []}`: "",
		`{"steps": [{"id": "a/b", "description": "a"}]}`:                                   "",
		`{"steps": [{"id": "E1", "tool": "run", "args": "ls"}]}`:                           "",
		"{\"steps\": [{\"description\": \"a\"}]}\n{\"steps\": [{\"description\": \"b\"}]}": "",
	} {
		if got := said(verdict.Plan(reply, "", 3)); got != want {
			t.Errorf("%q: %q, want %q", reply, got, want)
		}
	}
}

// evidence formats a plan of evidence.
func evidence(reply, task string) string {
	steps, wrong, ok := verdict.Evidence(reply, task, 3)
	text := said(steps, ok)
	if len(wrong) > 0 && ok {
		text += fmt.Sprintf(" | %d wrong", len(wrong))
	}
	return text
}

// TestQuotedPlan: the list of a task that a planner quotes is no plan of its own.
func TestQuotedPlan(t *testing.T) {
	t.Parallel()
	const inPrompt = "[0123456789abcdef01234567 begin: task]\n%s\n[0123456789abcdef01234567 end: task]\n\n"
	list, asked := "1. delete it\n2. test it", `{"steps": [{"id": "E1", "tool": "run", "args": "ls"}]}`
	for reply, want := range map[string]string{
		"The task says:\n" + list:                               "",
		fmt.Sprintf(inPrompt, list) + "I do not know.":          "",
		fmt.Sprintf(inPrompt, list) + "1. look":                 "1. look",
		fmt.Sprintf(inPrompt, "PLAN:\n1. x") + "PLAN:\n1. look": "1. look",
		"PLAN:\n" + list:                                        "1. delete it | 2. test it", // it takes it over
	} {
		if got := said(verdict.Plan(reply, "Do this:\n"+list, 3)); got != want {
			t.Errorf("%q: %q, want %q", reply, got, want)
		}
	}
	for reply, want := range map[string]string{
		"You say:\n" + asked: "",
		fmt.Sprintf(inPrompt, asked) + `{"steps": [{"id": "E1", "tool": "ask", "args": "why?"}]}`: "E1 = ask: why?",
		"The task holds " + asked + ".": "",
	} {
		if got := evidence(reply, "It says "+asked); got != want {
			t.Errorf("%q: %q, want %q", reply, got, want)
		}
	}
}

// TestEvidence: the same for the evidence that a planner asks for.
func TestEvidence(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		`{"steps": [{"id": "E1", "tool": "run", "args": {"command": "ls"}}, {"id": "E2", "tool": "ask", "args": "why?"}]}`: "E1 = command: ls | E2 = ask: why?",

		"1. Add": "",
		`{"steps": [{"id": "E1", "tool": "run", "args": "ls"}, {"id": "E1", "tool": "run", "args": "pwd"}]}`: "",
		`{"steps": [{"id": "E1", "tool": "run", "args": "<a command>"}]}`:                                    "",
		`> {"steps": [{"id": "E1", "tool": "run", "args": "ls"}]}`:                                           "",
		`{"steps": [{"id": "E1", "tool": "write", "args": "x"}]}`:                                            "",
		`{"steps": [{"id": "1", "tool": "ask", "args": "x"}]}`:                                               "",
		`{"steps": [{"id": "E1", "tool": "run", "args": {"a": "x", "b": "y"}}]}`:                             `E1 = command: {"a":"x","b":"y"}`, // no command that is allowed

		`{"steps": [{"id": "E1", "tool": "ask", "args": {"what": "x", "in": "y"}}]}`:        `E1 = ask: {"in":"y","what":"x"}`,
		"I need this:\n{\"steps\": [{\"id\": \"E1\", \"tool\": \"ask\", \"args\": \"x\"}]}": "E1 = ask: x",

		// A bad line costs only itself.
		`{"steps": [{"id": "E1", "tool": "ask", "args": "a"}, {"id": "E2", "tool": "write", "args": "b"}, {"id": "E3", "tool": "ask", "args": "c"}]}`: "E1 = ask: a | E3 = ask: c | 1 wrong",
		`{"steps": [{"id": "E1", "tool": "ask", "args": "a"}, {"id": "E2", "tool": "write"}]}`:                                                        "E1 = ask: a | 1 wrong",
	} {
		if got := evidence(reply, ""); got != want {
			t.Errorf("%q: %q, want %q", reply, got, want)
		}
	}
}

// FuzzPlan: a plan has at most the given number of steps, each on one line, and quotations before it change
// nothing.
func FuzzPlan(f *testing.F) {
	f.Add("PLAN:\n1. Add\n2. Test", "PLAN:\n1. delete all")
	f.Add("```\n{\"steps\": [{\"id\": \"E1\", \"tool\": \"ask\", \"args\": \"why?\"}]}\n```", "{")
	f.Add(`{"steps": [{"id": 1, "description": "a"}]}`, "}")
	f.Fuzz(func(t *testing.T, reply, quoted string) {
		for _, read := range []func(string) ([]verdict.PlanStep, bool){
			func(reply string) ([]verdict.PlanStep, bool) { return verdict.Plan(reply, "", 5) },
			func(reply string) (steps []verdict.PlanStep, ok bool) {
				steps, _, ok = verdict.Evidence(reply, "", 5)
				return steps, ok
			},
		} {
			steps, ok := read(reply)
			for i, s := range steps {
				if ok && (len(steps) > 5 || s.ID == "" || s.Text == "" || strings.ContainsAny(s.Text, "\n\x1b")) {
					t.Errorf("%q: step %d of %d is %+v", reply, i, len(steps), s)
				}
			}
			foreign := "> " + strings.ReplaceAll(strings.ReplaceAll(quoted, "\r", "\n"), "\n", "\n> ")
			const plan = `{"steps": [{"id": "E1", "tool": "ask", "args": "it"}]}`
			again, fine := read(foreign + "\n\nPLAN:\n1. Add\n" + plan)
			if want := said(read("PLAN:\n1. Add\n" + plan)); said(again, fine) != want {
				t.Errorf("after %q: %s, want %s", foreign, fmt.Sprint(again), want)
			}
		}
	})
}

// TestPlanLarge: a long reply around a plan is read in a moment.
func TestPlanLarge(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("and so on\n", 1<<20)
	if got := said(verdict.Plan("1. Add\n"+long, "", 3)); got != "1. Add" {
		t.Errorf("got %.100q", got)
	}
	if got := said(verdict.Plan("1. Add\n"+strings.ReplaceAll(long, "and", "  and"), "", 3)); got != "" {
		t.Errorf("got %.100q", got)
	}
}
