package run

import (
	"context"
	"math"
	"slices"
	"strconv"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// lastLook bounds how long the end of a run waits for a look at the work tree: less than a sink
// has that is to come back.
const lastLook = stall / 2

// Now looks at what has changed in the work tree, of a run that has just ended.
func (p *Plan) Now() (loop.Change, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lastLook)
	defer cancel()
	return p.tree.Capture(ctx)
}

// Moved reports whether HEAD is another commit than the one that the session began at, base.
func (p *Plan) Moved() (base string, moved bool) {
	const short = 12
	base = p.tree.BaseCommit()
	if p.earlier != nil {
		base = p.earlier.Session.BaseCommit
	}
	head, _, err := p.tree.Head()
	return base[:min(len(base), short)], err == nil && base != "" && head != base
}

// CarryOn returns what has to be said for the session to go on as it was going, behind
// such an end: more of what is used up first, and then again what was said of this run,
// unless the log keeps it. ok is false where there is nothing to carry on.
func (p *Plan) CarryOn(out loop.Outcome) (flags []loop.Flag, ok bool) {
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

// saidAgain reports whether a setting has to be said again to carry a session on. Of one
// that was carried on before, the log keeps what it began with.
func saidAgain(flag string, resumed bool) bool {
	row, _ := find(flag)
	return row.Kept != Shown && (row.Kept != Inherited || resumed)
}

// MoreIterations are proposed to whoever has used all of them.
const MoreIterations = 5

// more allows more of what the session has used up: else it would end where it has
// ended. ok is false when no setting does.
func more(p *Plan, done loop.Progress) (flags []loop.Flag, ok bool) {
	g, spent := gate(p.Config, p.tree, nil), done.Spent.Total()
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
		default: // a role's own budget, or a figure that nobody knows
			return nil, false
		}
	}
	return nil, false // what agents report may be out of all bounds
}
