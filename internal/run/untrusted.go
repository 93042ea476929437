package run

import (
	"maps"
	"slices"
	"sync"

	"codeloops/internal/agent"
	"codeloops/internal/loop"
	"codeloops/internal/run/crew"
)

// untrusted is what was said about files that agents run something from and that the user does not
// trust.
type untrusted struct {
	mu   sync.Mutex
	said map[string]bool
}

// begin returns what is said before the first turn.
func (u *untrusted) begin(all []string) []string {
	return slices.DeleteFunc(all, func(text string) bool { return !u.first(text) })
}

func (u *untrusted) first(text string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.said[text] {
		return false
	}
	if u.said == nil {
		u.said = map[string]bool{}
	}
	u.said[text] = true
	return true
}

// distrusted says what the agents that may change files are kept from running, and what not.
func (p *Plan) distrusted() (all []string) {
	for _, cast := range p.writers() {
		for _, who := range cast {
			_, told := p.casting.Wary(who, "")
			all = append(all, told...)
		}
	}
	return all
}

// writers are the players whose turns may change files.
func (p *Plan) writers() []crew.Cast {
	all := []crew.Cast{p.Actor}
	for _, role := range slices.Sorted(maps.Keys(p.Others)) {
		all = append(all, p.Others[role]) // whoever may not write is not wary
	}
	return all
}

// wary returns how agents are started at a site.
func (r *running) wary(s site) func(loop.Role, agent.Spec) agent.Spec {
	return func(role loop.Role, spec agent.Spec) agent.Spec {
		as := crew.Player{Role: role, Access: loop.Write, Spec: spec}
		who, told := r.casting.Wary(as, s.tree.Root())
		if told == nil {
			who, told = r.casting.Wary(as, "") // a fork shows what git ignores in the user's work tree
		}
		for _, text := range told {
			if r.untrusted.first(text) { // a turn has written it
				s.tree.Note(text)
			}
		}
		return who.Spec
	}
}
