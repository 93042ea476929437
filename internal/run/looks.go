package run

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
	"codeloops/internal/run/worktree"
)

// How often a work tree is looked at while agents work in it and somebody watches.
const (
	betweenLooks = 5 * time.Second // minimum
	shareOfLooks = 150             // looks use at most this fraction of one processor's time, so that they cost less than 1 %
	mostLooked   = time.Minute     // time limit for a diff
	attention    = 5 * time.Second // after which a remote watcher counts as gone
)

// An onlooker reports changes in a work tree during turns that may write.
type onlooker struct {
	*running
	tree *worktree.Tree
}

// attend looks at the tree until end is called, and reports to the watch. It returns a watch for
// the turn itself that may be used concurrently.
func (o onlooker) attend(ctx context.Context, watch loop.Watch) (_ loop.Watch, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var mu sync.Mutex
	one := func(n loop.Notice) {
		mu.Lock()
		defer mu.Unlock()
		watch(n)
	}
	leave := o.sites.enter(o.tree)
	var over sync.WaitGroup
	over.Go(func() { o.look(ctx, one) })
	return one, func() {
		cancel()
		over.Wait()
		leave()
	}
}

func (o onlooker) look(ctx context.Context, watch loop.Watch) {
	now := o.options.Host.Now
	var was diff.Glance
	for pause := betweenLooks; ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if pause = betweenLooks; !o.control.isWatched(now()) {
			continue
		}
		began := now()
		seen, err := o.tree.Peek(ctx, diff.Captured, was)
		pause = max(pause, shareOfLooks*now().Sub(began))
		if err != nil {
			continue // the capture reports problems that matter
		}
		if look := loop.Looked(was.Change, seen.Change); look != nil {
			watch(loop.Notice{Kind: loop.NoticeLook, Look: look})
		}
		was = seen
	}
}

// A seenActor is an actor whose work tree is watched during its turns.
type seenActor struct {
	loop.Actor
	onlooker
}

// Act implements [loop.Actor].
func (a seenActor) Act(ctx context.Context, b loop.Brief, watch loop.Watch) (loop.Attempt, error) {
	watch, end := a.attend(ctx, watch)
	defer end()
	return a.Actor.Act(ctx, b, watch)
}

// A seenPlayer is a player whose work tree is watched during turns that may write.
type seenPlayer struct {
	loop.Player
	onlooker
}

// Play implements [loop.Player].
func (p seenPlayer) Play(ctx context.Context, c loop.Call, watch loop.Watch) (loop.Reply, error) {
	if c.Access != loop.Write {
		return p.Player.Play(ctx, c, watch)
	}
	watch, end := p.attend(ctx, watch)
	defer end()
	return p.Player.Play(ctx, c, watch)
}

// sites are the work trees with running turns that may write.
type sites struct {
	mu    sync.Mutex
	trees []*worktree.Tree // in the order in which the turns began
	forks int              // open ones
}

// enter registers a turn in a work tree, until leave is called.
func (s *sites) enter(tree *worktree.Tree) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trees = append(s.trees, tree)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		i := slices.Index(s.trees, tree)
		s.trees = slices.Delete(s.trees, i, i+1)
	}
}

// forked counts open forks.
func (s *sites) forked(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forks += n
}

// last returns the work tree of the turn that began last. Between turns it is the user's own, but
// nil while there are forks, because it is unclear which one is meant.
func (s *sites) last(own *worktree.Tree) *worktree.Tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.trees) > 0:
		return s.trees[len(s.trees)-1]
	case s.forks > 0:
		return nil
	}
	return own
}

// errNoTree says that there is no work tree to look at.
var errNoTree = errors.New("no work tree is under way that could be looked at")

// differs returns what has changed since the session began, in the last of the work trees.
func (r *running) differs(ctx context.Context) (loop.Change, error) {
	tree := r.sites.last(r.tree)
	if tree == nil {
		return loop.Change{}, errNoTree
	}
	seen, err := tree.Peek(ctx, diff.Began, diff.Glance{})
	return seen.Change, err
}
