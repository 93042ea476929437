package crew

import (
	"context"
	"errors"
	"os"
	"slices"

	"codeloops/internal/agent"
	"codeloops/internal/agent/scripted"
	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/wording/hint"
)

// A Row describes one agent.
type Row struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Path    string   `json:"path,omitempty"` // "": not installed
	Problem string   `json:"problem,omitempty"`
	Install string   `json:"install,omitempty"`
	Tested  string   `json:"tested,omitempty"` // the version that was tried; "": never run, only described
	// SignedIn says whether it seems to be signed in; null: it is not installed, or needs no
	// login.
	SignedIn *bool    `json:"signed_in"`
	Login    string   `json:"login,omitempty"` // how that is known
	Next     string   `json:"next,omitempty"`  // what to do before it can play; "": nothing
	Actor    []string `json:"actor"`           // how it is called
	Critic   []string `json:"critic"`          // how it is called with read-only access
}

// Known describes the catalogue and the user's own agents. Installed agents are asked whether
// they are signed in.
func Known(ctx context.Context, h *host.Host, cfg *config.Config) ([]Row, error) {
	c, err := New(h, cfg, h.Dir, "")
	if err != nil {
		return nil, err
	}
	return AskAll(append(c.Own(), agent.Catalogue()...), func(spec agent.Spec) Row { return rowOf(ctx, h, spec) }), nil
}

func rowOf(ctx context.Context, h *host.Host, spec agent.Spec) Row {
	r := Row{
		Name: spec.Name, Aliases: spec.Aliases, Tested: spec.Tested, Install: spec.Setup(),
		Actor:  spec.CommandLine(loop.Write, ""),
		Critic: spec.CommandLine(loop.ReadOnly, ""),
	}
	var err error
	if r.Path, err = spec.Resolve(loop.Write, h.Dir, h.Environ); err != nil {
		r.Problem, r.Next = err.Error(), r.Install
		return r
	}
	if err := spec.Equipped(h.Environ); err != nil {
		r.Problem, r.Next = err.Error(), r.Install
		if text, ok := hint.Of(err); ok {
			r.Next = text
		}
	}
	if len(spec.Credentials) == 0 {
		r.Login = "needs no login"
		return r
	}
	in, how := Player{Role: loop.RoleActor, Access: loop.Write, Spec: spec, Path: r.Path}.Login(ctx, h)
	r.SignedIn, r.Login = &in, how
	if !in && r.Next == "" {
		r.Next = spec.Remedy(h.Environ)
	}
	return r
}

// Named lists the names of all agents that a configuration gives a role to.
func Named(cfg *config.Config) []string {
	entries := slices.Concat(cfg.Actor.Fallback, cfg.Critic.Fallback, cfg.Critic.Members)
	for _, r := range []config.Role{cfg.Actor.Role, cfg.Critic.Role} {
		entries = append(entries, r.Agent)
		if r.Agent == Auto {
			entries = append(entries, cfg.AgentOrder...)
		}
	}
	var names []string
	for _, entry := range entries {
		names = append(names, loop.ParseAgent(entry).Agent)
	}
	return names
}

// Names returns the names of all agents that a role can be given to, including the user's own if
// their configuration could be read.
func Names(h *host.Host, cfg *config.Config) []string {
	names := []string{Auto}
	all := agent.Catalogue()
	if cfg != nil {
		if c, err := New(h, cfg, h.Dir, ""); err == nil {
			all = append(c.Own(), all...)
		}
	}
	for _, spec := range all {
		names = append(names, spec.Name)
	}
	return names
}

// Elsewhere reports whether an error of [Casting.Find] only says that an agent cannot play on
// this machine as it is.
func Elsewhere(err error) bool {
	return errors.Is(err, agent.ErrNotInstalled) || errors.Is(err, agent.ErrUnset) || errors.Is(err, ErrNobody)
}

// CheckNames rejects unknown agents; they need not be installed.
func CheckNames(h *host.Host, cfg *config.Config) error {
	scenario := "" // of the scripted agent; any file will do
	if slices.Contains(Named(cfg), scripted.Name) {
		scenario = os.DevNull
	}
	c, err := New(h, cfg, h.Dir, scenario)
	if err != nil {
		return err
	}
	var wrong []error
	for _, name := range slices.Compact(slices.Sorted(slices.Values(Named(cfg)))) {
		if _, err := agent.Find(name, c.Own()...); err != nil && name != Auto {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}
