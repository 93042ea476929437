package play

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"codeloops/internal/queue"
	"codeloops/internal/wording/hint"
)

// A question is what a worker on another machine asks a task's home before an attempt.
type question struct {
	Task    string   `json:"task"`
	Attempt int      `json:"attempt"`
	Have    []string `json:"have,omitempty"` // commits that the worker has
}

// An answer is what the attempt needs.
type answer struct {
	Base string `json:"base,omitempty"` // commit at which the task begins
	Onto string `json:"onto,omitempty"` // the current commit of its target
	// Bundle is the parcel with what the worker lacks: these commits, and earlier work on the task unless the record's
	// parcels hold it; "" is none.
	Bundle string `json:"bundle,omitempty"`
	Name   string `json:"name,omitempty"` // the user's git identity
	Email  string `json:"email,omitempty"`

	Ended bool `json:"ended,omitempty"` // the attempt cannot be made, and the record says why
}

// longestAnswer is how long a home may take to prepare an answer: a large repository has to be packed.
const longestAnswer = 10 * time.Minute

func subjectOf(home string) string { return "codeloops.home." + home }

// Answer answers questions about tasks of this home, until end is called. If several processes of the home do so,
// each question goes to one of them.
func (p *Player) Answer(ctx context.Context) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var answering sync.WaitGroup
	sub, err := p.Conn.QueueSubscribe(subjectOf(p.Home.ID()), "home", func(m *nats.Msg) {
		answering.Go(func() {
			text, err := json.Marshal(p.answer(ctx, m.Data))
			if err == nil {
				_ = m.Respond(text) // if the hub is away, the worker asks again
			}
		})
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("listen for workers on other machines: %w", err)
	}
	return func() {
		_ = sub.Unsubscribe() // fails only when the connection is closed
		cancel()
		answering.Wait()
	}, nil
}

// answer returns the answer to a question.
func (p *Player) answer(ctx context.Context, text []byte) (a answer) {
	var q question
	err := json.Unmarshal(text, &q)
	if err == nil {
		a, err = p.find(ctx, q)
	}
	if err == nil {
		return a
	}
	move, unable := p.failed(ctx, err)
	if unable != nil { // no other machine has the repository
		move = later(p.Board.Now(), awayFor, hint.Sentence(unable))
	}
	_, _ = p.Board.Change(context.WithoutCancel(ctx), q.Task, func(r *queue.Record) error { // if the hub is away, the worker gives it back
		if err := q.stale(r); err != nil {
			return err
		}
		return move(r)
	})
	return answer{Ended: true}
}

// stale is the error of a question about an attempt that no longer counts.
func (q *question) stale(r *queue.Record) error {
	if r.State != queue.Running || r.Attempt != q.Attempt {
		return queue.ErrStale
	}
	return nil
}

// find collects what an attempt on another machine needs, and sends it.
func (p *Player) find(ctx context.Context, q question) (a answer, err error) {
	r, err := p.Board.Get(ctx, q.Task)
	if err != nil {
		return a, err
	}
	if err := q.stale(&r); err != nil || !r.Task.Repository.At(p.Home.ID()) {
		return a, cmp.Or(err, queue.ErrStale)
	}
	g, err := p.ground(r.Task.Repository)
	if err != nil {
		return a, err
	}
	seen, err := g.look(ctx, &r.Task)
	if err != nil {
		return a, err
	}
	if err := g.claim(ctx, &r.Task); err != nil {
		return a, err
	}
	if a, err = g.begins(ctx, seen, &r); err != nil {
		return a, err
	}
	from, err := p.parcelDir(ctx, "to", g.repo.Objects())
	if err != nil {
		return a, err
	}
	defer from.close()
	return a, g.pack(ctx, from, &r, &a, q.Have)
}
