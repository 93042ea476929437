package queue

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"codeloops/internal/loop"
)

// A Limit is what an agent has said of its service: nothing more until then. It is that of an account,
// which is taken to be that of the user's home: another home may have another.
type Limit struct {
	Home   string `json:"home"`
	Agent  string `json:"agent"` // with its model, as tasks name them
	Reason string `json:"reason,omitempty"`
	// Seconds is how long it lasts from when the hub was told: clocks of machines differ.
	Seconds float64 `json:"seconds"`
	// Tries is how often it was met in a row without being told when it ends.
	Tries int `json:"tries,omitempty"`
	// Until is its end by the clock of the hub. It is not part of what is kept.
	Until time.Time `json:"-"`
}

// How long a limit without a stated end holds tasks back: that doubles each time that it is met again.
const (
	firstLimit   = time.Minute
	longestLimit = 30 * time.Minute
)

// Again is the limit when it is met at that time, and lasts so long; 0: that is not known.
func (l Limit) Again(now time.Time, pause time.Duration, reason string) Limit {
	const slack = 3 * time.Second // whoever has told the end may have another clock
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

// Holds are what keeps tasks from being begun that is no matter of other tasks. The zero value keeps
// none.
type Holds struct {
	Budgets map[string]Budget // by [Repository.Key]
	Limits  map[string]Limit  // of this home, by agent
}

// Clone is a copy whose maps are its own.
func (h *Holds) Clone() *Holds {
	c := &Holds{Budgets: map[string]Budget{}, Limits: map[string]Limit{}}
	maps.Copy(c.Budgets, h.Budgets)
	maps.Copy(c.Limits, h.Limits)
	return c
}

// Limited is the limit that an agent is at; nil where it is at none.
func (h *Holds) Limited(agent string, now time.Time) *Limit {
	if l, ok := h.Limits[agent]; ok && now.Before(l.Until) {
		return &l
	}
	return nil
}

// Over is why no task of a repository is begun any more, until its budget is raised; "" where it has
// some left, or needs none.
func (h *Holds) Over(r Repository) string { return h.Budgets[r.Key()].Over }

// Held says why a task that waits is not begun, though other tasks would let it; "" where nothing holds it
// back. A role that somebody can play who is at no limit keeps nobody.
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

// String says of whom and until when, for people.
func (l *Limit) String() string {
	at := l.Until.Format("15:04")
	if time.Duration(l.Seconds*float64(time.Second)) < time.Hour {
		at = l.Until.Format(time.TimeOnly)
	}
	return fmt.Sprintf("%s: limit until %s", l.Agent, at)
}

// AgentName is the name of an agent with its model, as the configuration spells it.
func AgentName(a loop.AgentRef) string {
	if a.Model != "" {
		return a.Agent + ":" + a.Model
	}
	return a.Agent
}

// CastOf is who may play each role of a session, the preferred agent first; nil where nobody knows.
func CastOf(c loop.Cast) (all [][]string) {
	if c.Actor.Agent == "" {
		return nil
	}
	for _, role := range [][]loop.AgentRef{append([]loop.AgentRef{c.Actor}, c.ActorFallback...), append([]loop.AgentRef{c.Critic}, c.CriticFallback...)} {
		var row []string
		for _, who := range role {
			row = append(row, AgentName(who))
		}
		all = append(all, row)
	}
	return all
}
