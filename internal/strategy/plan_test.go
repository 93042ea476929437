package strategy_test

import (
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

const twoSteps = "I looked around.\n\nPLAN:\n1. one\n2. two"

// plannedCourses are the courses of strategies with a planner.
func plannedCourses() map[string]course {
	plan := strategy.PlanAndExecute{Base: strategy.ActorCritic{}, MaxSteps: 3, StepRounds: 1, MaxReplans: 1}
	green := plan
	green.Base = strategy.ReAct{}
	refined := plan
	refined.Base = strategy.ReAct{MaxTurns: 1}
	approved := plan
	approved.Approve = true
	find := strategy.ReWOO{Base: strategy.ReAct{}, MaxSteps: 4, Parallel: true, Commands: []string{"go test", "ls"}}
	return map[string]course{
		"rewoo": {
			find, say("planner", `{"steps": [{"id": "E1", "tool": "ask", "args": "where?"}, {"id": "E2", "tool": "run", "args": "go test ./..."}, {"id": "E3", "tool": "ask", "args": "why {{E1}} and {{E2}}?"}]}`), loop.StopDone, "1.actor", nil,
		},
		"rewoo, one after the other": {
			strategy.ReWOO{Base: strategy.ActorCritic{}, MaxSteps: 4},
			say("planner", `{"steps": [{"id": "E1", "tool": "ask", "args": "where?"}, {"id": "E2", "tool": "ask", "args": "why {{E1}}?"}, {"id": "E3", "tool": "ask", "args": "what?"}]}`), loop.StopDone, "1.actor",
			[]string{"rewoo.plan E1 = ask: where?\nE3 = ask: what?\nE2 = ask: why {{E1}}?"},
		},
		"rewoo, what is not allowed": {
			find, say(
				"planner", `{"steps": [{"id": "E1", "tool": "run", "args": "go test ./...; rm -rf /"}, {"id": "E2", "tool": "run", "args": "ls"}]}`,
				"planner.2", `{"steps": [{"id": "E1", "tool": "run", "args": "rm -rf x"}, {"id": "E2", "tool": "run", "args": "ls"}, {"id": "E3", "tool": "ask", "args": "what of {{E1}}?"}, {"id": "E4", "tool": "run", "args": "ls {{E2}}"}]}`,
			), loop.StopDone, "1.actor", []string{
				"rewoo.plan E2 = command: ls",
				"rewoo.left_out E1 is no command that is allowed, in plain words\nE4 is no command that is allowed, in plain words\nE3 refers to itself in a circle, or to what is left out",
				"command ls",
			},
		},
		"rewoo of nothing": {find, nil, loop.StopDone, "1.actor", []string{"rewoo.plan", "rewoo.left_out no object of that form could be read"}},
		"rewoo in a circle": {
			find, say("planner", `{"steps": [{"id": "E1", "tool": "ask", "args": "{{E2}}?"}, {"id": "E2", "tool": "ask", "args": "{{E1}}?"}, {"id": "E3", "tool": "ask", "args": "{{E9}}?"}]}`, "planner.2", `{"steps": [{"id": "E1", "tool": "ask", "args": "what?"}]}`), loop.StopDone, "1.actor",
			[]string{"rewoo.plan E1 = ask: what?"},
		},
		"plan": {
			plan, say("plan_1.planner", twoSteps), loop.StopDone, "1.actor 2.actor",
			[]string{
				"plan.made 1. one\n2. two", "fork.opened work", "checkpoint work.start", "checkpoint work.plan_1.step_1.end", "applied kept 1.actor", "plan.step_done 1. one",
				"checkpoint work.plan_1.step_2.end", "applied kept 1.actor 2.actor", "plan.step_done 2. two", "fork.discarded work", "rejudge",
			},
		},
		"plan with react": {green, say("plan_1.planner", twoSteps), loop.StopDone, "1.actor 2.actor", nil},
		"plan again": {
			plan, func(w *world) {
				w.done = "2.actor"
				say("plan_1.planner", twoSteps, "work.plan_2.planner", "PLAN:\n1. otherwise\n2. more")(w)
			}, loop.StopDone, "2.actor 3.actor", nil,
		},
		"plan in vain": {
			plan, func(w *world) { w.done = "nobody"; say("plan_1.planner", twoSteps, "work.plan_2.planner", twoSteps)(w) }, loop.StopMaxIterations, "", nil,
		},
		"a bare list": {green, say("plan_1.planner", "1. one\n2. two"), loop.StopDone, "1.actor 2.actor", nil},
		"an unreadable plan": {
			plan, say("plan_1.planner", "- one", "plan_1.planner.2", "PLAN:\n1. one"), loop.StopDone, "1.actor", nil,
		},
		"no plan": {
			refined, say("plan_1.planner", "- one", "plan_1.planner.2", "> PLAN:\n> 1. one"), loop.StopDone, "1.actor",
			[]string{
				"plan.made 1. Do all that is left of the whole task: no plan could be read.", "fork.opened work", "checkpoint work.start", "checkpoint work.plan_1.step_1.end", "applied kept 1.actor",
				"plan.step_done 1. Do all that is left of the whole task: no plan could be read.", "fork.discarded work", "rejudge",
			},
		},
		"plan approved": {
			approved, func(w *world) {
				w.answers = []string{"what?", "-2", "1 uno", "+2 due", "y"}
				w.replies["plan_1.planner"] = twoSteps
			}, loop.StopDone, "1.actor 2.actor", nil,
		},
		"plan refused": {
			approved, func(w *world) { w.answers = []string{"n"}; w.replies["plan_1.planner"] = twoSteps }, loop.StopInterrupted, "", nil,
		},
	}
}

// TestStepsOfAPlan: the actor of a step is told the step and the whole plan, and a planner is told
// why its plan failed, as a quotation.
func TestStepsOfAPlan(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.done = "2.actor"
	say("plan_1.planner", twoSteps, "work.plan_2.planner", "PLAN:\n1. otherwise\n2. more")(w)
	p := strategy.PlanAndExecute{Base: strategy.ActorCritic{}, MaxSteps: 3, StepRounds: 1, MaxReplans: 1}
	if _, err := w.loop(p).Run(t.Context(), loop.Session{ID: "s", Prompt: "do it"}); err != nil {
		t.Fatal(err)
	}
	for step, want := range map[loop.Step]string{
		"1.actor":             "one\n\nThis is one step",
		"2.actor":             "otherwise\n\nThis is one step",
		"3.actor":             "whose work is in the repository:\n- otherwise\n",
		"work.plan_2.planner": "who judged it: more",
	} {
		if !strings.Contains(w.prompts[step], want) {
			t.Errorf("%s is told %q", step, w.prompts[step])
		}
	}
	if strings.Contains(w.prompts["2.actor"], "two") {
		t.Errorf("the actor is told a step of another plan: %q", w.prompts["2.actor"])
	}
}

// TestApproval: without anybody to ask, no plan is approved.
func TestApproval(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.replies["plan_1.planner"] = twoSteps
	out, err := w.loop(strategy.PlanAndExecute{Base: strategy.ActorCritic{}, MaxSteps: 3, StepRounds: 1, Approve: true}).Run(t.Context(), loop.Session{Prompt: "do it"})
	if err == nil || out.Reason == loop.StopDone || len(w.trees[""]) > 0 {
		t.Errorf("%+v, %v, %q", out, err, w.trees)
	}
}

// TestEvidence: evidence is told to later questions about it and to the actor, as a quotation; it
// is never part of a command.
func TestEvidence(t *testing.T) {
	t.Parallel()
	w := newWorld()
	say("planner", `{"steps": [{"id": "E1", "tool": "run", "args": "ls"}, {"id": "E2", "tool": "ask", "args": "why {{E1}}?"}]}`, "evidence.E2.informant", "```\nbecause\x1b[2J\n```")(w)
	if _, err := w.loop(strategy.ReWOO{Base: strategy.ReAct{}, MaxSteps: 2, Commands: []string{"ls"}}).Run(t.Context(), loop.Session{ID: "s", Prompt: "do it"}); err != nil {
		t.Fatal(err)
	}
	for step, want := range map[loop.Step]string{
		"evidence.E1.command":   "ls",
		"evidence.E2.informant": "why {{E1}}?\nthe answer to E1 = command: ls: It ended with exit code 0, and printed:\nprinted by ls",
		"1.actor":               "do it\n\nThis evidence was gathered",
	} {
		if !strings.Contains(w.prompts[step], want) {
			t.Errorf("%s is told %q", step, w.prompts[step])
		}
	}
	if !strings.Contains(w.prompts["1.actor"], "E2 = ask: why {{E1}}?\n````\n```\nbecause\n```\n````") {
		t.Errorf("%q", w.prompts["1.actor"])
	}
}

// TestCommandsOfEvidence: a command runs if its first words are those of an allowed one, and it is
// not run by a shell.
func TestCommandsOfEvidence(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"go test":                 true,
		"go test ./... -run=Test": true,
		"git log --oneline -5":    true,
		"go":                      false,
		"go testing":              false,
		"got test":                false,
		"go vet ./...":            false,
		"go test; rm -rf /":       false,
		"go test && ls":           false,
		"go test | sh":            false,
		"go test $(ls)":           false,
		"go test `ls`":            false,
		"go test $HOME":           false,
		"go test > x":             false,
		"go test 'a b'":           false,
		"go test \"a\"":           false,
		"go test a\\ b":           false,
		"go test *":               false,
		"go test ~":               false,
		"go test ?":               false,
		"go test [a]":             false,
		"go test {{E1}}":          false,
		"go test #":               false,
		"go test !1":              false,
		"go test %PATH%":          false,
		"go test ^x":              false,
		"go test é":               false,
		"X=1 go test":             false,
		"./go test":               false,
		"":                        false,
	} {
		if got := strategy.MayRun(command, []string{"go test", "git  log"}); got != want {
			t.Errorf("%q: %t", command, got)
		}
	}
	for _, list := range []string{`["go test 'x'"]`, `["  "]`, `["a;b"]`, `"go"`} {
		if s, err := made(loop.StrategyRef{Name: "rewoo", Parameters: []loop.Parameter{{Key: "evidence_commands", Value: list}}}, nil); err == nil {
			t.Errorf("%s makes %+v", list, s)
		}
	}
	c, err := strategy.Read(loop.StrategyRef{Name: "rewoo", Parameters: []loop.Parameter{{Key: "evidence_commands", Value: `["go test","ls"]`}}})
	if err != nil || !strategy.RunsCommands(c.Ref()) || strategy.RunsCommands(loop.StrategyRef{Name: "rewoo"}) {
		t.Errorf("%+v, %v", c.Values, err)
	}
}
