package crew

import (
	"codeloops/internal/agent"
	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/loop"
)

// A Row is what there is to know of one agent.
type Row struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Path    string   `json:"path,omitempty"` // "": not installed
	Problem string   `json:"problem,omitempty"`
	Install string   `json:"install,omitempty"`
	Tested  string   `json:"tested,omitempty"` // the version that was run; "": described only
	Actor   []string `json:"actor"`
	Critic  []string `json:"critic"`
}

// Known describes the catalogue and the user's own agents.
func Known(h *host.Host, cfg *config.Config) ([]Row, error) {
	c, err := New(h, cfg, h.Dir, "")
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, spec := range append(c.Own(), agent.Catalogue()...) {
		row := Row{
			Name: spec.Name, Aliases: spec.Aliases, Tested: spec.Tested, Install: spec.Setup(),
			Actor:  spec.CommandLine(loop.Write, ""),
			Critic: spec.CommandLine(loop.ReadOnly, ""),
		}
		if row.Path, err = spec.Resolve(loop.Write, h.Dir, h.Environ); err != nil {
			row.Problem = err.Error()
		}
		rows = append(rows, row)
	}
	return rows, nil
}
