package lookup

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Filter selects sessions, in the words of a command line; "" is any. The zero value selects all, the newest first.
type Filter struct {
	Outcome       string // one of [Outcomes]
	Search        string // in the prompt, the id, a critic's words or the name of a changed file, ignoring case
	Agent         string // played any role
	Project       string // a directory: the session worked there or below
	After, Before string // times
	Since         string // a span up to now
	Sort          string // one of [Orders]
	Limit         int    // 0: no limit
}

// Outcomes lists the outcomes of sessions.
func Outcomes() []string {
	return []string{
		string(loop.Success), string(loop.MaxIterations), string(loop.BudgetExhausted),
		string(loop.Failed), string(loop.Interrupted),
		string(session.Running), string(session.Crashed),
	}
}

// The orders of sessions: the newest, the longest, those with most iterations and the most expensive first.
const (
	ByStart      = "started"
	byDuration   = "duration"
	byIterations = "iterations"
	byCost       = "cost"
)

// Orders lists all orders.
func Orders() []string { return []string{ByStart, byDuration, byIterations, byCost} }

// A Query picks sessions of those that are given the newest first.
type Query func(all []session.Overview) []session.Overview

// Query parses the filter.
func (f Filter) Query(h *host.Host) (Query, error) {
	after, before, err := f.times(h.Now())
	if err = cmp.Or(err, f.check()); err != nil {
		return nil, err
	}
	var projects []string
	if f.Project != "" {
		projects = append(projects, filepath.Clean(h.Path(f.Project)))
		if resolved, err := filepath.EvalSymlinks(projects[0]); err == nil { // a log has the directory as the user had named it
			projects = append(projects, resolved)
		}
	}
	return func(all []session.Overview) []session.Overview {
		picked := slices.DeleteFunc(all, func(o session.Overview) bool {
			return o.Started.Before(after) || !before.IsZero() && !o.Started.Before(before) || !f.wants(o) ||
				projects != nil && !slices.ContainsFunc(projects, func(root string) bool { return inside(o.Session.WorkingDir, root) })
		})
		f.sort(picked)
		if f.Limit > 0 && len(picked) > f.Limit {
			picked = picked[:f.Limit]
		}
		return picked
	}, nil
}

func (f Filter) check() error {
	switch {
	case f.Limit < 0:
		return hint.Errorf("0 is no limit", "--limit cannot be %d", f.Limit)
	case f.Outcome != "" && !slices.Contains(Outcomes(), f.Outcome):
		return OneOf("--outcome", f.Outcome, Outcomes())
	case f.Sort != "":
		return OneOf("--sort", f.Sort, Orders())
	}
	return nil
}

// times returns the times between which sessions began; zero: any.
func (f Filter) times(now time.Time) (after, before time.Time, err error) {
	if f.After != "" && f.Since != "" {
		return after, before, hint.Errorf("give one of them", "--after and --since both say when to begin")
	}
	if after, err = parseTime("--after", f.After, now.Location()); err != nil {
		return after, before, err
	}
	if f.Since != "" {
		back, err := config.ParseDuration(f.Since)
		if err != nil {
			return after, before, hint.Errorf("", "--since: %w", err)
		}
		after = now.Add(-back)
	}
	before, err = parseTime("--before", f.Before, now.Location())
	return after, before, err
}

// parseTime parses a date, a date with a time of day, or RFC 3339; times without a zone are in the user's.
func parseTime(flag, text string, zone *time.Location) (t time.Time, err error) {
	if text == "" {
		return t, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly} {
		if t, err = time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	return t, hint.Errorf("", "%s: %q is not a time: write 2025-01-27, 2025-01-27 15:30 or 2025-01-27T15:30:45Z", flag, text)
}

func (f Filter) wants(o session.Overview) bool {
	switch {
	case !o.Tells():
		return false
	case f.Outcome != "" && string(o.Status) != f.Outcome:
		return false
	case f.Agent != "" && f.Agent != o.Session.Actor.Agent && f.Agent != o.Session.Critic.Agent:
		return false
	}
	return f.Search == "" || Mentions(o, f.Search)
}

// Mentions reports whether a session has a text in what people and critics said, or in the name of a changed file, ignoring
// case. It reads the log unless its first and last lines have it.
func Mentions(o session.Overview, part string) bool {
	part = strings.ToLower(part)
	has := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), part) })
	}
	if has(o.Session.Prompt, o.ID) || o.Outcome != nil && has(o.Outcome.Summary) {
		return true
	}
	for entry, err := range session.Sound(session.Read(o.Path), nil) {
		if err != nil {
			return false // it was told
		}
		whole, _ := entry.Event.(loop.IterationFinished)
		v := whole.Round.Verdict
		if has(v.Feedback, v.Recovery, v.Summary) || slices.ContainsFunc(whole.Round.Change.Files, func(f loop.FileChange) bool { return has(f.Path, f.OldPath) }) {
			return true
		}
	}
	return false
}

func (f Filter) sort(picked []session.Overview) {
	if f.Sort == byCost {
		session.Count(picked)
	}
	if by := map[string]func(session.Overview) float64{
		byDuration:   func(o session.Overview) float64 { return o.Duration.Seconds() },
		byIterations: func(o session.Overview) float64 { return float64(o.Iterations) },
		byCost: func(o session.Overview) float64 {
			if usd := sessionview.NewRow(o).CostUSD; usd != nil {
				return *usd
			}
			return -1 // an unknown one is below all others
		},
	}[f.Sort]; by != nil {
		slices.SortStableFunc(picked, func(a, b session.Overview) int { return cmp.Compare(by(b), by(a)) })
	}
}

// OneOf rejects a value of a flag that is not one of the words, and suggests the nearest.
func OneOf(flag, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	what := "one of " + strings.Join(words, ", ")
	if near, ok := wording.Nearest(strings.ToLower(value), words); ok {
		what = "did you mean " + near + "?"
	}
	return hint.Errorf(what, "%s cannot be %q", flag, value)
}
