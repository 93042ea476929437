package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/spf13/cobra"

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
	// Aside is set for what does not stand in a run's way.
	Aside bool   `json:"aside,omitempty"`
	Hint  string `json:"hint,omitempty"`
}

func newDoctorCmd(a *app) *cobra.Command {
	var asJSON bool
	var probe string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check git, the agents, the configuration and the session directory",
		Long: `Check git, the agents, the configuration and the session directory: each is ok,
or comes with what to do. It ends with 2 when a run could not start here.

Whether an agent is signed in is told from its files and the environment, or by
the agent itself where it has a command for that, and costs nothing. --probe asks
each agent of the configuration for one word, with its real model: that shows
whether it works, and costs a little.

` + exitHelp(),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if probe != "" && probe != probeConfigured && probe != probeAll {
				return usagef("--probe asks the configured agents, --probe=all every one that is installed", "--probe cannot be %q", probe)
			}
			return runDoctor(cmd.Context(), a, asJSON, probe)
		},
	}
	cmd.Flags().StringVar(&probe, "probe", "", "let the agents of the configuration play one tiny turn; `all`: every one installed")
	cmd.Flags().Lookup("probe").NoOptDefVal = probeConfigured
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return cmd
}

func runDoctor(ctx context.Context, a *app, asJSON bool, probe string) error {
	findings := []finding{a.checkGit(ctx), a.checkRepository()}
	cfg, err := config.Load(a.configOptions(a.dir))
	if err != nil {
		for _, c := range complaints(err) {
			findings = append(findings, finding{What: "configuration", Detail: c.Message, Hint: c.Hint})
		}
	} else {
		findings = append(findings, finding{What: "configuration", OK: true, Detail: "valid"}, a.checkSessions(cfg))
		findings = append(findings, a.checkAgents(ctx, cfg, probe)...)
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
		if !f.OK && !f.Aside {
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

func showFindings(a *app, findings []finding) error {
	styles := a.OutRenderer()
	good, bad := styles.NewStyle().Foreground(ansiGreen), styles.NewStyle().Foreground(ansiRed)
	var b strings.Builder
	for _, f := range findings {
		mark := good.Render("ok  ")
		switch {
		case !f.OK && f.Aside:
			mark = bad.Render("no  ")
		case !f.OK:
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
