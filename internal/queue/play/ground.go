package play

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/merge"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/place"
	"codeloops/internal/run"
	"codeloops/internal/session"
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
func (p *Player) atHome(ctx context.Context, j *board.Job) (*post, error) {
	g, err := p.ground(j.Task.Repository)
	if err != nil {
		return nil, err
	}
	if err := g.claim(ctx, &j.Task); err != nil {
		return nil, err
	}
	at := &post{site: g.site, dir: p.Home.In("trees"), moved: j.Parcels.Count > 0, end: func() {}}
	at.base = func(ctx context.Context) (string, error) { return g.merger.Onto(ctx, j.Task.Target) }
	at.onto = at.base
	at.settings = func() (run.Settings, error) { return settings(&j.Task) }
	return at, g.bring(ctx, &j.Record, j.Change)
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

// sessions returns the store of a task's sessions.
func (g *ground) sessions(t *queue.Task) (*session.Store, error) {
	settings, err := settings(t)
	if err != nil {
		return nil, err
	}
	return g.player.sessionsOf(g.repo.Root, t, settings)
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

// discard removes the work tree and the branch of a task. What no other ref has is kept at the ref that it returns.
func (g *ground) discard(ctx context.Context, task string) (ref string, err error) {
	one, err := g.site.Find(task)
	if err != nil || one == nil {
		return "", err
	}
	return one.Discard(ctx)
}

// remote returns the git remote that the user has chosen to carry tasks; nil is the hub.
func (g *ground) remote(ctx context.Context) (*parcel.Remote, error) {
	if g.player.Remote == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	address, err := g.repo.Run(ctx, g.repo.Root, "remote", "get-url", "--push", "--", g.player.Remote)
	if _, none := errors.AsType[*proc.ExitError](err); none {
		return nil, hint.Errorf("git remote add, in "+g.repo.Root+", or set queue.remote to the name of another one",
			"the repository has no git remote %q for its tasks to travel through", g.player.Remote)
	}
	if err != nil {
		return nil, err
	}
	r, err := parcel.RemoteAt(address)
	if err != nil {
		return nil, fmt.Errorf("the remote %q: %w", g.player.Remote, err)
	}
	return r, nil
}

// remoteAt returns the remote at a URL; nil for "".
func remoteAt(url string) (*parcel.Remote, error) {
	if url == "" {
		return nil, nil //nolint:nilnil // none is no error
	}
	return parcel.RemoteAt(url)
}

// recorded returns the remote at a record's URL, with the user's credentials if it is the chosen one.
func (g *ground) recorded(ctx context.Context, url string) (*parcel.Remote, error) {
	if own, err := g.remote(ctx); err == nil && own != nil && own.URL == url {
		return own, nil
	}
	return remoteAt(url)
}
