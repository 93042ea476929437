// Package eval judges the judges: it has critics judge the work of recorded iterations again, and compares what they
// say with what came later.
//
// A [Case] is an iteration whose work was kept. [Collect] reads the logs and what followed, a [Judging] lays the work of
// each case out and has every [Candidate] judge it, in a session of its own that is logged like any other, and [NewReport]
// adds up. What is known lies in a [Book], beside the logs.
package eval

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/loop"
)

// A Case is an iteration of a recorded session, and what is known of its work.
type Case struct {
	ID        string    `json:"id"` // SESSION/N
	Session   string    `json:"session"`
	Iteration int       `json:"iteration"`
	Log       string    `json:"log"` // path
	Began     time.Time `json:"began"`
	Dir       string    `json:"working_dir"`
	Task      string    `json:"task"` // its first line
	// Final: the session ended with this verdict, as a success.
	Final bool `json:"final,omitempty"`
	// Recorded is the verdict of the session's own critic.
	Recorded Verdict    `json:"recorded"`
	Evidence []Evidence `json:"evidence,omitempty"`

	Kept
}

// Kept is where the work of a case is kept.
type Kept struct {
	Store      string `json:"checkpoints"` // the private repository
	Start      string `json:"start"`       // the checkpoint of the session's start
	Checkpoint string `json:"checkpoint"`
	State      string `json:"state"`
	Base       string `json:"base,omitempty"` // what HEAD was
}

// A Verdict is what a critic says of the work of a case, and what that cost.
type Verdict struct {
	Case     string        `json:"case,omitempty"`
	Critic   string        `json:"critic"`
	Log      string        `json:"log,omitempty"` // ID of the session in which it was given
	Decision loop.Decision `json:"decision"`      // "": none that could be used
	Escalate bool          `json:"escalate,omitempty"`
	Problem  string        `json:"problem,omitempty"` // why there is none
	CostUSD  *float64      `json:"cost_usd"`          // nil: not known
	Tokens   int64         `json:"tokens"`
	Seconds  float64       `json:"secs"`
	// Ruling is what the rules of the run made of it.
	Ruling loop.Decision `json:"ruling,omitempty"`
}

// Approves reports whether the critic takes the work for finished.
func (v Verdict) Approves() bool { return v.Decision == loop.Done && !v.Escalate }

// Decides reports whether it says anything.
func (v Verdict) Decides() bool { return v.Decision != "" }

// Word is the verdict in one word.
func (v Verdict) Word() string {
	if v.Escalate {
		return loop.Escalate
	}
	return cmp.Or(string(v.Decision), "none")
}

// Sources of what is true of a case.
const (
	Checks  = "checks"
	Next    = "next"
	Reverts = "reverts"
	Again   = "again"
	CI      = "ci"
	Labels  = "labels"
)

// Sources returns the names of all sources, the weightiest last.
func Sources() []string { return []string{Again, Next, Checks, Reverts, CI, Labels} }

// Evidence is what one source says of the work of a case.
type Evidence struct {
	Source string `json:"source"`
	Good   bool   `json:"good"` // the work was finished, and a DONE is right
	Why    string `json:"why"`
}

// A Truth is what the evidence comes to.
type Truth string

// What may be true of a case.
const (
	Good    Truth = "good"
	Bad     Truth = "bad"
	Unknown Truth = "unknown"
)

// Truth weighs the evidence of some sources. The user's last word stands above all else. Otherwise one sign of a fault is
// enough: what nobody found a fault in may still have one. Contested says that sources disagree.
func (c Case) Truth(sources []string) (t Truth, contested bool) {
	t = Unknown
	for _, e := range c.Evidence {
		now := Bad
		if e.Good {
			now = Good
		}
		switch {
		case !slices.Contains(sources, e.Source):
			continue
		case e.Source == Labels:
			return now, false // the book has one for a case
		}
		contested = contested || t != Unknown && t != now
		if t != Bad {
			t = now
		}
	}
	return t, contested
}

// Diff is the command that shows the work.
func (c Case) Diff() string {
	return fmt.Sprintf("codeloops sessions diff %s --until-iteration %d", c.Session, c.Iteration)
}

// caseID names a case.
func caseID(session string, iteration int) string { return session + "/" + strconv.Itoa(iteration) }

// SplitID reads the name of a case: a session, and the number of an iteration after a slash; 0 if there is none.
func SplitID(id string) (session string, iteration int, err error) {
	session, number, has := strings.Cut(id, "/")
	if !has {
		return session, 0, nil
	}
	if iteration, err = strconv.Atoi(number); err != nil || iteration < 1 {
		return "", 0, fmt.Errorf("%q names no iteration: SESSION/N does", id)
	}
	return session, iteration, nil
}
