package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"codeloops/internal/queue/board"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/place"
	"codeloops/internal/queue/source"
	"codeloops/internal/run"
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
	return a, a.problem()
}

// problem returns a refusal as an error; nil is none.
func (r *refusal) problem() (err error) {
	switch {
	case r.Taken != "":
		return fmt.Errorf("%w: %s", source.ErrTaken, r.Taken)
	case r.Merged != "":
		return &mergedError{r.Merged}
	case r.Problem == "":
		return nil
	}
	if err = errors.New(r.Problem); r.Person {
		err = fmt.Errorf("%w%w", err, errPerson)
	}
	if r.Advice != "" {
		err = hint.Add(err, r.Advice)
	}
	return fmt.Errorf("the machine of its repository says: %w", err)
}

// A remoteAttempt is an attempt whose task's repository is on another machine. It has a repository of its own, which
// borrows objects from a mirror and is removed after the attempt.
type remoteAttempt struct {
	player    *Player
	job       *board.Job
	parcelDir *parcelDir
	answer    answer // from the task's home
}

// away prepares an attempt at a task whose repository is on another machine.
func (p *Player) away(ctx context.Context, j *board.Job) (*post, error) {
	d, err := p.parcelDir(ctx, fmt.Sprintf("%s.%d", j.Task.ID, j.Attempt))
	if err != nil {
		return nil, err
	}
	v := &remoteAttempt{player: p, job: j, parcelDir: d}
	at, err := v.post(ctx)
	if err != nil {
		d.close()
	}
	return at, err
}

func (v *remoteAttempt) post(ctx context.Context) (*post, error) {
	if err := v.moveIn(ctx); err != nil {
		return nil, err
	}
	site, err := place.New(v.parcelDir.Repo, v.parcelDir.file("trees"))
	if err != nil {
		return nil, err
	}
	store, err := session.NewStore(v.parcelDir.file("sessions"))
	if err != nil {
		return nil, err
	}
	c := v.upload()
	one, err := v.parcelDir.sent(ctx, &v.job.Record)
	if err == nil && one != nil {
		err = c.goOn(ctx, one, store, within(site.Dir(v.job.Task.ID), &v.job.Task))
	}
	return &post{
		site: site, settings: v.settings, moved: true, dir: v.parcelDir.dir, upload: c, end: v.parcelDir.close,
		onto: func(context.Context) (string, error) { return v.answer.Onto, nil },
	}, err
}

// moveIn asks the home what the attempt needs, and updates the mirror.
func (v *remoteAttempt) moveIn(ctx context.Context) error {
	p, t := v.player, &v.job.Task
	m, err := p.mirror(t.Repository)
	if err != nil {
		return err
	}
	q := question{Task: t.ID, Attempt: v.job.Attempt}
	if q.Have, err = m.has(); err != nil {
		return err
	}
	if v.answer, err = q.ask(ctx, p.Conn, t.Repository.Home); err != nil {
		return err
	}
	if err := v.parcelDir.Borrow(m.Objects()); err != nil {
		return err
	}
	if v.answer.Bundle != "" {
		err = v.parcelDir.get(ctx, v.answer.Bundle)
		v.parcelDir.drop(context.WithoutCancel(ctx), v.answer.Bundle)
	}
	if err != nil {
		return err
	}
	// What the worker has already is in no bundle.
	if known, err := v.parcelDir.Known(ctx, []string{v.answer.Base, v.answer.Onto}); err != nil || len(known) != 2 {
		return errors.Join(err, hint.Errorf("remove it; a new one will be made", "the mirror in %s lacks commits that it should have", m.Root))
	}
	if err := v.parcelDir.Set(ctx, map[string]string{parcel.Base: v.answer.Base, parcel.Onto: v.answer.Onto}); err != nil {
		return err
	}
	if err := m.update(ctx, t.Target, v.parcelDir.Room); err != nil {
		return err
	}
	return v.identify(ctx)
}

// identify configures the author of the attempt's commits.
func (v *remoteAttempt) identify(ctx context.Context) error {
	for key, value := range map[string]string{"user.name": v.answer.Name, "user.email": v.answer.Email} {
		if value == "" {
			continue
		}
		if _, err := v.parcelDir.Run(ctx, v.parcelDir.Root, "config", key, value); err != nil {
			return err
		}
	}
	return nil
}

// settings returns the settings of a run.
func (v *remoteAttempt) settings() (run.Settings, error) {
	return settings(&v.job.Task, "session-dir="+v.parcelDir.file("sessions"))
}

// upload prepares the parcels that the attempt sends home.
func (v *remoteAttempt) upload() *upload {
	t, a := &v.job.Task, &v.answer
	id, tell := t.ID, v.player.Tell
	return &upload{
		job: v.job, parcelDir: v.parcelDir,
		packer: &parcel.Packer{Room: v.parcelDir.Room}, known: []string{a.Base, a.Onto}, task: id, attempt: v.job.Attempt,
		tell: func(sentence string) { tell(id, sentence) },
	}
}
