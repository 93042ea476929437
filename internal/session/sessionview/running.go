package sessionview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session/standing"
	"codeloops/internal/wording"
)

// Running says in three lines what runs, where it stands, and what it has used. where is the work
// tree, "" if the user is in it.
func (s Screen) Running(at standing.Standing, now time.Time, where string) []string {
	head := []string{s.Strong(at.Session), term.Line(cmp.Or(at.Strategy, "actor-critic"))}
	if at.Prompt != "" {
		head = append(head, term.Line(at.Prompt))
	}
	if where != "" { // it may be long, as those of a queue's tasks are
		head = append(head, "in "+term.Line(where))
	}
	return []string{
		s.fits(s.sign() + " " + strings.Join(head, render.Dot)),
		s.fits("  " + UnderWay(at, now)),
		s.fits("  " + strings.Join(used(at, now), render.Dot)),
	}
}

// UnderWay says in a line where a run stands.
func UnderWay(at standing.Standing, now time.Time) string {
	return strings.Join(underWay(at, now), render.Dot)
}

func underWay(at standing.Standing, now time.Time) (parts []string) {
	if n := at.Now.Iteration; n > 0 {
		iteration := fmt.Sprintf("iteration %d", n)
		if most := at.Limits.Iterations; most > 0 {
			iteration += fmt.Sprintf(" of %d", most)
		}
		parts = append(parts, iteration)
	}
	turns := at.Now.Turns
	switch {
	case at.Now.Paused:
		return append(parts, "paused (codeloops pause --off)")
	case at.Now.Question != "":
		return append(parts, "asks: "+term.Line(at.Now.Question))
	case len(turns) == 0:
		return append(parts, busy(at, now))
	}
	t := turns[len(turns)-1]
	who := term.Line(t.Role) + " " + render.Who(loop.AgentRef{Agent: t.Agent, Model: t.Model})
	parts = append(parts, who, "at work for "+render.Clock(now.Sub(t.Began)))
	if more := len(turns) - 1; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more at work", more))
	}
	switch {
	case !t.Waiting.IsZero():
		parts = append(parts, "waits "+render.Clock(t.Waiting.Sub(now))+" for a service")
	case t.Does != "":
		parts = append(parts, render.Verb(loop.NoticeKind(t.Does))+" "+term.Line(t.What))
	}
	return parts
}

// busy says what is happening while no agent is at work.
func busy(at standing.Standing, now time.Time) string {
	phase, _ := loop.ParseState(at.Now.Phase)
	if what := map[loop.State]string{loop.CapturingDiff: "looks at what has changed", loop.Verifying: "runs the checks"}[phase]; what != "" {
		return what + " for " + render.Clock(now.Sub(at.Now.Since))
	}
	if at.Now.Iteration == 0 {
		return "begins"
	}
	return "between two turns"
}

// used says what the run has cost and changed, and which requests are pending.
func used(at standing.Standing, now time.Time) (parts []string) {
	parts = render.Used(at.Spent.Tokens, at.Limits.Tokens, at.Spent.CostUSD, at.Limits.CostUSD)
	parts = append(parts, render.Stat(loop.Shape{Files: at.Change.Files, Insertions: at.Change.Insertions, Deletions: at.Change.Deletions}))
	took := render.Clock(now.Sub(at.Began))
	if most := at.Limits.DurationSecs; most > 0 {
		took += " of " + wording.Duration(time.Duration(most*float64(time.Second)))
	}
	parts = append(parts, "run "+took)
	if at.Asked.Stop {
		parts = append(parts, "stops after this iteration")
	}
	if at.Asked.Pause && !at.Now.Paused {
		parts = append(parts, "pauses after this turn")
	}
	if n := at.Asked.Words; n > 0 {
		parts = append(parts, render.Count(n, "word waits", "words wait")+" for the actor")
	}
	return parts
}
