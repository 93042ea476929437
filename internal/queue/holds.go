package queue

import (
	"fmt"
	"strings"
	"time"

	"codeloops/internal/loop"
)

// Budgets are the budgets of repositories, by [Repository.Key].
type Budgets map[string]Budget

// Over says why no task of a repository may begin until its budget is raised; "" where it may.
func (b Budgets) Over(r Repository) string {
	why, _ := b[r.Key()].Over()
	return why
}

// Holds are what keeps tasks from starting besides other tasks. The zero value holds nothing back.
type Holds struct {
	Budgets Budgets

	limits map[string]time.Time // the ends of the limits that agents have reached
}

// Holds returns what holds tasks back in a home: budgets, and the limits that its agents have reached. A task that waits for
// the end of one holds back all others that would use the agent.
func (b Backlog) Holds(budgets Budgets, home string, now time.Time) *Holds {
	h := &Holds{Budgets: budgets, limits: map[string]time.Time{}}
	for _, r := range b {
		if r.State == Waiting && r.Limited != "" && r.Worker.Home == home && now.Before(r.NotBefore) && r.NotBefore.After(h.limits[r.Limited]) {
			h.limits[r.Limited] = r.NotBefore
		}
	}
	return h
}

// Held says what keeps a waiting task from starting, other tasks aside; "" is nothing. A role is held back only if
// all its agents are.
func (h *Holds) Held(r *Record) string {
	if over := h.Budgets.Over(r.Task.Repository); over != "" {
		return "over budget: " + over
	}
	for _, row := range r.cast() {
		var held []string
		for _, agent := range row {
			if until, is := h.limits[agent]; is {
				held = append(held, LimitOf(agent, until))
			}
		}
		if len(held) > 0 && len(held) == len(row) {
			return strings.Join(held, ", ")
		}
	}
	return ""
}

// LimitOf says, for people, until when an agent is at a limit.
func LimitOf(agent string, until time.Time) string {
	return fmt.Sprintf("%s: limit until %s", agent, until.Local().Format("15:04"))
}

// CastOf lists who may play each role of a session, the preferred agent first; nil where nobody is known.
func CastOf(c loop.Cast) (all [][]string) {
	if c.Actor.Agent == "" {
		return nil
	}
	for _, role := range [][]loop.AgentRef{append([]loop.AgentRef{c.Actor}, c.ActorFallback...), append([]loop.AgentRef{c.Critic}, c.CriticFallback...)} {
		var row []string
		for _, who := range role {
			row = append(row, who.String())
		}
		all = append(all, row)
	}
	return all
}
