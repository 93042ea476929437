package main

import (
	"slices"
	"strings"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/run"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/session/checkpoints"
	"codeloops/internal/session/lookup"
	"codeloops/internal/wording"
)

// next returns the commands to suggest after a run, to be typed in the same directory.
func (r *runCommand) next(out loop.Outcome, changed bool) []render.Step {
	n := r.suggest()
	if r.opts.demo { // its repository is deleted
		n.add("look at it again", []string{"codeloops", "sessions", "show", r.plan.ID()})
		n.add("what a run would use", []string{"codeloops", "doctor"})
		n.add("in a repository of yours", []string{"codeloops", "what should be true at the end"})
		return n.steps
	}
	switch {
	case out.Reason == loop.StopAgentAuth || out.Reason == loop.StopAgentNotFound:
		n.add("what is wrong", []string{"codeloops", "doctor"})
	case out.Reason.Violates() != "":
		n.add("what was ruled", n.session("audit"))
	case out.Reason == loop.StopConflict && out.Cause != "":
		n.add("all of it instead of yours", slices.Concat([]string{"codeloops", "sessions", "restore", out.Cause}, n.elsewhere))
	}
	if changed && out.Reason != loop.StopConflict && !r.opts.gate { // after a conflict, a restore would undo the user's changes
		n.work(out.Result == loop.Success)
	}
	if flags, ok := r.plan.ResumeFlags(out); ok {
		n.add("carry on", slices.Concat([]string{"codeloops", "resume"}, run.Spelled(flags), []string{r.plan.ID()}))
	}
	return n.steps
}

// others returns the commands that look at a candidate that was not taken, and take it.
func (r *runCommand) others(state loop.Step) []render.Step {
	n := r.suggest()
	ref := checkpoints.Refs + r.plan.ID() + "/" + string(state)
	n.add("another candidate", slices.Concat([]string{"codeloops", "sessions", "diff", ref}, n.elsewhere))
	n.add("take it instead", slices.Concat([]string{"codeloops", "sessions", "restore", ref}, n.elsewhere))
	return n.steps
}

// nextSteps collects commands to suggest.
type nextSteps struct {
	app       *app
	plan      *run.Plan
	elsewhere []string // the flag that finds the session, if the run had --session-dir
	steps     []render.Step
}

func (r *runCommand) suggest() *nextSteps {
	n := &nextSteps{app: r.app, plan: r.plan}
	_, said := r.opts.settings.Said("session-dir")
	if said || r.plan.Dir != r.app.Dir && r.plan.Config.Origin("session_dir").Layer == config.Project {
		n.elsewhere = []string{"--session-dir", r.plan.Logs}
	}
	return n
}

// add adds commands joined by &&, unless one of them cannot be shown.
func (n *nextSteps) add(what string, commands ...[]string) {
	lines := make([]string, len(commands))
	for i, words := range commands {
		if lines[i] = n.shell(words); lines[i] == "" {
			return
		}
	}
	n.steps = append(n.steps, render.Step{For: what, Command: strings.Join(lines, " && ")})
}

// work adds commands to look at, keep and undo the work. What the actor has committed is kept.
func (n *nextSteps) work(keep bool) {
	n.add("look", n.last("diff"))
	if keep && !n.plan.Moved() {
		n.add("keep it", n.last("accept"))
	}
	n.add("take it back", n.last("undo"))
}

// last returns a command about the last run here; elsewhere it names the session.
func (n *nextSteps) last(word string) []string {
	words := []string{"codeloops", word}
	if n.elsewhere == nil && n.plan.Root() == lookup.Here(&n.app.Host).Root() {
		return words
	}
	return slices.Concat(words, []string{n.plan.ID()}, n.elsewhere)
}

// session returns a sessions command for this session.
func (n *nextSteps) session(words ...string) []string {
	return slices.Concat([]string{"codeloops", "sessions"}, words, []string{n.plan.ID()}, n.elsewhere)
}

// shell returns a command as it is typed in a shell, or "" if it contains secrets or control characters.
func (n *nextSteps) shell(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = wording.Shell(word)
	}
	line := strings.Join(quoted, " ")
	if term.Line(line) != line || n.app.Secrets.String(line) != line {
		return ""
	}
	return line
}
