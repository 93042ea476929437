package strategy_test

import (
	"slices"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// TestForms: each question of a role has words that the user can replace, and a form that stays.
func TestForms(t *testing.T) {
	t.Parallel()
	for name, c := range courses(t) {
		w := newWorld()
		if c.world != nil {
			c.world(w)
		}
		if _, err := w.loop(c.strategy).Run(t.Context(), loop.Session{ID: "s", Prompt: "do it"}); err != nil {
			t.Fatal(err)
		}
		for _, call := range w.calls {
			if call.Form == "" || call.Prompt == "" && call.Step.Name() != "vote" && call.Step.Parent().Name() != "vote" || call.Task == "" ||
				strategy.Choosing(call.Role) != (call.Workers != "") {
				t.Errorf("%s: %s is asked %q, then %q about %q, of %q", name, call.Step, call.Prompt, call.Form, call.Task, call.Workers)
			}
			if again := strings.HasSuffix(string(call.Step), ".2"); again != (call.Ask == 1) {
				t.Errorf("%s: %s is asked for the %d. time", name, call.Step, call.Ask+1)
			}
		}
	}
}

// plays plays a strategy to its end.
func (w *world) plays(t *testing.T, s loop.Strategy) loop.Outcome {
	t.Helper()
	out, err := w.loop(s).Run(t.Context(), loop.Session{ID: "s", Prompt: "do it"})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReflectorFails: what a reflector prints in a turn that fails is no lesson. It is not asked when
// nobody would hear it.
func TestReflectorFails(t *testing.T) {
	t.Parallel()
	w, s := newWorld(), &shelf{kept: map[string]bool{}}
	w.fails = map[loop.Step]loop.Ending{}
	for _, step := range []loop.Step{"attempt_1.reflector", "attempt_1.reflector.2", "attempt_2.reflector"} {
		w.fails[step], w.replies[step] = loop.EndFailed, "API Error: 500"
	}
	say("attempt_2.reflector.2", "Mind the gap.")(w)
	r := strategy.Reflexion{Base: strategy.ReAct{}, MaxAttempts: 2, Threshold: 0.8, Reset: true, Memory: strategy.Memory{Lessons: s, Most: 1}}
	w.plays(t, r)
	told := strings.Join(w.notes, "\n")
	if strings.Contains(told, "API Error") || len(s.kept) != 1 || !s.kept["Mind the gap., attempt 2 of do it"] {
		t.Errorf("kept %v; %s", s.kept, told)
	}
	w, r.Memory = newWorld(), strategy.Memory{}
	w.plays(t, r)
	if _, asked := w.prompts["attempt_2.reflector"]; asked || w.prompts["attempt_1.reflector"] == "" {
		t.Errorf("asked: %q", w.prompts)
	}
}

// TestFailsTwice: after a role has failed twice, a resumed run asks it again, and pays for no work again.
func TestFailsTwice(t *testing.T) {
	t.Parallel()
	for step, s := range map[loop.Step]loop.Strategy{
		"attempt_1.evaluator": strategy.Reflexion{Base: strategy.ReAct{}, MaxAttempts: 2, Threshold: 0.8, Reset: true},
		"critique.round_1":    strategy.SelfRefine{Base: strategy.ReAct{}, MaxRounds: 2, StopPhrase: "no issues"},
	} {
		w := newWorld()
		w.fails = map[loop.Step]loop.Ending{step: loop.EndFailed, step.Sub("2"): loop.EndFailed}
		if out := w.plays(t, s); out.Reason != loop.StopNoDecision {
			t.Errorf("%s: %+v", step, out)
		}
		w.fails, w.over[step], w.over[step.Sub("2")] = nil, false, false
		say("attempt_1.evaluator", "score: 0.9", "critique.round_1", "no issues")(w)
		out, err := w.loop(s).Resume(t.Context(), loop.Session{ID: "s", Prompt: "do it"}, w.journal.Clone())
		if _, more := w.prompts["2.actor"]; err != nil || out.Reason != loop.StopDone || len(w.twice) > 0 || more {
			t.Errorf("%s: %+v, %v; repeated %q, %q", step, out, err, w.twice, w.notes)
		}
	}
}

// TestMeddling: who judges and has changed what was there is asked again; its second answer counts,
// unless the run is strict.
func TestMeddling(t *testing.T) {
	t.Parallel()
	meddle := func(w *world) {
		say("critique.round_1", "no issues", "critique.round_1.2", "no issues", "critique.round_2", "no issues")(w)
		w.meddled = map[loop.Step][]string{"critique.round_1": {"a"}}
	}
	s := strategy.SelfRefine{Base: strategy.ReAct{}, MaxRounds: 2, StopPhrase: "no issues"}
	course{s, meddle, loop.StopDone, "1.actor", nil}.survives(t, 1)
	w := newWorld()
	meddle(w)
	w.meddled["critique.round_1.2"] = []string{"a"}
	if out := w.plays(t, s); out.Reason != loop.StopDone || !strings.Contains(w.prompts["critique.round_1.2"], "changed what was there, which is thrown away: a") {
		t.Errorf("%+v; %q", out, w.prompts)
	}
	w = newWorld()
	meddle(w)
	w.meddled["critique.round_1.2"] = []string{"a"}
	out, err := w.loop(s).Run(t.Context(), loop.Session{ID: "s", Prompt: "do it", Terms: loop.Terms{Policy: loop.Policy{Profile: loop.ProfileStrict}}})
	if err != nil || out.Reason != loop.StopNoDecision {
		t.Errorf("strict: %+v, %v", out, err)
	}
}

// TestMeanwhile: work that changes while it is criticized or scored is judged again.
func TestMeanwhile(t *testing.T) {
	t.Parallel()
	for step, s := range map[loop.Step]loop.Strategy{
		"critique.round_1":    strategy.SelfRefine{Base: strategy.ReAct{}, MaxRounds: 2, StopPhrase: "no issues"},
		"attempt_1.evaluator": strategy.Reflexion{Base: strategy.ReAct{}, MaxAttempts: 2, Threshold: 0.8},
	} {
		beside := func(w *world) {
			say("critique.round_1", "no issues", "critique.round_2", "no issues", "attempt_1.evaluator", "score: 0.9")(w)
			w.at = func() {
				if w.prompts[step] != "" && !slices.Contains(w.trees[""], "mine") {
					w.trees[""] = append(w.trees[""], "mine")
				}
			}
		}
		course{s, beside, loop.StopDone, "1.actor mine", nil}.survives(t, 1)
		w := newWorld()
		beside(w)
		if out := w.plays(t, s); out.Iterations != 2 {
			t.Errorf("%s: %+v; %q", step, out, w.notes)
		}
	}
}

// TestPrivate: what a member notes for itself reaches nobody else, also not as its output.
func TestPrivate(t *testing.T) {
	t.Parallel()
	w := newWorld()
	say("round_1.coordinator", "NEXT: coder", "round_1.coder", "I wrote it.\n\nPOST: it is there\nNOTE: a secret\nPOST: all of it\nPRIVATE: another secret", "round_2.coordinator", "NEXT: decider", "round_2.decider", "DECISION: DONE\nSUMMARY: fine")(w)
	if out := w.plays(t, newStrategy(t, "blackboard")); out.Reason != loop.StopDone {
		t.Errorf("%+v; %q", out, w.notes)
	}
	for _, step := range []loop.Step{"round_2.coordinator", "round_2.decider", "1.critic"} {
		if c := w.cases[step]; c == nil || strings.Contains(c.Attempt.Stdout.Text+w.prompts[step], "secret") || !strings.Contains(c.Attempt.Stdout.Text, "all of it") {
			t.Errorf("%s sees %+v, and is asked %s", step, c, w.prompts[step])
		}
	}
}

// TestCoordinatorIsDone: a coordinator may say that the work is done in the form of a critic's decision,
// which the critic has to confirm.
func TestCoordinatorIsDone(t *testing.T) {
	t.Parallel()
	for reply, asked := range map[string]bool{"DECISION: DONE\nSUMMARY: fine": false, "DECISION: CONTINUE": true, "> DECISION: DONE": true} {
		w := newWorld()
		say("round_1.coordinator", "DELEGATE: coder\nWrite it.", "round_2.coordinator", reply)(w)
		out := w.plays(t, newStrategy(t, "supervisor"))
		if _, again := w.prompts["round_2.coordinator.2"]; out.Reason != loop.StopDone || again != asked || w.prompts["1.critic"] == "" {
			t.Errorf("%q: %+v; asked again: %t", reply, out, again)
		}
	}
}

// TestFailingBeside: a turn whose agent cannot work cuts no other turn, and no further one begins.
func TestFailingBeside(t *testing.T) {
	t.Parallel()
	tree := strategy.TreeOfThoughts{BranchFactor: 3, MaxDepth: 1, BeamWidth: 1, SolvedThreshold: 1}
	w, played := newWorld(), false
	for range 50 { // whether another turn has begun by then is up to the scheduler
		w = newWorld()
		w.fails = map[loop.Step]loop.Ending{"level_1.candidate_2.turn": loop.EndAuth}
		if out := w.plays(t, tree); out.Reason != loop.StopAgentAuth {
			t.Errorf("%+v; played %v", out, w.over)
		}
		if played = w.over["level_1.candidate_1.turn"] || w.over["level_1.candidate_3.turn"]; played {
			break
		}
	}
	if !played {
		t.Error("no other turn has ended well")
	}
	w.fails = nil
	out, err := w.loop(tree).Resume(t.Context(), loop.Session{ID: "s", Prompt: "do it"}, w.journal.Clone())
	w.twice = slices.DeleteFunc(w.twice, func(step loop.Step) bool { return step == "level_1.candidate_2.turn" })
	if err != nil || out.Reason != loop.StopDone || len(w.twice) > 0 {
		t.Errorf("resumed: %+v, %v; repeated %q", out, err, w.twice)
	}
}
