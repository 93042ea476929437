package crew

import (
	"context"

	"codeloops/internal/agent"
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
	var rows []Row
	var specs []agent.Spec
	for _, spec := range append(c.Own(), agent.Catalogue()...) {
		row := Row{
			Name: spec.Name, Aliases: spec.Aliases, Tested: spec.Tested, Install: spec.Setup(),
			Actor:  spec.CommandLine(loop.Write, ""),
			Critic: spec.CommandLine(loop.ReadOnly, ""),
		}
		if row.Path, err = spec.Resolve(loop.Write, h.Dir, h.Environ); err != nil {
			row.Problem, row.Next = err.Error(), row.Install
		}
		rows = append(rows, row)
		specs = append(specs, spec)
	}
	of := make([]int, len(rows))
	for i := range of {
		of[i] = i
	}
	AskAll(of, func(i int) struct{} { rows[i].ready(ctx, h, specs[i]); return struct{}{} })
	return rows, nil
}

// ready adds what an installed agent lacks before it can play.
func (r *Row) ready(ctx context.Context, h *host.Host, spec agent.Spec) {
	if r.Path == "" {
		return
	}
	if err := spec.Equipped(h.Environ); err != nil {
		r.Problem, r.Next = err.Error(), r.Install
		if text, ok := hint.Of(err); ok {
			r.Next = text
		}
	}
	if len(spec.Credentials) == 0 {
		r.Login = "needs no login that is known of"
		return
	}
	in, how := Player{Role: loop.RoleActor, Access: loop.Write, Spec: spec, Path: r.Path}.Login(ctx, h)
	r.SignedIn, r.Login = &in, how
	if !in && r.Next == "" {
		r.Next = spec.Remedy(h.Environ)
	}
}
