// Package sessionview picks sessions out of many, to show them.
//
// What is for a terminal is cleaned of control sequences and fits its width;
// what is for a program is whole. Nothing here reads a clock or asks the
// system.
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

// A Query says which sessions are wanted. The zero value wants all of them,
// the newest first.
type Query struct {
	Outcome string    // a word of [Outcomes]
	After   time.Time // began then or later
	Before  time.Time // began earlier
	Search  string    // stands in the prompt or the id, in any case
	// Projects are names, absolute, of one directory: worked there or below.
	Projects []string
	Agent    string // played a role
	Limit    int    // 0: no limit
	Sort     Order
}

// An Order is what sessions are sorted by.
type Order string

// The orders: the newest first, the longest, that with the most iterations, the
// most expensive.
const (
	ByStart      Order = "started"
	ByDuration   Order = "duration"
	ByIterations Order = "iterations"
	ByCost       Order = "cost"
)

// Orders lists all of them.
func Orders() []string {
	return []string{string(ByStart), string(ByDuration), string(ByIterations), string(ByCost)}
}

// Outcomes lists what can have become of a session.
func Outcomes() []string {
	return []string{
		string(loop.Success), string(loop.MaxIterations), string(loop.BudgetExhausted),
		string(loop.Failed), string(loop.Interrupted),
		string(session.Running), string(session.Crashed),
	}
}

// Pick returns the sessions that a query wants. It sorts all, which come the
// newest first, in place.
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

// price is the cost of a session, below all others where nothing is known of it.
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

// times are the ways to write a point in time; those without a zone are meant
// where the user is.
func times() []string {
	return []string{time.RFC3339, time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly}
}

// ParseTime reads a point in time: a date, a date with a time of day, or
// RFC 3339. The error is a sentence.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range times() {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: write 2025-01-27, 2025-01-27 15:30 or 2025-01-27T15:30:45Z", text)
}
