package job

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/ci"
	"codeloops/internal/session"
)

// An Outcome is what came of a step.
type Outcome string

// The outcomes. Work that could not be judged is neither good nor bad.
const (
	Approved      Outcome = "approved"
	NotApproved   Outcome = "not-approved"
	CouldNotJudge Outcome = "could-not-judge"
)

// A Result is what a step tells those behind it.
type Result struct {
	Outcome    Outcome
	StopReason string
	Verdict    string // of the last review: done, continue, error; "" if there was none
	Summary    string
	Feedback   string
	Session    string // its ID
	Log        string // a path, as are the next two
	Bundle     string
	JSON       string
	Branch     string
	URL        string // of the pull request
	Cost       float64
	Iterations int
	Text       []byte // as the run has printed it
	Broken     bool   // the step could not do all that it was asked to

	wrong bool // it was asked for something that cannot be
}

// Done reports whether the work of a session was approved.
func Done(one session.Overview) bool { return one.Outcome != nil && one.Outcome.Result == loop.Success }

// Taken is the result of a session that was done in another job.
func Taken(one session.Overview) Result {
	return Result{
		Outcome: Approved, StopReason: string(one.Outcome.Reason), Verdict: verdict(one.Path), Summary: one.Outcome.Summary,
		Session: one.ID, Log: one.Path, Iterations: one.Outcome.Iterations,
	}
}

// Read returns the result that a run has printed.
func Read(text []byte) (r Result) {
	var doc struct {
		Outcome    loop.Result
		StopReason loop.StopReason `json:"stop_reason"`
		Summary    string
		Feedback   string
		SessionID  string `json:"session_id"`
		Log        string
		Iterations int
		Spent      map[string]struct {
			CostUSD float64 `json:"cost_usd"`
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return Result{Outcome: CouldNotJudge, StopReason: string(loop.StopInternal), Summary: "the run has told no result"}
	}
	r = Result{
		StopReason: string(doc.StopReason), Summary: doc.Summary, Feedback: doc.Feedback, Session: doc.SessionID, Log: doc.Log, Iterations: doc.Iterations,
		wrong: doc.StopReason == loop.StopUsage, Text: text,
	}
	for _, role := range doc.Spent {
		r.Cost += role.CostUSD
	}
	if doc.Error != nil {
		r.Summary = doc.Error.Message
	}
	if r.Log != "" {
		r.Verdict = verdict(r.Log)
	}
	r.Outcome = outcome(doc.Outcome, doc.StopReason, r.Verdict == strings.ToLower(string(loop.Continue)))
	return r
}

// verdict is that of the last review in a log.
func verdict(log string) string {
	store, err := session.NewStore(filepath.Dir(log))
	if err != nil {
		return ""
	}
	course, err := store.Course(strings.TrimSuffix(filepath.Base(log), filepath.Ext(log)))
	if err != nil {
		return ""
	}
	rounds := course.Journal.Rounds()
	if len(rounds) == 0 || rounds[len(rounds)-1].Unjudged {
		return ""
	}
	return strings.ToLower(string(rounds[len(rounds)-1].Verdict.Decision))
}

// outcome maps the end of a run. rejected: the last review said that the work is not done.
func outcome(result loop.Result, why loop.StopReason, rejected bool) Outcome {
	switch {
	case result == loop.Success:
		return Approved
	case why == loop.StopStuck, why == loop.StopPolicyEscalation, why.Violates() != "":
		return NotApproved
	case rejected && (result == loop.MaxIterations || result == loop.BudgetExhausted):
		return NotApproved
	}
	return CouldNotJudge
}

// Failed returns the result of a step that could not do its work.
func Failed(err error) Result {
	r := Result{Outcome: CouldNotJudge, StopReason: string(loop.StopUsage), Summary: err.Error(), wrong: true}
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		r.StopReason, r.wrong = refused.Reason, false
	}
	return r
}

// Fails reports whether the step fails with a result. By default it does unless the work was approved; with
// fail-on not-approved it does not if the work could not be judged, unless it was asked for something that cannot be.
func (j *Job) Fails(r Result) bool {
	switch how := j.input("fail-on"); {
	case how == "never":
		return false
	case r.Broken && r.Outcome == Approved:
		return true
	case how == "not-approved":
		return r.Outcome == NotApproved || r.wrong
	}
	return r.Outcome != Approved
}

// An output is one of the step.
type output struct{ name, value string }

func (r Result) outputs() []output {
	return []output{
		{"outcome", string(r.Outcome)},
		{"stop-reason", r.StopReason},
		{"verdict", r.Verdict},
		{"summary", r.Summary},
		{"feedback", r.Feedback},
		{"session-id", r.Session},
		{"log", r.Log},
		{"bundle", r.Bundle},
		{"result-json", r.JSON},
		{"branch", r.Branch},
		{"pr-url", r.URL},
		{"cost-usd", strconv.FormatFloat(r.Cost, 'f', -1, 64)},
		{"iterations", strconv.Itoa(r.Iterations)},
	}
}

// mostOutput is the length of an output, in bytes.
const mostOutput = 32 << 10

// Tell writes the outputs of the step: for GitHub as it wants them, for GitLab as a file of variables, to which texts of
// several lines cannot be written as they are.
func (j *Job) Tell(r Result) error {
	file, write := j.getenv("GITHUB_OUTPUT"), many
	if j.system == ci.GitLab {
		file, write = j.getenv("CODELOOPS_DOTENV"), oneLine
	}
	if file == "" {
		return nil
	}
	var b strings.Builder
	for _, o := range r.outputs() {
		if len(o.value) > mostOutput {
			o.value = strings.ToValidUTF8(o.value[:mostOutput], "") + "…"
		}
		b.WriteString(write(o))
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the job's own
	if err == nil {
		_, err = f.WriteString(b.String())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write the outputs of the step: %w", err)
	}
	return nil
}

// many is an output of any number of lines: nobody can guess the one that ends it.
func many(o output) string {
	end := rand.Text()
	return o.name + "<<" + end + "\n" + o.value + "\n" + end + "\n"
}

func oneLine(o output) string {
	return "CODELOOPS_" + strings.ToUpper(strings.ReplaceAll(o.name, "-", "_")) + "=" + strings.Join(strings.Fields(o.value), " ") + "\n"
}
