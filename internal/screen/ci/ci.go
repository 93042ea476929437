// Package ci formats a run for the log of a CI job: iterations can be folded, findings stand at the lines that
// they are about, and a run that did not succeed is listed among the job's errors. It wraps a renderer and knows nothing of what that
// shows.
//
// CI systems take commands from the output of a job. Only a [Log] may issue any: commands in the
// output of agents are defused, wherever it is shown.
package ci

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/screen/words"
)

// A System is a CI system.
type System string

// The systems.
const (
	None   System = "none"
	GitHub System = "github"
	GitLab System = "gitlab"
)

// Auto is the setting that detects the system from the environment.
const Auto = "auto"

// Of returns the system that a setting means. getenv looks up an environment variable.
func Of(setting string, getenv func(string) string) System {
	switch {
	case setting != Auto && setting != "":
		return System(setting)
	case getenv("GITHUB_ACTIONS") == "true":
		return GitHub
	case getenv("GITLAB_CI") != "":
		return GitLab
	}
	return None
}

// A Log is the log of a CI job.
type Log struct {
	// Locate returns the path of a file that a finding names, relative to the repository's root; ok is false if there is no
	// such file. nil: findings stand at no lines.
	Locate func(name string) (path string, ok bool)

	system System
	mark   string // precedes a line that is a command; nobody else knows it
}

// New returns the log of a job.
func New(s System) *Log { return &Log{system: s, mark: "\x00" + rand.Text()} }

func (l *Log) command(text string) string { return l.mark + text + "\n" }

// Sink passes events to next and adds the commands for w, which must be a [Log.Writer]. If fold is
// set, iterations can be folded.
func (l *Log) Sink(w io.Writer, next loop.Sink, fold bool) loop.Sink {
	if l.system == None {
		return next
	}
	return &sink{Log: l, out: w, next: next, fold: fold}
}

type sink struct {
	*Log

	out  io.Writer
	next loop.Sink
	fold bool
	open int // the iteration whose group is open; 0: none

	found []loop.Finding // as the last review left them
}

// Handle takes the next event.
func (s *sink) Handle(at loop.Stamp, e loop.Event) error {
	before, after := "", ""
	switch e := e.(type) { //nolint:gochecksumtype // no other event begins or ends a group
	case loop.IterationStarted:
		before = s.end(at.Time) + s.begin(e.Iteration, at.Time)
	case loop.Finished:
		before, after = s.end(at.Time), s.findings(s.found)+s.failed(e.Outcome)
	case loop.IterationFinished:
		if after = s.end(at.Time); !e.Round.Unjudged {
			s.found = e.Round.Findings
		}
	}
	if _, err := io.WriteString(s.out, before); err != nil {
		return err
	}
	if err := s.next.Handle(at, e); err != nil {
		return err
	}
	_, err := io.WriteString(s.out, after)
	return err
}

func (s *sink) begin(iteration int, at time.Time) string {
	if !s.fold {
		return ""
	}
	s.open = iteration
	if s.system == GitHub {
		return s.command(fmt.Sprintf("::group::Iteration %d", iteration))
	}
	return s.command(fmt.Sprintf("\x1b[0Ksection_start:%d:codeloops_%d\r\x1b[0KIteration %[2]d", at.Unix(), iteration))
}

func (s *sink) end(at time.Time) string {
	iteration := s.open
	if s.open = 0; iteration == 0 {
		return ""
	}
	if s.system == GitHub {
		return s.command("::endgroup::")
	}
	return s.command(fmt.Sprintf("\x1b[0Ksection_end:%d:codeloops_%d\r\x1b[0K", at.Unix(), iteration))
}

// mostMessage is the length of an error message of a job, in bytes.
const mostMessage = 4 << 10

// failed is the error of a run that was not done; "" for one that was.
func (s *sink) failed(o loop.Outcome) string {
	if o.Result == loop.Success {
		return ""
	}
	title := words.Outcome(string(o.Result))
	if o.Result != loop.Interrupted {
		title += ", " + words.End(o)
	}
	return s.annotation("error", "", title, cmp.Or(strings.TrimSpace(o.Summary), words.End(o)))
}

// Refused reports a run that could not begin, on a stream without a [Log.Writer].
func (l *Log) Refused(w io.Writer, message string) {
	_, _ = io.WriteString(l.Writer(w, false), l.annotation("error", "", "could not begin", message)) // it is reported as an error, too
}
