package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rogpeppe/go-internal/lockedfile"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/place"
	"codeloops/internal/queue/source"
	"codeloops/internal/run"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// errAway says that nobody is at the home of a task who could answer.
var errAway = errors.New("nobody is at work with the queue on the machine of its repository")

// ask asks the home of a task for what an attempt needs.
func (p *Player) ask(ctx context.Context, j *board.Job, have []string) (a answer, err error) {
	text, err := json.Marshal(question{Task: j.Task.ID, Attempt: j.Attempt, Have: have})
	if err != nil {
		return a, err
	}
	inbox := p.Conn.NewRespInbox()
	sub, err := p.Conn.SubscribeSync(inbox)
	if err != nil {
		return a, err
	}
	defer sub.Unsubscribe() //nolint:errcheck // nothing more is read
	if err := p.Conn.PublishRequest(subjectOf(j.Task.Repository.Home), inbox, text); err != nil {
		return a, err
	}
	for a.Busy = true; a.Busy; {
		once, cancel := context.WithTimeout(ctx, silence)
		m, err := sub.NextMsgWithContext(once)
		cancel()
		switch {
		case ctx.Err() != nil:
			return a, context.Cause(ctx)
		case err != nil || m.Header.Get("Status") == "503":
			return a, errAway // who was at it is gone
		}
		a = answer{}
		if err := json.Unmarshal(m.Data, &a); err != nil {
			return a, fmt.Errorf("read what the home of the task says: %w", err)
		}
	}
	switch {
	case a.Taken != "":
		return a, fmt.Errorf("%w: %s", source.ErrTaken, a.Taken)
	case a.Problem != "":
		err = errors.New(a.Problem)
		if a.Advice != "" {
			err = hint.Add(err, a.Advice)
		}
		return a, fmt.Errorf("the machine of its repository says: %w", err)
	}
	return a, nil
}

// away finds where an attempt is made at a task whose repository is on another machine: in a repository
// for it alone, which borrows the objects of a mirror. All that it has goes with the attempt.
func (p *Player) away(ctx context.Context, j *board.Job) (*post, error) {
	dir, done, err := p.scratch(fmt.Sprintf("%s.%d", j.Task.ID, j.Attempt))
	if err != nil {
		return nil, err
	}
	at := &post{dir: dir, end: done}
	if err := p.moveIn(ctx, j, dir, at); err != nil {
		done()
		return nil, err
	}
	return at, nil
}

func (p *Player) moveIn(ctx context.Context, j *board.Job, dir string, at *post) error {
	mirror, a, err := p.mirrored(ctx, j, filepath.Join(dir, "base"))
	if err != nil {
		return err
	}
	remote, err := remoteAt(a.Remote)
	if err != nil {
		return err
	}
	room, err := parcel.OpenRoom(ctx, filepath.Join(dir, "repo.git"), p.Starter, p.Host.Environ, filepath.Join(mirror.CommonDir, "objects"))
	if err != nil {
		return err
	}
	if err := a.identify(ctx, room); err != nil {
		return err
	}
	if at.site, err = place.New(room.Repo, filepath.Join(dir, "trees")); err != nil {
		return err
	}
	logs := filepath.Join(dir, "sessions")
	s := &shipper{
		player: p, job: j, task: j.Task.ID, branch: "refs/heads/" + j.Task.Branch(), attempt: j.Attempt, was: j.Parcels, remote: remote,
		packer: &parcel.Packer{Room: room, Base: []string{a.Base, a.Onto}, Apart: remote != nil}, dir: dir, ctx: ctx,
	}
	one, err := p.earlierParcels(ctx, j, a, remote, room, dir)
	if err == nil && one != nil {
		err = s.goesOn(ctx, one, logs, at.site.Dir(j.Task.ID))
	}
	if err != nil {
		return err
	}
	at.base = func(context.Context) (string, error) { return a.Base, nil }
	at.onto = func(context.Context) (string, error) { return a.Onto, nil }
	at.logs, at.ship, at.moved = logs, s, true
	at.settings = func(tree string) (run.Settings, error) {
		flags := append(slices.Clip(j.Task.Flags), loop.Flag{Name: "session-dir", Values: []string{logs}})
		if is, err := config.ProjectDigest(p.options(tree)); err != nil {
			return run.Settings{}, err
		} else if a.Config != "" && is == a.Config {
			flags = append(flags, loop.Flag{Name: "trust-project", Values: []string{"true"}})
		}
		return run.NewSettings(flags)
	}
	return nil
}

// identify has git know in whose name the commits of an attempt are made.
func (a *answer) identify(ctx context.Context, room *parcel.Room) error {
	for key, value := range map[string]string{"user.name": a.Name, "user.email": a.Email} {
		if value == "" {
			continue
		}
		if _, err := room.Run(ctx, room.Root, "config", key, value); err != nil {
			return err
		}
	}
	return nil
}

// goesOn goes on from what earlier attempts have come to: the branch, and the session, in whose work tree
// the attempt is made now.
func (s *shipper) goesOn(ctx context.Context, one *parcel.Parcel, logs, workTree string) error {
	store, err := session.NewStore(logs)
	if err == nil && one.Branch != "" {
		err = s.packer.Room.Set(ctx, map[string]string{s.branch: one.Branch})
	}
	if err == nil {
		err = one.Unpack(ctx, store, workTree)
	}
	if err == nil && one.Session != "" {
		s.session, s.log = one.Session, store.Path(one.Session)
	}
	return err
}

// earlierParcels takes in what there is of a task already; nil where there is nothing.
func (p *Player) earlierParcels(ctx context.Context, j *board.Job, a answer, remote *parcel.Remote, room *parcel.Room, dir string) (*parcel.Parcel, error) {
	if a.State == "" {
		return p.openSent(ctx, room, dir, &j.Record, remote)
	}
	one, err := p.open(ctx, room, dir, j.Task.ID, []string{a.State})
	p.received(ctx, a.State)
	return one, err
}

// received removes what was sent for this attempt alone.
func (p *Player) received(ctx context.Context, name string) {
	if store, err := p.parcels(ctx); err == nil {
		_ = store.Delete(ctx, name) // else it is swept
	}
}

// mirrored brings the mirror of a repository up to what an attempt needs.
func (p *Player) mirrored(ctx context.Context, j *board.Job, file string) (mirror *parcel.Room, a answer, err error) {
	dir := p.Home.In("mirrors", j.Task.Repository.Key()+".git")
	if mirror, err = p.mirror(ctx, dir); err != nil {
		return nil, a, err
	}
	refs, err := mirror.Refs(ctx, "refs/codeloops/")
	if err != nil {
		return nil, a, err
	}
	var have []string
	for _, id := range refs {
		have = append(have, id)
	}
	if a, err = p.ask(ctx, j, have); err != nil {
		return nil, a, err
	}
	if err := p.download(ctx, a.Bundle, file); err != nil {
		return nil, a, err
	}
	unlock, err := lockedfile.MutexAt(dir + lockEnding).Lock() // git would fail where another one moves the same refs
	if err != nil {
		return nil, a, err
	}
	defer unlock()
	if err := a.fill(ctx, mirror, &j.Task, j.Attempt, file); err != nil {
		return nil, a, err
	}
	if known, err := mirror.Known(ctx, []string{a.Base, a.Onto}); err != nil || len(known) != 2 {
		return nil, a, errors.Join(err, hint.Errorf("remove it: another one is made", "the mirror in %s lacks what the machine of the repository took it to have", dir))
	}
	target := "refs/codeloops/target/" + strings.ReplaceAll(j.Task.Target, "/", "-")
	if err := mirror.Set(ctx, map[string]string{baseRef: a.Base, ontoRef: a.Onto, target: a.Onto}); err != nil {
		return nil, a, err
	}
	_, err = mirror.Run(ctx, mirror.Root, "-c", "gc.auto=6700", "gc", "--auto", "--quiet")
	return mirror, a, err
}

// download fetches what was sent for this attempt alone, if anything was.
func (p *Player) download(ctx context.Context, name, file string) error {
	if name == "" {
		return nil
	}
	defer p.received(context.WithoutCancel(ctx), name)
	store, err := p.parcels(ctx)
	if err != nil {
		return err
	}
	return store.Get(ctx, name, file)
}

// fill takes into a mirror what the home of a task has sent.
func (a *answer) fill(ctx context.Context, mirror *parcel.Room, t *queue.Task, attempt int, file string) error {
	remote, err := remoteAt(a.Remote)
	switch {
	case err != nil:
		return err
	case remote != nil:
		return mirror.Fetch(ctx, remote, t.ID, attempt)
	case a.Bundle != "":
		return mirror.Unbundle(ctx, file, baseRef, ontoRef)
	}
	return nil
}

// mirror opens the mirror of a repository that is on another machine.
func (p *Player) mirror(ctx context.Context, dir string) (*parcel.Room, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, err
	}
	unlock, err := lockedfile.MutexAt(dir + lockEnding).Lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	return parcel.OpenRoom(ctx, dir, p.Starter, p.Host.Environ)
}

// later is when a home is asked again at which there is nobody.
const later = 30 * time.Second

// waits has a task wait until somebody is at its home.
func (p *Player) waits() func(*queue.Record) error {
	now := p.Board.Now()
	return func(r *queue.Record) error {
		r.NotBefore = now.Add(later)
		return r.Move(queue.Waiting, now, errAway.Error())
	}
}

// A presence is what was last known of a home.
type presence struct {
	at     time.Time // when it was asked
	there  bool
	asking bool
}

// fresh is how long it is taken for true.
const fresh = 2 * time.Second

// Reachable reports whether a task of a repository can be begun: it is one of this home, or somebody was
// at its home a moment ago. It asks beside, and does not wait for the answer.
func (p *Player) Reachable(r queue.Repository) bool {
	if r.At(p.Home.ID()) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.homes == nil {
		p.homes = map[string]*presence{}
	}
	h := p.homes[r.Home]
	if h == nil {
		h = &presence{}
		p.homes[r.Home] = h
	}
	if now := p.Host.Now(); !h.asking && now.Sub(h.at) > fresh {
		h.asking = true
		go func() {
			_, err := p.Conn.Request(subjectOf(r.Home), nil, fresh)
			p.mu.Lock()
			defer p.mu.Unlock()
			h.there, h.asking, h.at = err == nil || errors.Is(err, nats.ErrTimeout) && h.there, false, p.Host.Now()
		}()
	}
	return h.there
}
