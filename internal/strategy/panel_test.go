package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// A juror is a member of a panel. Its review is the one given for its step, or DONE.
type juror struct {
	tree

	says map[loop.Step]loop.Review
}

func (j juror) Judge(_ context.Context, c loop.Case, _ loop.Watch) (loop.Review, error) {
	j.plays(c.Step, false, "")
	defer j.rests()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.heard[c.Step] = c.Opinions
	r, ok := j.says[c.Step]
	if !ok {
		r = yes
	}
	if r.Ending == "" {
		r.Turn = turn("judged")
	}
	return r, nil
}

var (
	yes     = loop.Review{Verdict: loop.Verdict{Decision: loop.Done, Summary: "fine"}}
	no      = loop.Review{Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "mend it"}}
	bad     = loop.Review{Verdict: loop.Verdict{Decision: loop.Error, Analysis: "broken", Recovery: "put it back"}}
	person  = loop.Review{Verdict: loop.Verdict{Decision: loop.Continue, Escalation: "is that legal?"}}
	mute    = loop.Review{Problem: "it says nothing"}
	failed  = loop.Review{Problem: "cut", Turn: loop.Turn{Try: loop.Try{Ending: loop.EndTimedOut}}}
	blocked = loop.Review{Problem: "no", Turn: loop.Turn{Try: loop.Try{Ending: loop.EndAuth}}}
)

func scored(r loop.Review, score float64) loop.Review {
	r.Verdict.Score = &score
	return r
}

// conferring sets up a panel whose members vote like this in the first iteration.
func conferring(w *world, p loop.PanelPolicy, says map[loop.Step]loop.Review) (*loop.Loop, loop.Session) {
	l := w.loop(strategy.ActorCritic{})
	for range p.Members {
		l.Panel = append(l.Panel, juror{tree{w, "", ""}, says})
	}
	return l, loop.Session{ID: "s", Prompt: "do it", Terms: loop.Terms{Policy: loop.Policy{Panel: &p}}}
}

// TestPanel: the result of the members' votes.
func TestPanel(t *testing.T) {
	t.Parallel()
	type votes = []loop.Review
	for name, c := range map[string]struct {
		quorum int
		votes
		want string // of the first verdict
	}{
		"all":                     {3, votes{yes, yes, yes}, "DONE"},
		"all but one":             {3, votes{yes, no, yes}, "CONTINUE: agent2 (panel_2) says CONTINUE:\nmend it"},
		"a majority":              {2, votes{yes, no, yes}, "DONE, against: agent2 (panel_2) says CONTINUE:\nmend it"},
		"no majority":             {2, votes{no, no, yes}, "CONTINUE: agent1 (panel_1) says CONTINUE:\nmend it\n\nagent2 (panel_2) says CONTINUE:\nmend it"},
		"one is enough":           {1, votes{no, no, yes}, "DONE"},
		"nobody":                  {1, votes{no, no}, "CONTINUE: agent1"},
		"errors":                  {2, votes{bad, bad, yes}, "ERROR: "},
		"an error and a no":       {2, votes{bad, no, yes}, "CONTINUE: agent1 (panel_1) says ERROR:\nput it back"},
		"an escalation":           {1, votes{yes, person, yes}, "escalates: agent2 (panel_2): is that legal?"},
		"one is mute":             {2, votes{yes, mute, yes}, "DONE, against: agent2 (panel_2) says nothing that can be read:\nit says nothing"},
		"one fails":               {2, votes{yes, failed, no}, "CONTINUE: agent3 (panel_3) says CONTINUE"},
		"a vote is missing":       {3, votes{yes, mute, yes}, "none: 1 of the 3 members of the panel gave no verdict"},
		"most are mute":           {1, votes{yes, mute, failed}, "none: 2 of the 3"},
		"half are":                {1, votes{yes, mute}, "DONE"},
		"one cannot work":         {2, votes{yes, blocked, yes}, "DONE"},
		"one cannot, all have to": {3, votes{yes, blocked, yes}, "ends: agent_auth"},
		"the score of the quorum": {2, votes{scored(yes, 0.9), scored(yes, 0.5), scored(no, 0.7)}, "DONE at 0.7"},
		"the score of all":        {3, votes{scored(yes, 0.9), scored(yes, 0.5), scored(yes, 0.7)}, "DONE at 0.5"},
		"too few scores":          {2, votes{scored(yes, 0.9), yes, yes}, "DONE at no score"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.limit = 1
			says := map[loop.Step]loop.Review{}
			p := loop.PanelPolicy{Quorum: c.quorum, Rounds: 1}
			for i, r := range c.votes {
				p.Members = append(p.Members, loop.AgentRef{Agent: fmt.Sprintf("agent%d", i+1)})
				for _, again := range []string{"", ".2"} {
					says[loop.Step(fmt.Sprintf("1.critic.panel_%d%s", i+1, again))] = r
				}
			}
			l, s := conferring(w, p, says)
			out, err := l.Run(t.Context(), s)
			if got := toldBy(out, w.journal.Rounds()); err != nil || !strings.HasPrefix(got, c.want) {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
			if err := w.grammar.End(); err != nil {
				t.Error(err)
			}
		})
	}
}

// toldBy describes the result of a panel's verdict.
func toldBy(out loop.Outcome, rounds []loop.Round) string {
	if len(rounds) == 0 {
		return "ends: " + string(out.Reason)
	}
	r := rounds[0].Review
	_, against, _ := strings.Cut(r.Verdict.Summary, "Against it:\n")
	switch v := r.Verdict; {
	case r.Problem != "":
		return "none: " + r.Problem
	case v.Escalation != "":
		return "escalates: " + v.Escalation
	case v.Decision != loop.Done:
		return string(v.Decision) + ": " + v.Feedback
	case v.Score != nil:
		return fmt.Sprintf("DONE at %v", *v.Score)
	case against != "":
		return "DONE, against: " + against
	}
	return "DONE at no score"
}

// TestPanelSurvives: after a power failure at any event, no member that had finished judges the
// same work again, and the session comes to the same end.
func TestPanelSurvives(t *testing.T) {
	t.Parallel()
	says := map[loop.Step]loop.Review{
		"1.critic.panel_1": mute, "1.critic.panel_2": no, "1.critic.round_2.panel_3": no,
	}
	p := loop.PanelPolicy{Quorum: 3, Rounds: 2, Members: []loop.AgentRef{{Agent: "a"}, {Agent: "b"}, {Agent: "c"}}}
	for crash := 1; ; crash++ {
		w := newWorld()
		w.left = crash
		l, s := conferring(w, p, says)
		out, err := l.Run(t.Context(), s)
		if err == nil {
			return
		}
		if !errors.Is(err, errCrash) {
			t.Fatalf("crash %d: %v", crash, err)
		}
		w.left = -1
		if out, err = l.Resume(t.Context(), s, w.journal.Clone()); err == nil {
			err = w.grammar.End()
		}
		if err != nil || out.Reason != loop.StopDone || len(w.twice) > 0 {
			t.Fatalf("crash %d: %+v, %v; repeated: %v", crash, out, err, w.twice)
		}
	}
}

// TestPanelOnAnotherTree: a vote does not count for another state of the work tree.
func TestPanelOnAnotherTree(t *testing.T) {
	t.Parallel()
	w := newWorld()
	p := loop.PanelPolicy{Quorum: 2, Rounds: 1, Members: []loop.AgentRef{{Agent: "a"}, {Agent: "b"}}}
	l, s := conferring(w, p, nil)
	for crash := 1; !w.over["1.critic.panel_1"] && !w.over["1.critic.panel_2"]; crash++ {
		w = newWorld()
		w.left = crash
		l, s = conferring(w, p, nil)
		if _, err := l.Run(t.Context(), s); err == nil {
			t.Fatal("no crash comes directly after a member")
		}
	}
	w.left = -1
	w.trees[""] = append(w.trees[""], "changed")
	if out, err := l.Resume(t.Context(), s, w.journal.Clone()); err != nil || out.Reason != loop.StopDone || len(w.twice) != 1 {
		t.Errorf("%+v, %v; repeated: %v", out, err, w.twice)
	}
}

// TestPanelArgues: members that disagree are shown all reviews; members that agree judge once.
func TestPanelArgues(t *testing.T) {
	t.Parallel()
	w := newWorld()
	p := loop.PanelPolicy{Quorum: 2, Rounds: 3, Members: []loop.AgentRef{{Agent: "a"}, {Agent: "b", Model: "m"}}}
	l, s := conferring(w, p, map[loop.Step]loop.Review{"1.critic.panel_2": no})
	l.Jobs = 1
	out, err := l.Run(t.Context(), s)
	heard := w.heard["1.critic.round_2.panel_1"]
	if err != nil || out.Reason != loop.StopDone || out.Iterations != 1 || w.most > 1 || len(heard) != 2 ||
		heard[1] != (loop.Opinion{Who: "b:m (panel_2)", Says: "CONTINUE: mend it"}) || w.heard["1.critic.panel_1"] != nil {
		t.Errorf("%+v, %v, %d at once, heard %+v", out, err, w.most, heard)
	}
	if _, third := w.heard["1.critic.round_3.panel_1"]; third {
		t.Error("members that agree are asked again")
	}
}
