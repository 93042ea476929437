package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/render"
	"codeloops/internal/term"
)

// The ways to probe agents.
const (
	probeConfigured = "configured"
	probeAll        = "all"
)

const (
	// versionTimeout bounds how long an agent may take to tell its version,
	// probeTimeout how long to answer one word.
	versionTimeout = 20 * time.Second
	probeTimeout   = 3 * time.Minute
	// atOnce is how many agents are asked at the same time.
	atOnce = 4
)

// A patient is an agent that doctor looks at.
type patient struct {
	player
	what  string // its part in a run
	aside bool   // no run asks for it
}

// checkAgents looks at the agents that a run would use, which must be there,
// and mentions the others that are installed.
func (a *app) checkAgents(ctx context.Context, cfg *config.Config, probe string) []finding {
	patients, findings := a.patients(ctx, cfg)
	findings = append(findings, inParallel(patients, func(p patient) finding { return a.examine(ctx, cfg, p) })...)
	if probe != "" {
		findings = append(findings, a.probes(ctx, patients, probe)...)
	}
	if playsBoth(patients) {
		findings = append(findings, finding{
			What: "advice", OK: true,
			Detail: "actor and critic are the same agent with the same model: a critic of another kind sees what this one overlooks",
		})
	}
	return findings
}

// playsBoth reports whether actor and critic are one and the same.
func playsBoth(patients []patient) bool {
	part := func(role loop.Role) int {
		return slices.IndexFunc(patients, func(p patient) bool { return p.what == string(role) })
	}
	actor, critic := part(loop.RoleActor), part(loop.RoleCritic)
	return actor >= 0 && critic >= 0 && patients[actor].ref() == patients[critic].ref()
}

// patients returns who plays in a run of this configuration, the actor first,
// then who else is here; and what is wrong with those that cannot be found.
func (a *app) patients(ctx context.Context, cfg *config.Config) (patients []patient, failed []finding) {
	fail := func(what string, err error) {
		c := complaints(err)[0]
		failed = append(failed, finding{What: what, Detail: c.Message, Hint: c.Hint})
	}
	own, err := a.specs(cfg, &runOptions{})
	if err != nil {
		fail("agents", err)
		return nil, failed
	}
	c := casting{app: a, cfg: cfg, specs: own, dir: a.dir}
	seen := map[string]bool{}
	for _, role := range []loop.Role{loop.RoleActor, loop.RoleCritic} {
		settings := cfg.Actor
		if role == loop.RoleCritic {
			settings = cfg.Critic
		}
		players, err := c.cast(ctx, role, settings)
		if err != nil {
			fail(string(role), err)
			continue
		}
		for i, p := range players {
			what := string(role)
			switch {
			case i > 0 && p.chosen != "":
				continue // of auto, whoever is chosen
			case i > 0:
				what = "  or, then"
			case role == loop.RoleActor:
				c.actor = p.spec.Name
			}
			seen[p.spec.Name] = true
			patients = append(patients, patient{player: p, what: what})
		}
	}
	for _, spec := range append(own, agent.Catalogue()...) {
		p, err := c.find(loop.RoleActor, cfg.Actor, spec.Name, "")
		if err == nil && !seen[spec.Name] {
			patients = append(patients, patient{player: p, what: "also here", aside: true})
		}
	}
	return patients, failed
}

// examine says what can be seen of an agent without a turn.
func (a *app) examine(ctx context.Context, cfg *config.Config, p patient) finding {
	words := []string{p.ref().Agent}
	if p.model != "" {
		words[0] = render.Who(p.ref())
	}
	if p.chosen != "" {
		words[0] = "auto: " + words[0]
	}
	words = append(words, a.agentVersion(ctx, p.spec, p.path))
	detail := strings.TrimSpace(strings.Join(words, " "))
	if len(p.spec.Credentials) > 0 {
		_, login := a.login(ctx, p.player)
		detail += "; " + login
	}
	if p.spec.Outdated(p.path) {
		detail += "; it comes from its former package, " + p.spec.Former + ": " + p.spec.Install
	}
	if lack := p.lacks(cfg); lack != "" {
		detail += "; " + lack
	}
	return finding{What: p.what, OK: true, Detail: detail, Aside: p.aside}
}

// agentVersion says which version an installed agent is; "" when it has none to
// tell.
func (a *app) agentVersion(ctx context.Context, spec agent.Spec, path string) string {
	version, err := a.askVersion(ctx, spec, path)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("(it does not tell its version within %s)", versionTimeout)
	}
	if err != nil {
		return "(its version is unknown: " + term.Line(err.Error()) + ")"
	}
	return version
}

// askVersion asks an installed agent for its version, which some tell on stderr.
func (a *app) askVersion(ctx context.Context, spec agent.Spec, path string) (string, error) {
	if len(spec.VersionArgs) == 0 {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out, err := proc.Output(ctx, proc.Call{
		Argv: append([]string{path}, spec.VersionArgs...), Dir: a.dir, Env: a.env, MaxOutput: 64 << 10, Either: true,
	})
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return term.Line(first), err
}

// probes lets agents play one tiny turn each, in an empty directory.
func (a *app) probes(ctx context.Context, patients []patient, probe string) (findings []finding) {
	var chosen []patient
	for _, p := range patients {
		known := slices.ContainsFunc(chosen, func(o patient) bool { return o.ref() == p.ref() })
		if !known && (!p.aside || probe == probeAll) {
			chosen = append(chosen, p)
		}
	}
	runner := proc.NewRunner(a.now)
	findings = inParallel(chosen, func(p patient) finding { return a.probe(ctx, runner, p) })
	if err := runner.Close(); err != nil {
		findings = append(findings, finding{What: "probe", Detail: err.Error()})
	}
	return findings
}

// probePrompt asks for next to nothing; what comes back does not matter.
const probePrompt = "This is a test of the connection. Use no tools. Answer with the one word: OK\n"

// probe plays the turn as a critic's, which changes nothing.
func (a *app) probe(ctx context.Context, runner *proc.Runner, p patient) (f finding) {
	f = finding{What: "probe", Detail: render.Who(p.ref()), Aside: p.aside}
	fail := func(err error) finding {
		f.Detail += ": " + term.Line(err.Error())
		return f
	}
	dir, err := os.MkdirTemp("", "codeloops-probe-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is the system's to tidy
	work, outputs := filepath.Join(dir, "work"), filepath.Join(dir, "outputs")
	if err := errors.Join(os.Mkdir(work, 0o700), os.Mkdir(outputs, 0o700)); err != nil {
		return fail(err)
	}
	player, err := agent.New(p.spec, p.model, agent.Place{
		Starter: runner, Dir: work, Environ: a.env, Outputs: outputs, Session: "probe",
		Limits: agent.Limits{Timeout: probeTimeout, MaxOutput: 16 << 20, Keep: 64 << 10},
	}, loop.RoleCritic)
	if err != nil {
		return fail(err)
	}
	reply, err := player.Run(ctx, agent.Request{Role: loop.RoleCritic, Iteration: 1, Prompt: probePrompt})
	if err != nil {
		return fail(err)
	}
	f.OK = reply.Ending == loop.EndCompleted
	if reply.Ending == loop.EndAuth {
		f.Hint = p.spec.Remedy(a.env)
		reply.Reason = strings.TrimSuffix(reply.Reason, "; "+f.Hint)
	}
	f.Detail += fmt.Sprintf(": %s, %s", probed(reply.Turn), render.Span(reply.Duration))
	return f
}

// probed says how the turn went.
func probed(t loop.Turn) string {
	what := render.Fate(t)
	switch t.Ending {
	case loop.EndCompleted:
		return "it answers"
	case loop.EndTimedOut:
		return "no answer within " + probeTimeout.String()
	case loop.EndRateLimited:
		if !t.ResetAt.IsZero() {
			what += " until " + t.ResetAt.UTC().Format(time.RFC3339)
		}
	case loop.EndEmpty, loop.EndFailed, loop.EndIdle, loop.EndOutputLimit, loop.EndInterrupted, loop.EndAuth,
		loop.EndOverloaded, loop.EndContextTooLong, loop.EndPermissionDenied:
	}
	if t.Reason != "" {
		what += " (" + term.Line(t.Reason) + ")"
	}
	return what
}

// inParallel asks for a finding on each patient, a few at a time, and keeps
// their order.
func inParallel(patients []patient, ask func(patient) finding) []finding {
	findings := make([]finding, len(patients))
	free := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, p := range patients {
		all.Go(func() {
			free <- struct{}{}
			findings[i] = ask(p)
			<-free
		})
	}
	all.Wait()
	return findings
}
