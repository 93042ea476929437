package queue

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"codeloops/internal/loop"
)

// A Limit is a usage limit that an agent has reported. It applies to an account, which is assumed to be one per
// home.
type Limit struct {
	Home   string `json:"home"`
	Agent  string `json:"agent"` // with its model, as tasks name them
	Reason string `json:"reason,omitempty"`
	// Seconds counts from when the hub was told, as the clocks of machines differ.
	Seconds float64 `json:"seconds"`
	// Tries counts how often in a row the limit was met without a known end.
	Tries int `json:"tries,omitempty"`
	// Until is its end by the hub's clock. It is not stored.
	Until time.Time `json:"-"`
}

// A limit without a known end holds tasks back for firstLimit, doubled each time it is met again.
const (
	firstLimit   = time.Minute
	longestLimit = 30 * time.Minute
)

// Again is the limit when it is met again, for a pause; 0 is unknown.
func (l Limit) Again(now time.Time, pause time.Duration, reason string) Limit {
	const slack = 3 * time.Second // clocks may differ
	l.Reason = reason
	if pause > 0 {
		pause, l.Tries = pause+slack, 0
	} else {
		pause = min(firstLimit<<min(l.Tries, 10), longestLimit)
		l.Tries++
	}
	l.Seconds, l.Until = pause.Seconds(), now.Add(pause)
	return l
}

// Holds are the budgets and limits that keep tasks from starting. The zero value holds nothing back.
type Holds struct {
	Budgets map[string]Budget // by [Repository.Key]
	Limits  map[string]Limit  // of this home, by agent
}

// Clone copies the maps.
func (h *Holds) Clone() *Holds {
	c := &Holds{Budgets: map[string]Budget{}, Limits: map[string]Limit{}}
	maps.Copy(c.Budgets, h.Budgets)
	maps.Copy(c.Limits, h.Limits)
	return c
}

// Limited returns the limit that an agent has reached; nil where there is none.
func (h *Holds) Limited(agent string, now time.Time) *Limit {
	if l, ok := h.Limits[agent]; ok && now.Before(l.Until) {
		return &l
	}
	return nil
}

// Over says why no task of a repository may begin until its budget is raised; "" where it may.
func (h *Holds) Over(r Repository) string {
	budget := h.Budgets[r.Key()]
	why, _ := budget.Over()
	return why
}

// Held says what keeps a waiting task from starting, other tasks aside; "" is nothing. A role is held back only if
// all its agents are.
func (h *Holds) Held(r *Record, now time.Time) string {
	if over := h.Over(r.Task.Repository); over != "" {
		return "over budget: " + over
	}
	for _, row := range r.cast() {
		var held []string
		for _, agent := range row {
			l := h.Limited(agent, now)
			if l == nil {
				held = nil
				break
			}
			held = append(held, l.String())
		}
		if held != nil {
			return strings.Join(held, ", ")
		}
	}
	return ""
}

// String names the agent and the end of the limit, for people.
func (l *Limit) String() string {
	at := l.Until.Format("15:04")
	if time.Duration(l.Seconds*float64(time.Second)) < time.Hour {
		at = l.Until.Format(time.TimeOnly)
	}
	return fmt.Sprintf("%s: limit until %s", l.Agent, at)
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
