// Package doctor checks what a run needs: git, the agents, the configuration and the session
// directory.
package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/cli/leftovers"
	"codeloops/internal/cli/problem"
	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/git"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/run/crew"
	"codeloops/internal/run/worktree"
	"codeloops/internal/screen/term"
	"codeloops/internal/view"
)

// A Finding is the result of one check.
type Finding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	// Optional is set for what a run does not need.
	Optional bool   `json:"aside,omitempty"`
	Hint     string `json:"hint,omitempty"`
}

// A Doctor checks one directory.
type Doctor struct {
	Host     *host.Host
	Settings config.Options
	Tell     func(sentence string) // reports what happened to an interrupted restore
}

// Examine checks everything. probe says which agents play a turn: none (""), [Configured] or [All].
func (d *Doctor) Examine(ctx context.Context, probe string) []Finding {
	findings := []Finding{d.git(ctx), d.repository()}
	if err := proc.Able(); err != nil {
		findings = append(findings, failed("processes", err)...)
	}
	cfg, err := config.Load(d.Settings)
	if err != nil {
		return append(findings, failed("configuration", err)...)
	}
	findings = append(findings, Finding{What: "configuration", OK: true, Detail: "valid"}, d.sessions(cfg))
	findings = append(findings, d.views(ctx, cfg)...)
	findings = append(findings, d.leftovers(cfg)...)
	return append(findings, d.Agents(ctx, cfg, probe)...)
}

// failed turns an error into findings, one for each problem.
func failed(what string, err error) (findings []Finding) {
	for _, p := range problem.Of(err) {
		findings = append(findings, Finding{What: what, Detail: p.Message, Hint: p.Hint})
	}
	return findings
}

func (d *Doctor) git(ctx context.Context) Finding {
	f := Finding{What: "git"}
	out, err := proc.Output(ctx, proc.Call{Invocation: proc.Invocation{Argv: []string{"git", "--version"}, Dir: d.Host.Dir, Env: d.Host.Environ}, MaxOutput: 4 << 10})
	if err != nil {
		f.Detail, f.Hint = err.Error(), "install git: agents need it, and codeloops compares files with it"
		return f
	}
	f.OK, f.Detail = true, strings.TrimSpace(string(out))
	if git.Old(f.Detail) {
		f.OK, f.Hint = false, "install git "+git.Oldest+" or later"
	}
	return f
}

func (d *Doctor) repository() Finding {
	r, err := git.Open(d.Host.Dir, d.Host.Environ)
	if err != nil {
		return failed("repository", err)[0]
	}
	return Finding{What: "repository", OK: true, Detail: r.WorkTree}
}

// views tries which kind of view critics and checks get here.
func (d *Doctor) views(ctx context.Context, cfg *config.Config) []Finding {
	t, err := worktree.Open(ctx, d.Host, d.Host.Dir, d.Tell)
	if err != nil {
		return nil // reported by repository
	}
	defer t.Close() //nolint:errcheck // only read
	runner := proc.NewRunner(d.Host.Now)
	defer runner.Close() //nolint:errcheck // nothing runs
	const what = "critic's view"
	place := t.Views(runner)
	place.Home = filepath.Join(place.Home, "doctor") // a run may be active
	defer os.RemoveAll(place.Home)                   //nolint:errcheck // the next run of doctor tries again
	kind, err := place.Use(ctx, view.Kind(cfg.CriticView))
	if err != nil {
		return failed(what, err)
	}
	f := Finding{What: what, OK: true, Detail: map[view.Kind]string{
		view.Overlay: "an overlay of the work tree", view.Clone: "a copy that shares its blocks with the work tree",
		view.Copy: "a copy of the work tree", view.Tree: "none: critics and checks work in the work tree itself",
	}[kind]}
	if kind == view.Copy && cfg.CriticView == string(view.Auto) {
		f.Hint = "neither overlays nor clones work here; `codeloops help limits` says why"
	}
	return append([]Finding{f}, d.sandboxes(ctx, cfg, place)...)
}

// sandboxes tries the sandboxes of critics that may not write: in a view, some systems allow none, and a critic whose
// commands all fail verifies nothing.
func (d *Doctor) sandboxes(ctx context.Context, cfg *config.Config, place *view.Place) (findings []Finding) {
	if crew.MayBuild(cfg) || place.Kind() == view.Tree {
		return nil
	}
	patients, _ := d.patients(ctx, cfg) // what is lacking is said elsewhere
	for _, p := range patients {
		if p.aside || p.Access != loop.ReadOnly || len(p.Spec.SandboxArgs) == 0 {
			continue
		}
		if err := d.trySandbox(ctx, place, p); err != nil {
			findings = append(findings, Finding{
				What: "critic's sandbox", OK: true, Detail: p.Spec.Name + " can run no command in the critic's view: " + err.Error(),
				Hint: `set critic_view = "copy", or critic_access = "full"`,
			})
		}
	}
	return findings
}

// sandboxTimeout bounds how long an agent may take to run "true".
const sandboxTimeout = 10 * time.Second

func (d *Doctor) trySandbox(ctx context.Context, place *view.Place, p patient) error {
	v, err := place.Open(ctx)
	if err != nil {
		return err
	}
	defer v.Close() //nolint:errcheck // nothing was written
	res, err := v.Run(ctx, proc.Command{
		Invocation: proc.Invocation{Argv: append([]string{p.Path}, p.Spec.SandboxArgs...), Dir: v.Dir(d.Host.Dir), Env: d.Host.Environ},
		Limits:     proc.Limits{Timeout: sandboxTimeout, Keep: 4 << 10},
	})
	if err == nil && res.ExitCode != 0 {
		lines := strings.Split(strings.TrimSpace(string(res.Stderr.Text)), "\n")
		err = fmt.Errorf("exit code %d: %s", res.ExitCode, term.Line(lines[len(lines)-1]))
	}
	return err
}

// leftovers reports whether there is something to clean up.
func (d *Doctor) leftovers(cfg *config.Config) []Finding {
	found, err := d.Leftovers(cfg)
	if err != nil || len(found.Things) == 0 {
		return nil // an error here does not keep a run from starting
	}
	return []Finding{{What: "leftovers", OK: true, Detail: found.Sum() + ", left by killed runs", Hint: "codeloops doctor --clean lists and removes them"}}
}

// Leftovers looks for what killed runs have left behind.
func (d *Doctor) Leftovers(cfg *config.Config) (*leftovers.Found, error) {
	logs, err := cfg.Sessions()
	if err != nil {
		return nil, err
	}
	return leftovers.Place{Host: d.Host, Logs: logs, Temp: os.TempDir()}.Find()
}

func (d *Doctor) sessions(cfg *config.Config) Finding {
	f := Finding{What: "sessions"}
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
