package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/spf13/cobra"

	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/diff/repo"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/term"
)

const (
	ansiRed   = lipgloss.Color("1")
	ansiGreen = lipgloss.Color("2")
)

// A finding is one thing that doctor looked at.
type finding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

func newDoctorCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check git, the agents, the configuration and the session directory",
		Long: `Check git, the agents, the configuration and the session directory: each is ok,
or comes with what to do. It ends with 2 when a run could not start here.

` + exitHelp(),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}

func runDoctor(ctx context.Context, a *app, asJSON bool) error {
	findings := []finding{a.checkGit(ctx), a.checkRepository()}
	cfg, err := config.Load(a.configOptions(a.dir))
	if err != nil {
		for _, c := range complaints(err) {
			findings = append(findings, finding{What: "configuration", Detail: c.Message, Hint: c.Hint})
		}
	} else {
		findings = append(findings, finding{What: "configuration", OK: true, Detail: "valid"}, a.checkSessions(cfg))
		findings = append(findings, a.checkAgents(ctx, cfg)...)
	}
	if asJSON {
		err = writeJSON(a.Out, findings)
	} else {
		err = showFindings(a, findings)
	}
	if err != nil {
		return err
	}
	for _, f := range findings {
		if !f.OK {
			return &endedError{result: loop.Failed} // the findings have said it
		}
	}
	return nil
}

func (a *app) checkGit(ctx context.Context) finding {
	f := finding{What: "git"}
	out, err := proc.Output(ctx, proc.Call{Argv: []string{"git", "--version"}, Dir: a.dir, Env: a.env, MaxOutput: 4 << 10})
	if err != nil {
		f.Detail, f.Hint = err.Error(), "install git: agents work with it, and codeloops asks it where filters and partial clones come in"
		return f
	}
	f.OK, f.Detail = true, strings.TrimSpace(string(out))
	return f
}

func (a *app) checkRepository() finding {
	f := finding{What: "repository"}
	r, err := repo.Open(a.dir, a.lookupEnv)
	if err != nil {
		c := complaints(err)[0]
		f.Detail, f.Hint = c.Message, c.Hint
		return f
	}
	f.OK, f.Detail = true, r.WorkTree
	return f
}

func (a *app) checkSessions(cfg *config.Config) finding {
	f := finding{What: "sessions"}
	dir, err := cfg.Sessions()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	var probe *os.File
	if err == nil {
		probe, err = os.CreateTemp(dir, ".doctor-*")
	}
	if err != nil {
		f.Detail, f.Hint = err.Error(), "choose another directory with --session-dir or CODELOOPS_SESSION_DIR"
		return f
	}
	f.OK, f.Detail = true, dir
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return f
}

// checkAgents looks at the two agents that a run would use, which must be
// there, and mentions the others that are installed.
func (a *app) checkAgents(ctx context.Context, cfg *config.Config) []finding {
	own, err := a.specs(cfg, &runOptions{})
	if err != nil {
		return []finding{{What: "agents", Detail: err.Error()}}
	}
	var findings []finding
	seen := map[string]bool{}
	for _, role := range []loop.Role{loop.RoleActor, loop.RoleCritic} {
		name := cfg.Actor.Agent
		if role == loop.RoleCritic {
			name = cfg.Critic.Agent
		}
		f := finding{What: string(role)}
		spec, err := agent.Find(name, own...)
		var path string
		if err == nil {
			path, err = spec.Resolve(role, a.dir, a.env)
		}
		if err != nil {
			c := complaints(err)[0]
			f.Detail, f.Hint = c.Message, c.Hint
		} else {
			seen[spec.Name] = true
			f.OK, f.Detail = true, strings.TrimSpace(spec.Name+" "+a.agentVersion(ctx, spec, path))
		}
		findings = append(findings, f)
	}
	for _, spec := range append(own, agent.Catalogue()...) {
		path, err := spec.Resolve(loop.RoleActor, a.dir, a.env)
		if err == nil && !seen[spec.Name] {
			findings = append(findings, finding{What: "also here", OK: true, Detail: strings.TrimSpace(spec.Name + " " + a.agentVersion(ctx, spec, path))})
		}
	}
	if cfg.Actor.Agent == cfg.Critic.Agent && cfg.Actor.Model == cfg.Critic.Model {
		findings = append(findings, finding{
			What: "advice", OK: true,
			Detail: "actor and critic are the same agent with the same model: a critic of another kind sees what this one overlooks",
		})
	}
	return findings
}

func showFindings(a *app, findings []finding) error {
	styles := a.OutRenderer()
	good, bad := styles.NewStyle().Foreground(ansiGreen), styles.NewStyle().Foreground(ansiRed)
	var b strings.Builder
	for _, f := range findings {
		mark := good.Render("ok  ")
		if !f.OK {
			mark = bad.Render("FAIL")
		}
		fmt.Fprintf(&b, "%s  %-14s %s\n", mark, f.What, term.Line(f.Detail))
		if f.Hint != "" {
			fmt.Fprintf(&b, "      %-14s hint: %s\n", "", term.Line(f.Hint))
		}
	}
	_, err := fmt.Fprint(a.Out, a.secrets.String(b.String()))
	return err
}
