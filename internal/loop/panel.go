package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// A PanelPolicy has several critics judge the same work independently.
type PanelPolicy struct {
	Members []AgentRef `json:"members"`
	Quorum  int        `json:"quorum"` // how many of them have to say DONE
	Rounds  int        `json:"rounds"` // while they disagree they judge again, up to this many rounds in all, each shown what all have said
}

// A Vote is the decision of one member of a panel.
type Vote struct {
	Role     Role     `json:"role"`
	Agent    AgentRef `json:",embed"`
	Decision Decision `json:"decision,omitzero"` // "" if its reply had no verdict
	Says     string   `json:"says"`              // its own words, or why there is no verdict
}

// Member is the role of a panel member; i counts from 0.
func Member(i int) Role { return Role(fmt.Sprintf("panel_%d", i+1)) }

// IsMember reports whether the role is that of a panel member.
func (r Role) IsMember() bool { return strings.HasPrefix(string(r), "panel_") }

// pays returns the role whose budget the turn counts against.
func (e TurnFinished) pays() Role {
	if e.Review != nil {
		return RoleCritic
	}
	return e.Role
}

// judgeByPanel has the members of the panel judge the work concurrently, and again while they disagree.
// Turns in the journal are not played again if they judged the current state of the work.
func (it *Iteration) judgeByPanel(ctx context.Context) error {
	p := *it.run.session.Policy.Panel
	first := it.step(string(RoleCritic))
	known := it.run.journal.below(first)
	for round := 1; ; round++ {
		c := it.c
		c.Step = first
		if round > 1 {
			c.Step, c.Opinions = first.Sub(fmt.Sprintf("round_%d", round)), opinions(it.round.Review.Votes)
		}
		said, err := it.pollMembers(ctx, c, known, len(p.Members))
		if err != nil {
			return err
		}
		if err := p.quorumLost(said); err != nil {
			return err
		}
		it.round.Review = p.verdict(said)
		if round >= p.Rounds || !differ(said) {
			break
		}
	}
	it.c.Step = first
	_, it.round.Review.Unmentioned = it.run.at.Gate.Ends(it.c, it.round.Review)
	return it.judged(ctx)
}

// pollMembers asks every member about a case.
func (it *Iteration) pollMembers(ctx context.Context, c Case, known map[Step]TurnFinished, members int) ([]Review, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	said, asks := make([]Review, members), make([]int, members)
	it.run.loop.concurrently(members, func(i int) {
		mine := c
		mine.Step = c.Step.Sub(string(Member(i)))
		ask := func(c Case) (Review, string, error) {
			if was, ok := known[c.Step]; ok && was.State == c.Change.State {
				review := *was.Review
				review.Turn, review.Reply = was.Reply.Turn, was.Reply.Text
				return review, review.weigh(it.run.at.Gate, c, it.run.strict()), nil
			}
			asks[i]++
			return it.run.playMember(ctx, i, c)
		}
		var err error
		if said[i], err = it.run.loop.askCritic(mine, ask, func(Case, Review) error { return nil }); err != nil {
			cancel(err)
		}
	})
	for _, n := range asks {
		it.trace[len(it.trace)-1].Turns += n
	}
	return said, context.Cause(ctx)
}

// playMember plays one turn of a member. It is safe for concurrent use.
func (s *section) playMember(ctx context.Context, i int, c Case) (review Review, doubt string, err error) {
	role := Member(i)
	if err := s.admit(ctx, true, RoleCritic); err != nil {
		return review, "", err
	}
	defer s.release(RoleCritic)
	if err := s.emit(c.Step, TurnStarted{Iteration: c.Iteration, Role: role}); err != nil {
		return review, "", err
	}
	c.ID = s.idOf(c.Step)
	if review, err = s.at.Panel[i].Judge(ctx, c, s.watch(c.Step, role)); err != nil {
		return review, "", fmt.Errorf("run the critic %s: %w", role, err)
	}
	review.ID = c.ID
	s.spend(RoleCritic, review.Turn)
	if err := context.Cause(ctx); err != nil {
		return review, "", err
	}
	doubt = review.weigh(s.at.Gate, c, s.strict())
	only := review
	only.Turn, only.Reply = Turn{}, ""
	return review, doubt, cmp.Or(
		s.emit(c.Step, TurnFinished{
			Iteration: c.Iteration, Role: role, State: c.Change.State, Review: &only,
			Reply: Reply{Turn: review.Turn, Text: review.Reply, Written: review.Written},
		}),
		s.late(c.Step, role, review.Turn),
		s.tell(c.Step, "the "+string(role), review.Written),
	)
}

// quorumLost returns a [*stopError] if so many members cannot work that the others are no quorum.
func (p PanelPolicy) quorumLost(said []Review) error {
	var why error
	able := 0
	for _, r := range said {
		if e := blocked(RoleCritic, r.Turn); e == nil {
			able++
		} else if why == nil {
			why = e
		}
	}
	if able >= p.Quorum {
		return nil
	}
	return why
}

// differ reports whether members with a verdict disagree on whether the work is done.
func differ(said []Review) bool {
	yes, no := false, false
	for _, r := range said {
		if r.Problem == "" {
			yes, no = yes || r.Verdict.Decision == Done, no || r.Verdict.Decision != Done
		}
	}
	return yes && no
}

// opinions are the votes as all members are shown them.
func opinions(votes []Vote) (all []Opinion) {
	for _, v := range votes {
		if v.Decision != "" {
			all = append(all, Opinion{Who: v.Name(), Says: string(v.Decision) + ": " + v.Says})
		}
	}
	return all
}

// Name is the member's name for people.
func (v Vote) Name() string { return fmt.Sprintf("%s (%s)", v.Agent, v.Role) }

// vote returns a member's vote.
func (p PanelPolicy) vote(i int, r Review) Vote {
	v := Vote{Role: Member(i), Agent: p.Members[i], Says: r.Problem}
	if r.Agent.Agent != "" { // a fallback agent may have played
		v.Agent = r.Agent
	}
	if r.Problem == "" {
		v.Decision = r.Verdict.Decision
		v.Says = cmp.Or(r.Verdict.Escalation, r.Verdict.Guidance())
	}
	return v
}

// verdict returns the panel's verdict: DONE only with a quorum, otherwise CONTINUE with what the
// opponents say. An escalation stands whatever the others say. The panel has no verdict if fewer
// than half of its members have one, or if there is neither a quorum for DONE nor anybody against
// it. The review has no turn of its own: its members' turns are counted.
func (p PanelPolicy) verdict(said []Review) (r Review) {
	r.Ending = EndCompleted
	r.Usage = Usage{Tokens: &Tokens{}, CostUSD: new(0.0), Rounds: new(0)}
	var favour, against []int
	var mute []string
	escalates := -1
	for i, s := range said {
		v := p.vote(i, s)
		r.Votes = append(r.Votes, v)
		r.Duration = max(r.Duration, s.Duration)
		switch {
		case v.Decision == "":
			mute = append(mute, v.Name()+": "+v.Says)
		case v.Decision == Done && s.Verdict.Escalation == "":
			favour = append(favour, i)
		default:
			against = append(against, i)
			if s.Verdict.Escalation != "" && escalates < 0 {
				escalates = i
			}
		}
	}
	switch {
	case escalates >= 0:
		r.Verdict = said[escalates].Verdict
		r.Verdict.Escalation = r.Votes[escalates].Name() + ": " + r.Verdict.Escalation
	case 2*len(mute) > len(said), len(favour) < p.Quorum && len(against) == 0:
		r.Problem = fmt.Sprintf("%d of the %d members of the panel gave no verdict: %s", len(mute), len(said), strings.Join(mute, "; "))
	case len(favour) >= p.Quorum:
		r.Verdict = joined(said, favour)
		agrees := func(i int) bool { return slices.Contains(favour, i) }
		r.Verdict.Decision, r.Verdict.Summary = Done, quotes(r.Votes, agrees)
		if dissent := quotes(r.Votes, func(i int) bool { return !agrees(i) }); dissent != "" {
			r.Verdict.Summary += "\n\nAgainst it:\n" + dissent
		}
	default:
		r.Verdict = joined(said, against)
		r.Verdict.Decision, r.Verdict.Feedback = Continue, quotes(r.Votes, func(i int) bool { return slices.Contains(against, i) })
		if !slices.ContainsFunc(against, func(i int) bool { return said[i].Verdict.Decision != Error }) {
			r.Verdict.Decision, r.Verdict.Analysis = Error, r.Verdict.Feedback
		}
	}
	if r.Problem == "" {
		r.Verdict.Score = p.score(said)
		r.Reply = quotes(r.Votes, func(int) bool { return true })
	}
	return r
}

// joined merges the lists of some of the members. The confidence is the lowest.
func joined(said []Review, of []int) (v Verdict) {
	for _, i := range of {
		x := said[i].Verdict
		v.Issues = append(v.Issues, x.Issues...)
		v.Risks = append(v.Risks, x.Risks...)
		v.RequiredChanges = append(v.RequiredChanges, x.RequiredChanges...)
		v.Answers = append(v.Answers, x.Answers...)
		v.Severity = cmp.Or(v.Severity, x.Severity)
		if x.Confidence != nil && (v.Confidence == nil || *x.Confidence < *v.Confidence) {
			v.Confidence = x.Confidence
		}
	}
	return v
}

// score is the highest score that a quorum reaches, nil if fewer members give one.
func (p PanelPolicy) score(said []Review) *float64 {
	var all []float64
	for _, r := range said {
		if r.Problem == "" && r.Verdict.Score != nil {
			all = append(all, *r.Verdict.Score)
		}
	}
	if len(all) < p.Quorum {
		return nil
	}
	slices.Sort(all)
	return &all[len(all)-p.Quorum]
}

// quotes quotes the votes of some members, each with its name.
func quotes(votes []Vote, of func(member int) bool) string {
	var parts []string
	for i, v := range votes {
		if of(i) {
			parts = append(parts, fmt.Sprintf("%s says %s:\n%s", v.Name(), cmp.Or(v.Decision, "nothing that can be read"), v.Says))
		}
	}
	return strings.Join(parts, "\n\n")
}
