package crew

import (
	"context"
	"slices"
	"sync"

	"codeloops/internal/agent"
	"codeloops/internal/config/host"
	"codeloops/internal/loop"
)

// atOnce is how many agents are asked concurrently.
const atOnce = 4

// AskAll calls ask for each, a few at a time, and returns the answers in order.
func AskAll[Of, Answer any](all []Of, ask func(Of) Answer) []Answer {
	answers := make([]Answer, len(all))
	free := make(chan struct{}, atOnce)
	var asked sync.WaitGroup
	for i, one := range all {
		asked.Go(func() {
			free <- struct{}{}
			answers[i] = ask(one)
			<-free
		})
	}
	asked.Wait()
	return answers
}

// A Candidate is an agent that could play on this machine.
type Candidate struct {
	Player

	SignedIn bool
	How      string // how that is known
}

// Candidates returns the usable installed agents, those that are signed in first.
func Candidates(ctx context.Context, h *host.Host) []Candidate {
	var here []Player
	for _, spec := range agent.Catalogue() {
		path, err := spec.Resolve(loop.Write, h.Dir, h.Environ)
		if err == nil && spec.Equipped(h.Environ) == nil {
			here = append(here, Player{Role: loop.RoleActor, Access: loop.Write, Spec: spec, Path: path})
		}
	}
	all := AskAll(here, func(p Player) Candidate {
		in, how := p.Login(ctx, h)
		return Candidate{p, in, how}
	})
	unknown := slices.DeleteFunc(slices.Clone(all), func(c Candidate) bool { return c.SignedIn })
	return append(slices.DeleteFunc(all, func(c Candidate) bool { return !c.SignedIn }), unknown...)
}
