// Package convergence detects loops that make no progress, and keeps the findings of a session.
//
// It folds the rounds of a session and keeps no state, so a resumed or replayed session has
// the same result. The signs are facts: the actor changes nothing, the work returns to an
// earlier state, the same checks fail in the same way, and the same finding stays open. Each sign is
// counted. The counts start over when fewer checks fail or fewer findings are open than ever before.
package convergence

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// Rule is the name of the rule that ends a run that is stuck.
const Rule = "convergence"

// A Report is the result of the rounds.
type Report struct {
	Findings []loop.Finding // all findings, as the last round left them
	Warnings []string       // sentences for both agents
	Stuck    string         // a sentence that says why the run ends; "": it goes on
}

// Look folds the earlier rounds, oldest first, and the current one, with the verdict as it
// stands so far. Without a policy it neither warns nor stops, but tracks the findings.
func Look(p *loop.ConvergencePolicy, history []loop.Round, now loop.Round) Report {
	f := fold{fewest: map[string]int{}}
	if p != nil {
		f.ConvergencePolicy = *p
	}
	f.begin()
	for _, round := range history {
		f.take(round)
		f.warned = f.warned || len(round.Warnings) > 0
		if round.Rule == Rule { // it ended the run, and the user has resumed the session to try again
			f.begin()
			f.idle = 0
		}
	}
	f.take(now)
	return f.report(now)
}

// A fold is the result of the rounds so far.
type fold struct {
	loop.ConvergencePolicy
	state   string            // of the work tree
	seen    map[string]visits // by state, since the last progress
	idle    int               // turns in a row that changed nothing
	failing string            // which checks failed in the last round, and how
	same    int               // how often in a row they did
	fewest  map[string]int    // failing checks and open findings
	known   []*finding
	judged  bool // the last round was judged, and the critic has seen all of the work
	warned  bool
}

// visits counts how often the work reached a state.
type visits struct{ times, first int }

// take adds a round. Rounds that a rule sent back without a review, and errors, do not
// count, because they have limits of their own.
func (f *fold) take(r loop.Round) {
	if r.Unjudged || r.Verdict.Decision == loop.Error {
		f.judged = false
		return
	}
	unchanged := r.Change.State == f.state || f.state == "" && r.Change.Empty()
	f.state = r.Change.State
	f.raise(r)
	if f.progressed(r) {
		f.begin()
	}
	f.count(r, unchanged)
	f.judged = r.Review.Problem == ""
}

// begin resets all counts but that of idle turns.
func (f *fold) begin() {
	f.seen, f.same, f.warned = map[string]visits{}, 0, false
	for _, x := range f.known {
		x.rounds = 0
	}
}

func (f *fold) count(r loop.Round, unchanged bool) {
	if unchanged && !r.Attempt.Ending.Cut() {
		f.idle++
	} else if !unchanged {
		f.idle = 0
	}
	v := f.seen[f.state]
	if !unchanged || v.times == 0 {
		if v.times++; v.times == 1 {
			v.first = r.Iteration
		}
		f.seen[f.state] = v
	}
	if now := failures(r.Checks); now == "" || now != f.failing {
		f.failing, f.same = now, 0
	}
	if f.failing != "" {
		f.same++
	}
	for _, x := range f.known {
		if x.rounds++; !x.Raised() || x.May {
			x.rounds = 0
		}
	}
}

// failures identifies the checks that fail and how they do: by exit code and the size of the output,
// since earlier rounds are known without its text. It is "" if none does.
func failures(checks []loop.CheckResult) string {
	var b strings.Builder
	for _, c := range checks {
		if !c.Passed() {
			fmt.Fprintf(&b, "%s\x00%d\x00%d\x00", c.Command, c.ExitCode, c.Output.Total)
		}
	}
	return b.String()
}

// A sign is a sign of the last round that the loop makes no progress.
type sign struct {
	times int
	text  string
}

func (f *fold) signs() []sign {
	all := []sign{{f.idle, fmt.Sprintf("The last %d turns of the actor changed nothing in the work tree.", f.idle)}}
	if v := f.seen[f.state]; f.idle == 0 {
		all = append(all, sign{v.times, fmt.Sprintf("The work tree is again as it was after iteration %d: the work goes in circles.", v.first)})
	}
	all = append(all, sign{f.same, fmt.Sprintf("The same checks have failed in the same way for %d iterations.", f.same)})
	for _, x := range f.known {
		if x.Check == "" {
			all = append(all, sign{x.rounds, fmt.Sprintf("The finding %s has been open for %d iterations.", x.ID, x.rounds)})
		}
	}
	return all
}

// report returns the result of the last round. A verdict that ends the run anyway needs no
// warning.
func (f *fold) report(now loop.Round) Report {
	r := Report{Findings: f.findings()}
	if now.Unjudged || now.Verdict.Decision != loop.Continue || now.Verdict.Escalation != "" {
		return r
	}
	var stuck []string
	for _, s := range f.signs() {
		if f.WarnAfter > 0 && s.times >= f.WarnAfter {
			r.Warnings = append(r.Warnings, s.text)
		}
		if f.StopAfter > 0 && s.times >= f.StopAfter {
			stuck = append(stuck, s.text)
		}
	}
	if len(stuck) > 0 && (f.warned || f.WarnAfter == 0) {
		if why := now.Attempt.Denied(); why != "" && f.idle >= f.StopAfter {
			stuck = append(stuck, "In the last one "+why+".")
		}
		return Report{Findings: r.Findings, Stuck: strings.Join(stuck, " ")}
	}
	return r
}

// progressed reports whether fewer checks fail than ever before, or fewer findings are open.
func (f *fold) progressed(r loop.Round) (better bool) {
	now := map[string]int{"findings": f.open()}
	if len(r.Checks) > 0 {
		now["checks"] = len(slices.DeleteFunc(slices.Clone(r.Checks), loop.CheckResult.Passed))
	}
	for what, n := range now {
		before, known := f.fewest[what]
		better = better || known && n < before
		if !known || n < before {
			f.fewest[what] = n
		}
	}
	return better
}
