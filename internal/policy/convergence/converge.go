// Package convergence tells a loop that makes progress from one that does not.
//
// It is a fold over the rounds of a session and keeps no state, so a resumed or replayed
// session has the same result. Four signs say that a loop makes no progress: the actor
// changes nothing, the work comes back to a state that it had before, the feedback stays
// the same, and a finding that was settled comes up again. A sign is counted; it begins
// anew when fewer checks fail than ever before, the score is better, or fewer findings
// are open.
package convergence

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
)

// Settings are the thresholds. The zero value counts nothing, but follows the
// findings.
type Settings struct {
	WarnAfter int // so many times of one sign warn both agents; 0: never
	StopAfter int // so many times end the run, once the agents are warned; 0: never
	// Similarity, from 0 to 1, is how alike two texts must be to say the same.
	Similarity float64
}

// Rule is the name under which a round is ruled on when the loop is stuck.
const Rule = "convergence"

// DefaultSimilarity is used where the settings have none.
const DefaultSimilarity = 0.8

// A Report is the result of the rounds.
type Report struct {
	Findings []loop.Finding // all of them, as the last round left them
	Warnings []string       // what both agents are to be told, as sentences
	Stuck    string         // why the run ends, as a sentence; "" when it goes on
}

// Look folds the earlier rounds, oldest first, and the one that is being ruled
// on, with the verdict as it stands so far.
func (s Settings) Look(history []loop.Round, now loop.Round) Report {
	if s.Similarity <= 0 {
		s.Similarity = DefaultSimilarity
	}
	f := fold{Settings: s, best: none()}
	f.begin()
	for _, round := range history {
		f.take(round)
		f.warned = f.warned || len(round.Warnings) > 0
		if round.Rule == Rule { // it ended the run: whoever resumed the session wants another try
			f.begin()
			f.idle = 0
		}
	}
	f.take(now)
	return f.report(now)
}

// A fold is the result of the rounds so far.
type fold struct {
	Settings
	state  string            // of the work tree
	seen   map[string]visits // since the loop last got on
	idle   int               // turns in a row that changed nothing
	said   text              // the last feedback
	same   int               // how often in a row it has been given
	best   measure
	known  []*finding
	warned bool
}

// visits counts how often the work reached a state.
type visits struct{ times, first int }

// take adds a round. The rules that sent work back by themselves have a limit of
// their own, and so have errors: such rounds count for nothing here.
func (f *fold) take(r loop.Round) {
	if r.Unjudged || r.Verdict.Decision == loop.Error {
		return
	}
	unchanged := r.Change.State == f.state || f.state == "" && r.Change.Empty()
	f.state = r.Change.State
	f.raise(r)
	if now := measured(r, f.open()); f.best.beat(now) {
		f.begin()
	}
	f.count(r, unchanged)
}

// begin counts anew, except turns that change nothing.
func (f *fold) begin() {
	f.seen, f.same, f.warned = map[string]visits{}, 0, false
	for _, x := range f.known {
		x.returns = 0
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
	said := read(r.Verdict.Guidance())
	if !said.repeats(f.said, f.Similarity) {
		f.same = 0
	}
	f.said = said
	// What a rule says instead of the critic is the same while a check fails, however
	// much better the work has become.
	if said.tells() && r.Rule == "" {
		f.same++
	}
}

// A sign is one that the last round shows.
type sign struct {
	times int
	text  string
}

func (f *fold) signs() []sign {
	all := []sign{{f.idle, fmt.Sprintf("The last %d turns of the actor changed nothing in the work tree.", f.idle)}}
	if v := f.seen[f.state]; f.idle == 0 {
		all = append(all, sign{v.times, fmt.Sprintf("The work tree is again as it was after iteration %d: the work goes in circles.", v.first)})
	}
	all = append(all, sign{f.same, fmt.Sprintf("The feedback has been the same for %d iterations.", f.same)})
	for _, x := range f.known {
		if x.back {
			all = append(all, sign{x.returns + 1, fmt.Sprintf("The finding %s was gone and has come back.", x.ID)})
		}
	}
	return all
}

// report says what the last round shows. A verdict that ends the run by itself
// needs no warning.
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
		return Report{Findings: r.Findings, Stuck: strings.Join(stuck, " ")}
	}
	return r
}

// A measure is how far the work is, as far as that is known.
type measure struct {
	failing int // checks
	score   float64
	open    int // findings
}

const unknown = 1 << 30

func none() measure { return measure{failing: unknown, score: -1, open: unknown} }

func measured(r loop.Round, open int) measure {
	m := none()
	m.open = open
	if r.Verdict.Score != nil {
		m.score = *r.Verdict.Score
	}
	if len(r.Checks) > 0 {
		m.failing = 0
		for _, c := range r.Checks {
			if !c.Passed() {
				m.failing++
			}
		}
	}
	return m
}

// beat takes over what is better than ever before, and reports whether there
// was anything to compare it with.
func (m *measure) beat(now measure) (better bool) {
	const step = 0.01 // of a score; less is noise
	if now.failing < m.failing {
		better = better || m.failing < unknown
		m.failing = now.failing
	}
	if now.score >= m.score+step {
		better = better || m.score >= 0
		m.score = now.score
	}
	if now.open < m.open {
		better = better || m.open < unknown
		m.open = now.open
	}
	return better
}
