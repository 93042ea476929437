package crew

import (
	"errors"
	"os"
	"slices"
	"strings"

	"codeloops/internal/agent"
	"codeloops/internal/agent/scripted"
	"codeloops/internal/config"
	"codeloops/internal/config/host"
)

// Named lists every agent that a configuration gives a role to, as spelled there.
func Named(cfg *config.Config) []string {
	var names []string
	for _, r := range []config.Role{cfg.Actor, cfg.Critic} {
		names = append(names, r.Agent)
		if r.Agent == Auto {
			names = append(names, cfg.AgentOrder...)
		}
		for _, entry := range r.Fallback {
			name, _, _ := strings.Cut(entry, ":")
			names = append(names, name)
		}
	}
	for _, entry := range cfg.Panel.Members {
		name, _, _ := strings.Cut(entry, ":")
		names = append(names, name)
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
	_, missing := errors.AsType[*agent.NotFoundError](err)
	_, unset := errors.AsType[*agent.UnsetError](err)
	_, nobody := errors.AsType[*NobodyError](err)
	return missing || unset || nobody
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
	var names []string
	for _, entry := range Named(cfg) {
		name, _, _ := strings.Cut(entry, ":")
		names = append(names, name)
	}
	slices.Sort(names)
	var wrong []error
	for _, name := range slices.Compact(names) {
		if _, err := agent.Find(name, c.Own()...); err != nil && name != Auto {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}
