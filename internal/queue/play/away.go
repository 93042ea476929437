package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

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
	inbox := conn.NewRespInbox()
	sub, err := conn.SubscribeSync(inbox)
	if err != nil {
		return a, err
	}
	defer sub.Unsubscribe() //nolint:errcheck // nothing more is read
	if err := conn.PublishRequest(subjectOf(home), inbox, text); err != nil {
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
			return a, errAway // nobody is there, or nobody any more
		}
		a = answer{}
		if err := json.Unmarshal(m.Data, &a); err != nil {
			return a, fmt.Errorf("read what the home of the task says: %w", err)
		}
	}
	return a, a.problem()
}

// problem returns a refusal as an error; nil is none.
func (r *refusal) problem() (err error) {
	switch {
	case r.Taken != "":
		return fmt.Errorf("%w: %s", source.ErrTaken, r.Taken)
	case r.Problem == "":
		return nil
	}
	if err = errors.New(r.Problem); r.Later {
		err = &parcel.AwayError{Problem: r.Problem}
	}
	if r.Person {
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
	answer    answer         // from the task's home
	remote    *parcel.Remote // carries the work; nil is the hub
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
	c := v.upload(site)
	one, err := v.parcelDir.sent(ctx, &v.job.Record, v.remote)
	if err == nil && one != nil {
		err = c.goOn(ctx, one, store, within(site.Dir(v.job.Task.ID), &v.job.Task))
	}
	return &post{
		site: site, settings: v.settings, moved: true, dir: v.parcelDir.dir, upload: c, end: v.parcelDir.close,
		base: func(context.Context) (string, error) { return v.answer.Base, nil },
		onto: func(context.Context) (string, error) { return v.answer.Onto, nil },
	}, err
}

// moveIn asks the home what the attempt needs, and updates the mirror.
func (v *remoteAttempt) moveIn(ctx context.Context) error {
	p, t := v.player, &v.job.Task
	m, err := p.mirror(ctx, t.Repository)
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
	if v.remote, err = remoteAt(v.answer.Remote); err != nil {
		return err
	}
	if err := v.parcelDir.Borrow(m.objects()); err != nil {
		return err
	}
	switch {
	case v.remote != nil:
		err = v.parcelDir.Fetch(ctx, v.remote, t.ID, q.Attempt)
	case v.answer.Bundle != "":
		err = v.parcelDir.get(ctx, v.answer.Bundle)
		v.parcelDir.drop(context.WithoutCancel(ctx), v.answer.Bundle)
	}
	if err != nil {
		return err
	}
	// What the worker has already is in no bundle.
	if known, err := v.parcelDir.Known(ctx, []string{v.answer.Base, v.answer.Onto}); err != nil || len(known) != 2 {
		return errors.Join(err, hint.Errorf("remove it; a new one will be made", "the mirror in %s lacks commits that it should have", m.dir))
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
func (v *remoteAttempt) upload(site *place.Site) *upload {
	t, a := &v.job.Task, &v.answer
	id, tell := t.ID, v.player.Tell
	return &upload{
		job: v.job, parcelDir: v.parcelDir, site: site, remote: v.remote, branch: "refs/heads/" + t.Branch(),
		packer: &parcel.Packer{Room: v.parcelDir.Room}, known: []string{a.Base, a.Onto}, task: id, attempt: v.job.Attempt,
		tell: func(sentence string) { tell(id, sentence) },
	}
}

// Homes remembers which homes on other machines are attended.
type homes struct {
	mu  sync.Mutex
	all map[string]*presence
}

// A presence is the last known state of a home.
type presence struct {
	at     time.Time // of the last request
	there  bool
	asking bool
}

// fresh is how long a presence is valid.
const fresh = 2 * time.Second

// there reports whether somebody was at a home a moment ago. It asks again in the background.
func (o *homes) there(home string, conn *nats.Conn, now func() time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[string]*presence{}
	}
	h := o.all[home]
	if h == nil {
		h = &presence{}
		o.all[home] = h
	}
	if !h.asking && now().Sub(h.at) > fresh {
		h.asking = true
		go func() {
			_, err := conn.Request(subjectOf(home), nil, fresh)
			o.mu.Lock()
			defer o.mu.Unlock()
			h.there, h.asking, h.at = err == nil || errors.Is(err, nats.ErrTimeout) && h.there, false, now()
		}()
	}
	return h.there
}
