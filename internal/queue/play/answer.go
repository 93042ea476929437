package play

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"codeloops/internal/queue"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/source"
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
	Busy bool   `json:"busy,omitempty"` // only a sign of life; the answer takes longer
	Base string `json:"base,omitempty"` // commit at which the task begins
	Onto string `json:"onto,omitempty"` // the current commit of its target
	// Bundle is the parcel with what the worker lacks: these commits, and earlier work on the task unless the record's
	// parcels hold it; "" is none.
	Bundle string `json:"bundle,omitempty"`
	// Remote is the URL of the git remote that carries everything in both directions; "": it travels in bundles.
	Remote string `json:"remote,omitempty"`
	Name   string `json:"name,omitempty"` // the user's git identity
	Email  string `json:"email,omitempty"`

	refusal
}

// A refusal says why the attempt cannot be made; its zero value is none.
type refusal struct {
	Taken   string `json:"taken,omitempty"` // the origin says that somebody else has the task
	Problem string `json:"problem,omitempty"`
	Advice  string `json:"advice,omitempty"`
	Later   bool   `json:"later,omitempty"`  // the problem is an unreachable git remote
	Person  bool   `json:"person,omitempty"` // somebody must look at the repository
}

// answerBeat is the interval of signs of life while an answer is prepared; after silence without one, the home counts
// as gone.
const (
	answerBeat = 2 * time.Second
	silence    = 10 * time.Second
)

func subjectOf(home string) string { return "codeloops.home." + home }

// An answerer answers workers on other machines.
type answerer struct {
	player    *Player
	answering sync.WaitGroup
}

// Answer answers questions about tasks of this home, until end is called. If several processes of the home do so,
// each question goes to one of them.
func (p *Player) Answer(ctx context.Context) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	d := &answerer{player: p}
	sub, err := p.Conn.QueueSubscribe(subjectOf(p.Home.ID()), "home", func(m *nats.Msg) {
		d.answering.Go(func() { d.answer(ctx, m) })
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("listen for workers on other machines: %w", err)
	}
	return func() {
		_ = sub.Unsubscribe() // fails only when the connection is closed
		cancel()
		d.answering.Wait()
	}, nil
}

// answer answers one question, with signs of life until the answer is ready.
func (d *answerer) answer(ctx context.Context, m *nats.Msg) {
	if len(m.Data) == 0 { // only asks whether somebody is here
		_ = m.Respond(nil)
		return
	}
	done := make(chan answer, 1)
	go func() { done <- d.found(ctx, m.Data) }()
	t := time.NewTicker(answerBeat)
	defer t.Stop()
	for a := (answer{Busy: true}); a.Busy; {
		select {
		case <-t.C:
		case a = <-done:
		}
		text, err := json.Marshal(a)
		if err == nil {
			_ = m.Respond(text) // if the hub is away, the worker asks again
		}
	}
}

// found returns the answer to a question.
func (d *answerer) found(ctx context.Context, text []byte) answer {
	var q question
	err := json.Unmarshal(text, &q)
	var a answer
	if err == nil {
		a, err = d.find(ctx, q)
	}
	if errors.Is(err, source.ErrTaken) {
		return answer{refusal: refusal{Taken: err.Error()}}
	}
	if err != nil {
		a.Problem = err.Error()
		a.Advice, _ = hint.Of(err)
		_, a.Later = errors.AsType[*parcel.AwayError](err)
		a.Person = needsPerson(err)
	}
	return a
}

// find collects what an attempt on another machine needs, and sends it.
func (d *answerer) find(ctx context.Context, q question) (a answer, err error) {
	p := d.player
	r, err := p.Board.Get(ctx, q.Task)
	if err != nil {
		return a, err
	}
	if !r.Task.Repository.At(p.Home.ID()) || r.State != queue.Running || r.Attempt != q.Attempt {
		return a, queue.ErrStale
	}
	g, err := p.ground(r.Task.Repository)
	if err != nil {
		return a, err
	}
	if err := g.claim(ctx, &r.Task); err != nil {
		return a, err
	}
	if a, err = g.begins(ctx, &r); err != nil {
		return a, err
	}
	from, err := p.parcelDir(ctx, "to."+rand.Text(), g.repo)
	if err != nil {
		return a, err
	}
	defer from.close()
	out := &departure{ground: g, parcelDir: from, record: &r, answer: &a}
	err = out.pack(ctx, q.Have)
	return a, err
}
