package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/cli/job"
	"codeloops/internal/command"
	"codeloops/internal/loop"
	"codeloops/internal/screen/ci"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// newCICmd returns the command behind action.yml and the GitLab component. It is hidden: its inputs are theirs.
func newCICmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "ci",
		Hidden:      true,
		Annotations: runExits(),
		Short:       "Be the step of a CI job (used by the action and the component)",
		Long: `Be the step of a CI job, with the inputs in CODELOOPS_INPUT_* and what the system
tells about the job: run, judge or resume, open a pull request, and write the
outputs of the step.`,
		Example: `  codeloops ci`,
		Args:    command.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runCI(cmd.Context(), a) },
	}
}

// A step is a step of a CI job.
type step struct {
	*app
	*job.Job

	environ []string // for all commands
	logs    string   // directory of session logs
	results string   // directory
}

func runCI(ctx context.Context, a *app) error {
	if err := a.RequireUser(map[string]bool{"`codeloops ci`": true}); err != nil {
		return err
	}
	j, err := job.New(a.Getenv)
	if err != nil {
		return err
	}
	temp := filepath.Join(cmp.Or(a.Getenv("RUNNER_TEMP"), os.TempDir()), "codeloops"+a.Getenv("CI_JOB_ID"))
	s := &step{app: a, Job: j, logs: filepath.Join(temp, "sessions"), results: a.Path(cmp.Or(a.Getenv("CODELOOPS_INPUT_RESULTS"), temp))}
	r, err := s.do(ctx)
	if err != nil {
		s.refuseStep(&r, err)
	}
	s.keep(ctx, &r)
	if err := s.Tell(r); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "codeloops: %s (%s)\n", r.Outcome, r.StopReason) //nolint:errcheck // the outputs have it
	switch {
	case r.StopReason == string(loop.StopInterrupted):
		return &command.EndedError{Result: loop.Interrupted}
	case !s.Fails(r):
		return nil
	case r.Outcome == job.NotApproved:
		return &command.EndedError{Result: loop.MaxIterations}
	}
	return &command.EndedError{Result: loop.Failed}
}

// refuseStep reports why a step could not do its work, or all of it.
func (s *step) refuseStep(r *job.Result, err error) {
	if r.Outcome == "" {
		*r = job.Failed(err)
	}
	r.Broken = true
	told := failure(s.app, err)
	s.Report(err)
	ci.New(ci.Of(ci.Auto, s.Getenv)).Refused(s.Err, told.Message)
	file := cmp.Or(s.Getenv(summaryVariable), s.Getenv("GITHUB_STEP_SUMMARY"))
	if f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil { //nolint:gosec // the job's own; the log has it, too
		said := strings.ReplaceAll(strings.Join(strings.Fields(told.Message), " "), "`", "'")
		_, _ = fmt.Fprintf(f, "### codeloops: %s\n\n`%s`\n", r.Outcome, said)
		_ = f.Close()
	}
}

// do does what the step is asked to. Whoever may not ask for it is refused before anything is started.
func (s *step) do(ctx context.Context) (r job.Result, err error) {
	if err := s.Check(); err != nil {
		return r, err
	}
	if err := s.Permit(); err != nil {
		return r, err
	}
	fork, err := s.Fork()
	if err != nil {
		return r, err
	}
	if s.environ = s.Environ(s.app.Environ, fork); fork {
		s.app.Tell("this is a fork's pull request: agents and checks get no keys")
	}
	flags, err := s.Flags(fork)
	if err != nil {
		return r, err
	}
	flags = append(flags, "--session-dir="+s.logs)
	if s.Resumes() != "" {
		r, err = s.resume(ctx, flags)
	} else {
		r, err = s.begin(ctx, flags)
	}
	if err == nil && r.Outcome == job.Approved && s.Request() != "" {
		if fork {
			return r, hint.Errorf("leave pr out", "no pull request is opened for the work of a fork")
		}
		err = s.open(ctx, &r)
	}
	return r, err
}

// begin runs the loop, or the gate.
func (s *step) begin(ctx context.Context, flags []string) (r job.Result, err error) {
	args := []string{"run", "--json-output", "--yes"}
	if s.Gates() {
		base, err := s.Base()
		if err != nil {
			return r, err
		}
		args = append([]string{"gate", "--json"}, base...)
	}
	task, err := s.Task()
	if err != nil {
		return r, err
	}
	text, _ := s.play(ctx, s.environ, append(append(args, task...), flags...))
	return job.Read(text), nil
}

// resume takes up the session of another job, and goes on with it unless its work was approved there.
func (s *step) resume(ctx context.Context, flags []string) (r job.Result, err error) {
	id, code := s.play(ctx, s.environ, []string{"sessions", "import", "--session-dir=" + s.logs, s.Resumes()})
	name := strings.TrimSpace(string(id))
	if code != command.ExitDone || name == "" {
		return r, hint.Errorf("the output bundle of the other job's step names it", "no session was taken up from %s", s.Resumes())
	}
	if _, code := s.play(ctx, s.environ, []string{"sessions", "restore", "--yes", "--session-dir=" + s.logs, name}); code != command.ExitDone {
		return r, fmt.Errorf("the files of session %s could not be put here", name)
	}
	if log := filepath.Join(s.logs, name+".jsonl"); job.Done(session.Look(log)) {
		return job.Taken(session.Look(log)), nil
	}
	text, _ := s.play(ctx, s.environ, append([]string{"resume", name, "--json-output"}, flags...))
	return job.Read(text), nil
}

// open opens a pull request for the session.
func (s *step) open(ctx context.Context, r *job.Result) error {
	args := []string{"pr", "--yes", "--json", "--session-dir=" + s.logs, r.Session}
	if s.Request() == "draft" {
		args = append(args, "--draft")
	}
	text, code := s.play(ctx, append(s.environ, s.Tokens()...), args)
	var opened struct{ URL, Branch string }
	if err := json.Unmarshal(text, &opened); err != nil || code != command.ExitDone {
		return errors.New("the work was approved, and the pull request could not be opened")
	}
	r.URL, r.Branch = opened.URL, opened.Branch
	return nil
}

// keep puts what the job keeps of a session into the directory of results.
func (s *step) keep(ctx context.Context, r *job.Result) {
	if r.Log == "" {
		return
	}
	err := os.MkdirAll(s.results, 0o755) //nolint:gosec // later steps may run as somebody else
	put := func(name string, text []byte, to *string) {
		if err == nil {
			*to = filepath.Join(s.results, name)
			err = os.WriteFile(*to, text, 0o644) //nolint:gosec // as above
		}
	}
	if r.Text != nil {
		put("result.json", r.Text, &r.JSON)
	}
	bundle := filepath.Join(s.results, "session.bundle")
	if _, code := s.play(ctx, s.environ, []string{"sessions", "export", "--force", "-o", bundle, "--session-dir=" + s.logs, r.Session}); code == command.ExitDone {
		r.Bundle = bundle
	}
	text, e := os.ReadFile(r.Log)
	if err = errors.Join(err, e); err == nil {
		put("session.jsonl", text, &r.Log)
	}
	if err != nil {
		s.Report(fmt.Errorf("keep the session for the job: %w", err))
	}
}

// play runs another command line in this process, and returns what it writes to standard output.
func (s *step) play(ctx context.Context, environ, args []string) (out []byte, code int) {
	a, console := s.app, s.Console
	defer func() { a.Console = console }()
	var text bytes.Buffer
	own := *console
	own.Streams = &term.Streams{In: strings.NewReader(""), Out: &text, Err: console.Err, Plain: true, NoColour: console.NoColour, ASCII: console.ASCII}
	own.Environ = environ
	a.Console = &own
	err := a.execute(ctx, args)
	if err != nil {
		a.complain(args, err)
	}
	return text.Bytes(), exitCode(err)
}
