package session

import (
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// A Result is the document that tells a program how a run ended.
type Result struct {
	// Outcome is [loop.Failed] for a run that could not begin.
	Outcome  loop.Outcome
	ExitCode int

	SessionID string // "" if no session was begun
	Log       string // path of the session's log

	FilesChanged int // in the last diff
	Insertions   int
	Deletions    int

	Musts, Mays int // as in [progress.Tally]

	Spent loop.Spending // by all turns of the session

	Last Last

	Branch     string // that --pr has pushed; "": none
	RequestURL string // of the pull request

	Failure *Failure // nil if nothing failed
}

// A Last is the latest judgement of the work.
type Last struct {
	Feedback string        // of the last whole iteration, to the actor; "" if it was DONE
	Checks   []ResultCheck // their last results
	Findings []loop.Finding
}

// A ResultCheck is the result of one of the project's own checks.
type ResultCheck struct {
	Name     string `json:"name"` // the command in one line, for people
	Command  string `json:"command"`
	Passed   bool   `json:"passed"`
	ExitCode int    `json:"exit_code"`
	Output   string `json:"output"` // the end of what it printed
}

// How much of a check is in a result.
const (
	mostResultName   = 60      // characters
	mostResultOutput = 4 << 10 // bytes
)

// LastOf returns what a round leaves behind.
func LastOf(r loop.Round) (l Last) {
	if r.Verdict.Decision != loop.Done {
		l.Feedback = r.Verdict.Guidance()
	}
	l.Findings = r.Findings
	l.SetChecks(r.Checks)
	return l
}

// SetChecks replaces the results of the checks.
func (l *Last) SetChecks(checks []loop.CheckResult) {
	l.Checks = nil
	for _, c := range checks {
		name := []rune(strings.Join(strings.Fields(c.Command), " "))
		if len(name) > mostResultName {
			name = append(name[:mostResultName-1], '…')
		}
		l.Checks = append(l.Checks, ResultCheck{string(name), c.Command, c.Passed(), c.ExitCode, lastOf(c.Output.Text)})
	}
}

// lastOf returns the end of a text, beginning with a whole line if possible.
func lastOf(text string) string {
	over := len(text) - mostResultOutput
	if over <= 0 {
		return text
	}
	if next := strings.IndexByte(text[over-1:len(text)-1], '\n'); next >= 0 {
		return text[over+next:]
	}
	return strings.ToValidUTF8(text[over:], "")
}

// A Failure is what failed, for a person.
type Failure struct {
	Message string
	Hint    string // what to do about it; "" if there is nothing to suggest
}

// Encode returns the document as one line of JSON, with its line break.
func (r Result) Encode() []byte {
	o := r.Outcome
	var failed *failedRun
	if r.Failure != nil {
		failed = &failedRun{r.Failure.Message, orNull(r.Failure.Hint)}
	}
	return marshal(document{
		"result", SchemaVersion, o.Result, orNull(o.Reason), o.Cause, r.ExitCode, o.Iterations, orNull(o.Summary), o.Confidence, o.Duration,
		o.Unmentioned,
		progress.Raised{Musts: r.Musts, Mays: r.Mays},
		o.NothingChanged, o.ActorError, orNull(r.SessionID), orNull(r.Log),
		r.FilesChanged, r.Insertions, r.Deletions, r.Spent, orNull(r.Last.Feedback), r.Last.Checks, r.Last.Findings, r.Branch, r.RequestURL, failed,
	})
}

type document struct {
	Type        string           `json:"type"`
	Schema      int              `json:"schema_version"`
	Result      loop.Result      `json:"outcome"`
	Reason      *loop.StopReason `json:"stop_reason"`
	Cause       string           `json:"stop_cause,omitzero"`
	ExitCode    int              `json:"exit_code"`
	Iterations  int              `json:"iterations"`
	Summary     *string          `json:"summary"`
	Confidence  *float64         `json:"confidence"`
	Duration    time.Duration    `json:"duration_secs"`
	Unmentioned int              `json:"findings_unmentioned"`
	progress.Raised
	NothingChanged bool           `json:"nothing_changed"`
	ActorError     string         `json:"actor_error,omitzero"`
	SessionID      *string        `json:"session_id"`
	Log            *string        `json:"log"`
	FilesChanged   int            `json:"files_changed"`
	Insertions     int            `json:"insertions"`
	Deletions      int            `json:"deletions"`
	Spent          loop.Spending  `json:"spent"`
	Feedback       *string        `json:"feedback"`
	Checks         []ResultCheck  `json:"checks"`
	Findings       []loop.Finding `json:"findings"`
	Branch         string         `json:"branch,omitzero"`
	RequestURL     string         `json:"pr_url,omitzero"`
	Failure        *failedRun     `json:"error"`
}

type failedRun struct {
	Message string  `json:"message"`
	Hint    *string `json:"hint"`
}
