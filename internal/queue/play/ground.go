package play

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/merge"
	"codeloops/internal/queue/place"
	"codeloops/internal/run"
	"codeloops/internal/wording/hint"
)

// A ground is a repository of this home, with what is needed to begin its tasks and to merge them.
type ground struct {
	player *Player
	repo   *git.Repo
	site   *place.Site
	merger *merge.Merger
}

// ErrGone says that a repository is no longer where it was when its tasks were added.
var ErrGone = errors.New("the repository is gone")

// ground opens a repository.
func (p *Player) ground(r queue.Repository) (g *ground, err error) {
	g = &ground{player: p}
	if _, err := os.Stat(r.Root); errors.Is(err, fs.ErrNotExist) {
		return nil, hint.Errorf("move it back, and codeloops queue retry goes on; or take the task out with codeloops queue rm --force, and add it where the repository is now",
			"%w: it is no longer at %s", ErrGone, r.Root)
	}
	if g.repo, err = git.Open(r.Root, p.Starter, p.Host.Environ); err != nil {
		return nil, err
	}
	if g.site, err = place.New(g.repo, p.Home.In("trees")); err != nil {
		return nil, err
	}
	g.merger, err = merge.New(g.repo, p.Home.In("trees"))
	return g, err
}

// atHome prepares an attempt at a task whose repository is here.
func (p *Player) atHome(ctx context.Context, j *board.Job) (*attempt, error) {
	g, err := p.ground(j.Task.Repository)
	if err != nil {
		return nil, err
	}
	seen, err := g.look(ctx, &j.Task)
	if err != nil {
		return nil, err
	}
	if err := g.claim(ctx, &j.Task); err != nil {
		return nil, err
	}
	a := &attempt{player: p, job: j, site: g.site, moved: j.Parcel > 0, merger: g.merger}
	a.onto = func(ctx context.Context) (string, error) { return g.merger.Onto(ctx, seen) }
	return a, g.bring(ctx, &j.Record, j.Change)
}

// settings returns the settings of a task's run: its own flags, and flags of the form name=value.
func settings(t *queue.Task, more ...string) (run.Settings, error) {
	flags := slices.Clone(t.Flags)
	for _, flag := range more {
		name, value, _ := strings.Cut(flag, "=")
		flags = append(flags, loop.Flag{Name: name, Values: []string{value}})
	}
	return run.NewSettings(flags)
}

// claim tells the origin that work on the task has begun.
func (g *ground) claim(ctx context.Context, t *queue.Task) error {
	if t.Origin.Key == "" {
		return nil
	}
	from, err := g.player.Source(t.Origin, t.Repository.Root)
	if err == nil {
		err = from.Claim(ctx, t.Origin.Key)
	}
	return err
}

// discard removes the work tree and the branch of a task. What neither another ref nor a merged result has is kept at the
// ref that it returns.
func (g *ground) discard(ctx context.Context, task, merged string) (ref string, err error) {
	one, err := g.site.Find(task)
	if err == nil && one == nil {
		err = g.unhold(ctx, task)
	}
	if err != nil || one == nil {
		return "", err
	}
	return one.Discard(ctx, merged)
}
