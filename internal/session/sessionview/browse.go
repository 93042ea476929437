// Package sessionview selects sessions and shows them.
//
// Output for a terminal is cleaned of control sequences and fits its width; output for a program is
// complete. Nothing here reads a clock or asks the system.
package sessionview

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// A Query selects sessions. The zero value selects all of them, newest first.
type Query struct {
	Outcome string    // one of [Outcomes]
	After   time.Time // started at this time or later
	Before  time.Time // started earlier than this
	Search  string    // contained in the prompt or the id, ignoring case
	// Projects are absolute names of one directory: the session worked there or below.
	Projects []string
	Agent    string // played any role
	Limit    int    // 0: no limit
	Sort     Order
}

// An Order is how sessions are sorted.
type Order string

// The orders: newest first, longest first, most iterations first, most expensive first.
const (
	ByStart      Order = "started"
	ByDuration   Order = "duration"
	ByIterations Order = "iterations"
	ByCost       Order = "cost"
)

// Orders lists all orders.
func Orders() []string {
	return []string{string(ByStart), string(ByDuration), string(ByIterations), string(ByCost)}
}

// Outcomes lists the outcomes of sessions.
func Outcomes() []string {
	return []string{
		string(loop.Success), string(loop.MaxIterations), string(loop.BudgetExhausted),
		string(loop.Failed), string(loop.Interrupted),
		string(session.Running), string(session.Crashed),
	}
}

// Pick returns the sessions that a query selects. All must be sorted newest first; it is reordered
// in place.
func (q Query) Pick(all []session.Overview) []session.Overview {
	picked := slices.DeleteFunc(all, func(o session.Overview) bool { return !q.wants(o) })
	if by := map[Order]func(session.Overview) float64{
		ByDuration:   func(o session.Overview) float64 { return o.Duration.Seconds() },
		ByIterations: func(o session.Overview) float64 { return float64(o.Iterations) },
		ByCost:       price,
	}[q.Sort]; by != nil {
		slices.SortStableFunc(picked, func(a, b session.Overview) int { return cmp.Compare(by(b), by(a)) })
	}
	if q.Limit > 0 && len(picked) > q.Limit {
		picked = picked[:q.Limit]
	}
	return picked
}

// price is the cost of a session; an unknown one is below all others.
func price(o session.Overview) float64 {
	if usd := spentBy(o.Tally).CostUSD; usd != nil {
		return *usd
	}
	return -1
}

func (q Query) wants(o session.Overview) bool {
	switch {
	case !o.Tells():
		return false
	case q.Outcome != "" && string(o.Status) != q.Outcome:
		return false
	case !q.After.IsZero() && o.Started.Before(q.After):
		return false
	case !q.Before.IsZero() && !o.Started.Before(q.Before):
		return false
	case q.Agent != "" && q.Agent != o.Session.Actor.Agent && q.Agent != o.Session.Critic.Agent:
		return false
	case len(q.Projects) > 0 && !slices.ContainsFunc(q.Projects, func(root string) bool { return below(o.Session.WorkingDir, root) }):
		return false
	}
	return q.Search == "" || contains(o.Session.Prompt, q.Search) || contains(o.ID, q.Search)
}

func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

func below(dir, root string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}

// times lists the layouts of points in time; those without a zone are in the user's.
func times() []string {
	return []string{time.RFC3339, time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly}
}

// ParseTime parses a date, a date with a time of day, or RFC 3339. The error is a sentence.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range times() {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write 2025-01-27, 2025-01-27 15:30 or 2025-01-27T15:30:45Z", text)
}
