package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/run/crew"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
)

// The ways to probe agents.
const (
	Configured = "configured"
	All        = "all"
)

// probeTimeout bounds how long an agent may take to answer one word.
const probeTimeout = 3 * time.Minute

// A patient is an agent that doctor checks.
type patient struct {
	crew.Player

	what  string   // its role in a run
	aside bool     // no run would use it
	told  []string // what a run would say about it
}

// Agents checks the agents that a run would use, and mentions the others that are
// installed.
func (d *Doctor) Agents(ctx context.Context, cfg *config.Config, probe string) []Finding {
	patients, findings := d.patients(ctx, cfg)
	findings = append(findings, crew.AskAll(patients, func(p patient) Finding { return d.examine(ctx, cfg, p) })...)
	if probe != "" {
		findings = append(findings, d.probes(ctx, patients, probe)...)
	}
	if playsBoth(patients) {
		findings = append(findings, Finding{
			What: "advice", OK: true,
			Detail: "actor and critic are the same agent with the same model: a different critic sees what this one overlooks",
		})
	}
	return findings
}

// playsBoth reports whether actor and critic are the same agent and model.
func playsBoth(patients []patient) bool {
	part := func(role loop.Role) int {
		return slices.IndexFunc(patients, func(p patient) bool { return p.what == string(role) })
	}
	actor, critic := part(loop.RoleActor), part(loop.RoleCritic)
	return actor >= 0 && critic >= 0 && patients[actor].Ref() == patients[critic].Ref()
}

// patients returns the agents of a run with this configuration, the actor first, then
// other installed agents; and findings on agents that cannot be found.
func (d *Doctor) patients(ctx context.Context, cfg *config.Config) (patients []patient, lacking []Finding) {
	c, err := crew.New(d.Host, cfg, d.Host.Dir, "")
	if err != nil {
		return nil, failed("agents", err)
	}
	seen := map[string]bool{}
	for _, role := range []loop.Role{loop.RoleActor, loop.RoleCritic} {
		players, err := c.Role(ctx, role)
		if err != nil {
			lacking = append(lacking, failed(string(role), err)...)
			continue
		}
		for i, p := range players {
			what := string(role)
			switch {
			case i > 0 && p.Chosen != "":
				continue // with auto, only the chosen agent
			case i > 0:
				what = "  or, then"
			}
			seen[p.Spec.Name] = true
			p, told := c.Wary(p, "")
			patients = append(patients, patient{Player: p, what: what, told: told})
		}
	}
	panel, err := c.Panel()
	if err != nil {
		lacking = append(lacking, failed("panel", err)...)
	}
	if len(panel) > 0 { // it replaces the critic
		patients = slices.DeleteFunc(patients, func(p patient) bool { return p.Role == loop.RoleCritic })
	}
	for _, p := range panel {
		seen[p[0].Spec.Name] = true
		patients = append(patients, patient{Player: p[0], what: string(p[0].Role)})
	}
	for _, spec := range append(c.Own(), agent.Catalogue()...) {
		p, err := c.Player(loop.RoleActor, loop.AgentRef{Agent: spec.Name})
		if err == nil && !seen[spec.Name] {
			patients = append(patients, patient{Player: p, what: "also here", aside: true})
		}
	}
	return patients, lacking
}

// examine describes an agent without running a turn.
func (d *Doctor) examine(ctx context.Context, cfg *config.Config, p patient) Finding {
	hint := ""
	words := []string{p.Ref().Agent}
	if p.Model != "" {
		words[0] = render.Who(p.Ref())
	}
	if p.Chosen != "" {
		words[0] = "auto: " + words[0]
	}
	words = append(words, d.version(ctx, p.Player))
	detail := strings.TrimSpace(strings.Join(words, " "))
	if len(p.Spec.Credentials) > 0 {
		in, login := p.Login(ctx, d.Host)
		detail += "; " + login
		if !in && !p.aside {
			hint = p.Spec.Remedy(d.Host.Environ)
		}
	}
	if p.Spec.Outdated(p.Path) {
		detail += "; it comes from its former package, " + p.Spec.Former
		hint = p.Spec.Install
	}
	detail = strings.Join(slices.Concat([]string{detail}, p.told, p.Caveats(cfg)), "; ")
	return Finding{What: p.what, OK: true, Detail: detail, Optional: p.aside, Hint: hint}
}

// version returns the version of an installed agent; "" if it does not report one.
func (d *Doctor) version(ctx context.Context, p crew.Player) string {
	told, err := p.Version(ctx, d.Host)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("(no version within %s)", crew.VersionTimeout)
	}
	if err != nil {
		return "(its version is unknown: " + term.Line(err.Error()) + ")"
	}
	return told
}

// probes runs one tiny turn of each agent, in an empty directory.
func (d *Doctor) probes(ctx context.Context, patients []patient, probe string) (findings []Finding) {
	var chosen []patient
	for _, p := range patients {
		known := slices.ContainsFunc(chosen, func(o patient) bool { return o.Ref() == p.Ref() })
		if !known && (!p.aside || probe == All) {
			chosen = append(chosen, p)
		}
	}
	runner := proc.NewRunner(d.Host.Now)
	findings = crew.AskAll(chosen, func(p patient) Finding { return d.probe(ctx, runner, p) })
	if err := runner.Close(); err != nil {
		findings = append(findings, Finding{What: "probe", Detail: err.Error()})
	}
	return findings
}

// probePrompt asks for next to nothing; the answer does not matter.
const probePrompt = "This is a test of the connection. Use no tools. Answer with the one word: OK\n"

// probe runs the turn as a critic's, which changes nothing.
func (d *Doctor) probe(ctx context.Context, runner *proc.Runner, p patient) (f Finding) {
	f = Finding{What: "probe", Detail: render.Who(p.Ref()), Optional: p.aside}
	fail := func(err error) Finding {
		f.Detail += ": " + term.Line(err.Error())
		return f
	}
	dir, err := os.MkdirTemp("", "codeloops-probe-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system cleans up its temporary directory
	work, outputs := filepath.Join(dir, "work"), filepath.Join(dir, "outputs")
	if err := errors.Join(os.Mkdir(work, 0o700), os.Mkdir(outputs, 0o700)); err != nil {
		return fail(err)
	}
	player, err := agent.New(p.Spec, p.Model, agent.Place{
		Starter: runner, Dir: work, Environ: d.Host.Environ, Outputs: outputs, Session: "probe",
		Limits: proc.Limits{Timeout: probeTimeout, MaxOutput: 16 << 20, Keep: 64 << 10},
	}, loop.ReadOnly)
	if err != nil {
		return fail(err)
	}
	reply, err := player.Run(ctx, agent.Request{Role: loop.RoleCritic, Iteration: 1, Prompt: probePrompt})
	if err != nil {
		return fail(err)
	}
	f.OK = reply.Ending == loop.EndCompleted
	if reply.Ending == loop.EndAuth {
		f.Hint = p.Spec.Remedy(d.Host.Environ)
		reply.Reason = strings.TrimSuffix(reply.Reason, "; "+f.Hint)
	}
	f.Detail += fmt.Sprintf(": %s, %s", probed(reply.Turn), render.Span(reply.Duration))
	return f
}

// probed describes how the turn went.
func probed(t loop.Turn) string {
	what := render.Ending(t)
	switch t.Ending {
	case loop.EndCompleted:
		return "it answers"
	case loop.EndTimedOut:
		return "no answer within " + probeTimeout.String()
	case loop.EndRateLimited:
		if !t.ResetAt.IsZero() {
			what += " until " + t.ResetAt.UTC().Format(time.RFC3339)
		}
	case loop.EndEmpty, loop.EndFailed, loop.EndIdle, loop.EndSpinning, loop.EndOutOfCredit, loop.EndOutputLimit, loop.EndInterrupted, loop.EndAuth,
		loop.EndOverloaded, loop.EndContextTooLong, loop.EndPermissionDenied:
	}
	if t.Reason != "" {
		what += " (" + term.Line(t.Reason) + ")"
	}
	return what
}
