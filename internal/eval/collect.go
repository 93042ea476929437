package eval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/session"
	"codeloops/internal/session/checkpoints"
	"codeloops/internal/strategy"
	"codeloops/internal/wording"
)

// A Look says what to look for in logs, and after the sessions.
type Look struct {
	Environ []string
	Runner  *proc.Runner // runs git, and the forge's CLI
	Now     time.Time
	Sources []string
	Within  time.Duration // so long after it came into the history, work that nobody mends counts as good
	Limit   int           // the most cases, of the latest sessions
	Tell    func(sentence string)
}

// Collect returns the cases of some sessions, with what the sources say of them. All are the sessions in which the same
// task may have been given again. A log that cannot be read is named, and left out.
func (l *Look) Collect(ctx context.Context, some, all []session.Overview) (cases []Case, err error) {
	some = slices.Clone(some)
	slices.SortFunc(some, func(a, b session.Overview) int { return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID)) })
	g := &gathering{Look: l, red: map[string]string{}, kept: map[string]map[string]bool{}, ci: map[string]ci{}, all: all}
	for _, one := range some {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if len(g.cases) >= l.Limit {
			break
		}
		h, err := read(one.Path)
		if err != nil {
			l.Tell(fmt.Sprintf("%s is left out: %v", wording.Path(one.ID), err))
			continue
		}
		g.take(one, h)
	}
	if g.gone > 0 {
		l.Tell(wording.Count(g.gone, "iteration") + " left out: the states of the work tree are not kept any more (keep, keep_for)")
	}
	g.later(ctx)
	return g.cases[:min(len(g.cases), l.Limit)], nil
}

// gathering goes through the sessions, the latest first.
type gathering struct {
	*Look
	all   []session.Overview
	red   map[string]string          // why a state is not finished, by the private repository and the state
	kept  map[string]map[string]bool // the checkpoints of private repositories
	ci    map[string]ci              // by the work tree and the commit
	cases []Case
	ends  []ending
	gone  int
}

// take adds the cases of a session.
func (g *gathering) take(one session.Overview, h history) {
	s := h.session
	store, err := session.NewStore(filepath.Dir(one.Path))
	if err != nil || s.Of != "" {
		return
	}
	private := store.Checkpoints(s.Checkpoints)
	g.checked(private, h)
	if private == "" || s.Strategy.Name != "" && s.Strategy.Name != strategy.NameActorCritic {
		return
	}
	var found []Case
	for i, r := range h.rounds {
		switch {
		case r.Unjudged || r.Attempt.Rejudged || r.Change.Checkpoint == "" || len(r.Review.Votes) > 0:
		case !g.has(private, s.Checkpoint) || !g.has(private, r.Change.Checkpoint):
			g.gone++
		default:
			found = append(found, g.caseOf(one, h, i, private))
		}
	}
	g.cases = append(g.cases, found...)
}

// checked remembers the states on which checks fail. What fails later failed before.
func (g *gathering) checked(private string, h history) {
	for _, r := range h.rounds {
		for _, c := range r.Checks {
			if failed(c) {
				g.red[private+" "+r.Change.State] = fmt.Sprintf("the check %s fails on it", wording.Line(c.Command))
			}
		}
	}
}

// caseOf is the case of the ith iteration of a session.
func (g *gathering) caseOf(one session.Overview, h history, i int, private string) Case {
	s, r := h.session, h.rounds[i]
	title, _, _ := strings.Cut(strings.TrimSpace(s.Prompt), "\n")
	c := Case{
		ID: caseID(one.ID, r.Iteration), Session: one.ID, Iteration: r.Iteration, Log: one.Path, Began: h.began, Dir: s.WorkingDir,
		Task: wording.Line(title), Final: h.success && i == len(h.rounds)-1, Recorded: r.verdict(s.Critic.String()),
		Kept: Kept{Store: private, Start: s.Checkpoint, Checkpoint: r.Change.Checkpoint, State: r.Change.State, Base: s.BaseCommit},
	}
	if why := g.red[private+" "+r.Change.State]; why != "" {
		c.Evidence = append(c.Evidence, Evidence{Source: Checks, Why: why})
	}
	c.Evidence = append(c.Evidence, next(h, i)...)
	if c.Final {
		c.Evidence = append(c.Evidence, g.again(one, s)...)
		g.ends = append(g.ends, ending{id: c.ID, dir: s.WorkingDir, at: h.began, lines: added(r.Change)})
	}
	return c
}

// failed reports whether a check shows a fault of the work.
func failed(c loop.CheckResult) bool { return !c.Passed() && !c.FailedBefore && c.Witness == "" }

// has reports whether a private repository has a checkpoint.
func (g *gathering) has(private, commit string) bool {
	if g.kept[private] == nil {
		refs, _ := git.At(private).Refs(checkpoints.Refs) // an error is that of a reference that nobody asked for
		g.kept[private] = map[string]bool{}
		for commit := range maps.Values(refs) {
			g.kept[private][commit] = true
		}
	}
	return g.kept[private][commit]
}

// again says whether the task of a session was given again after its success.
func (g *gathering) again(one session.Overview, s loop.Session) (all []Evidence) {
	for _, other := range g.all {
		t := other.Session
		if other.Started.After(one.Started) && t.Checkpoints == s.Checkpoints && t.Of == "" && !t.Judged && strings.TrimSpace(t.Prompt) == strings.TrimSpace(s.Prompt) {
			return []Evidence{{Source: Again, Why: "the same task was given again: " + other.ID}}
		}
	}
	return nil
}

// next says what the iterations after the ith tell of its work.
func next(h history, i int) (all []Evidence) {
	r := h.rounds[i]
	if r.verdict("").Approves() && r.Verdict.Decision == loop.Done {
		return nil
	}
	say := func(good bool, format string, args ...any) []Evidence {
		return []Evidence{{Source: Next, Good: good, Why: fmt.Sprintf(format, args...)}}
	}
	for _, later := range h.rounds[i+1:] {
		if later.Change.State == r.Change.State && later.Verdict.Decision == loop.Done {
			return say(true, "iteration %d approved the same work", later.Iteration)
		}
	}
	settled, withdrawn := became(h.rounds[i:])
	switch last := h.rounds[len(h.rounds)-1]; {
	case settled != "":
		return say(false, "%s was settled by work that followed", settled)
	case withdrawn != "":
		return say(true, "%s was withdrawn", withdrawn)
	case h.success && last.Change.State != r.Change.State:
		return say(false, "iteration %d was approved, after more work", last.Iteration)
	}
	return nil
}

// became names a finding of the first round that was settled in one of the others, and one that was withdrawn.
func became(rounds []round) (settled, withdrawn string) {
	for _, f := range rounds[0].Findings {
		if !f.Raised() || f.May {
			continue
		}
		for _, later := range rounds[1:] {
			at := slices.IndexFunc(later.Findings, func(now loop.Finding) bool { return now.ID == f.ID })
			if at < 0 {
				continue
			}
			switch later.Findings[at].State {
			case loop.FindingClosed:
				if later.Change.State != rounds[0].Change.State {
					settled = f.ID
				}
			case loop.FindingWithdrawn:
				withdrawn = f.ID
			case loop.FindingNew, loop.FindingOpen, loop.FindingReopened, loop.FindingUnmentioned:
			}
		}
	}
	return settled, withdrawn
}
