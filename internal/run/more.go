package run

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strconv"

	"codeloops/internal/config"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// lastLook limits how long the end of a run waits for a look at the work tree: less than for a
// sink that hangs.
const lastLook = stall / 2

// Now returns what has changed in the work tree of a run that has just ended.
func (p *Plan) Now() (loop.Change, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lastLook)
	defer cancel()
	return p.tree.Capture(ctx)
}

// Moved reports whether HEAD has moved since the session began.
func (p *Plan) Moved() bool {
	base := p.tree.BaseCommit()
	if p.earlier != nil {
		base = p.earlier.Origin.BaseCommit
	}
	head, _, err := p.tree.Head()
	return err == nil && base != "" && head != base
}

// Said returns what the user had said in the session before this run.
func (p *Plan) Said() []string {
	if p.earlier == nil {
		return nil
	}
	return p.earlier.Journal.Said()
}

// dirty counts the files that the user has changed and not committed, as git status does.
func (p *Plan) dirty(ctx context.Context) int {
	g := git.Git{Environ: p.options.Host.Environ}
	out, err := g.In(ctx, p.Root(), "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return 0 // what needs git says so
	}
	return bytes.Count(out, []byte{0})
}

// ResumeFlags returns the flags with which the session can be resumed after such an end: first higher
// limits in place of those that are used up, then the flags of this run that the log does not
// keep. ok is false if there is nothing to resume.
func (p *Plan) ResumeFlags(out loop.Outcome) (flags []loop.Flag, ok bool) {
	if out.Final() || p.own.log.Changed() {
		return nil, false
	}
	if log := session.Look(p.Log()); log.Err != nil || log.Session.Checkpoint == "" {
		return nil, false
	}
	flags, ok = more(p, loop.Progress{Iterations: out.Iterations, Spent: p.own.state.Spent})
	if !ok {
		return nil, false
	}
	limits := len(flags)
	for _, f := range p.settings.flags {
		raised := slices.ContainsFunc(flags[:limits], func(o loop.Flag) bool { return o.Name == f.Name })
		if !raised && saidAgain(f.Name, p.earlier != nil) {
			flags = append(flags, f)
		}
	}
	if p.Dir != p.options.Host.Dir && p.Config.Origin("session_dir").Layer == config.Project {
		flags = append(flags, loop.Flag{Name: "session-dir", Values: []string{p.Logs}})
	}
	return flags, true
}

// saidAgain reports whether a setting has to be repeated to resume a session. For a session that
// was resumed before, the log has the values it began with.
func saidAgain(flag string, resumed bool) bool {
	row, _ := config.FlagOf(flag)
	return row.Resume != config.Shown && (row.Resume != config.Inherited || resumed)
}

// MoreIterations is how many more iterations are proposed when all are used up.
const MoreIterations = 5

// more raises the limits that the session has used up; otherwise it would end at once. ok is
// false if no setting can do that.
func more(p *Plan, done loop.Progress) (flags []loop.Flag, ok bool) {
	g, spent := bounds(p.Config), done.Spent.Total()
	cost, tokens := g.Budget.CostUSD, g.Budget.Tokens
	raise := func(flag, value string) { flags = append(flags, loop.Flag{Name: flag, Values: []string{value}}) }
	for range 4 { // three limits have a setting
		switch reason, _ := g.Stop(done); {
		case reason == loop.StopNone:
			return flags, true
		case reason == loop.StopMaxIterations:
			g.MaxIterations = done.Iterations + MoreIterations
			raise("max-iterations", strconv.Itoa(g.MaxIterations))
		case reason == loop.StopMaxCost && cost > 0 && spent.CostUSD >= cost:
			cost = math.Floor((spent.CostUSD+cost)*100+1) / 100
			g.Budget.CostUSD = cost
			raise("max-cost", strconv.FormatFloat(cost, 'f', 2, 64))
		case reason == loop.StopMaxTokens && tokens > 0 && spent.Tokens >= tokens:
			tokens += spent.Tokens
			g.Budget.Tokens = tokens
			raise("max-tokens", strconv.FormatInt(tokens, 10))
		default: // a role's own budget, or an unknown figure
			return nil, false
		}
	}
	return nil, false // agents may report absurd figures
}
