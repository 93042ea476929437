package play

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/nats-io/nats.go"

	"codeloops/internal/queue/board"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/place"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// errAway says that no process at the task's home answers.
var errAway = errors.New("codeloops does not serve the queue on the machine of its repository")

// ask asks the home of a task what an attempt needs.
func (q *question) ask(ctx context.Context, conn *nats.Conn, home string) (a answer, err error) {
	text, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	once, cancel := context.WithTimeout(ctx, longestAnswer)
	defer cancel()
	m, err := conn.RequestWithContext(once, subjectOf(home), text)
	switch {
	case ctx.Err() != nil:
		return a, context.Cause(ctx)
	case errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded):
		return a, errAway
	case err != nil:
		return a, err
	}
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return a, fmt.Errorf("read what the home of the task says: %w", err)
	}
	return a, nil
}

// away prepares an attempt at a task whose repository is on another machine. It has a repository of its own, which borrows
// objects from a mirror and is removed after the attempt.
func (p *Player) away(ctx context.Context, j *board.Job) (at *attempt, err error) {
	d, err := p.parcelDir(ctx, fmt.Sprintf("%s.%d", j.Task.ID, j.Attempt))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	a, err := p.moveIn(ctx, j, d)
	if err != nil {
		return nil, err
	}
	site, err := place.New(d.Repo, d.file("trees"))
	if err != nil {
		return nil, err
	}
	store, err := session.NewStore(d.file("sessions"))
	if err != nil {
		return nil, err
	}
	c := &upload{
		job: j, parcelDir: d, known: []string{a.Base, a.Onto}, attempt: j.Attempt,
		tell: func(sentence string) { p.Tell(j.Of(), sentence) },
	}
	one, err := d.sent(ctx, &j.Record)
	if err == nil {
		err = d.Unpack(ctx, one.Session, j.Task.ID, store, within(site.Dir(j.Task.ID), &j.Task))
	}
	if err == nil && one.Session != "" {
		c.session, c.log = one.Session, store.Path(one.Session)
	}
	return &attempt{
		player: p, job: j, site: site, moved: true, upload: c, flags: []string{"session-dir=" + store.Dir()},
		onto: func(context.Context) (string, error) { return a.Onto, nil },
	}, err
}

// moveIn asks the home what an attempt needs, and updates the mirror.
func (p *Player) moveIn(ctx context.Context, j *board.Job, d *parcelDir) (a answer, err error) {
	t := &j.Task
	m, err := p.mirror(t.Repository)
	if err != nil {
		return a, err
	}
	has, err := m.Refs("refs/codeloops/")
	if err != nil {
		return a, err
	}
	q := question{Task: t.ID, Attempt: j.Attempt, Have: slices.Collect(maps.Values(has))}
	if a, err = q.ask(ctx, p.Conn, t.Repository.Home); err != nil {
		return a, err
	}
	if a.Ended {
		r, err := p.Board.Get(ctx, t.ID)
		if err == nil {
			err = j.Stale(&r)
		}
		return a, cmp.Or(err, errAway)
	}
	if err := d.Borrow(m.Objects()); err != nil {
		return a, err
	}
	if a.Bundle != "" { // it is empty if the mirror has everything
		err = d.get(ctx, a.Bundle)
		d.drop(context.WithoutCancel(ctx), a.Bundle)
	}
	if err != nil {
		return a, err
	}
	if err := d.Set(ctx, map[string]string{parcel.Base: a.Base, parcel.Onto: a.Onto}); err != nil {
		return a, hint.Add(err, "if the mirror in "+m.Root+" is damaged, remove it; a new one will be made")
	}
	if err := d.mirrored(ctx, m, t.Target); err != nil {
		return a, err
	}
	for key, value := range map[string]string{"user.name": a.Name, "user.email": a.Email} { // of the author of the attempt's commits
		if value == "" {
			continue
		}
		if _, err := d.Run(ctx, d.Root, "config", key, value); err != nil {
			return a, err
		}
	}
	return a, nil
}
