package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"codeloops/internal/queue"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/source"
	"codeloops/internal/wording/hint"
)

// A question is what a worker on another machine asks the home of a task's repository, before it begins
// an attempt.
type question struct {
	Task    string   `json:"task"`
	Attempt int      `json:"attempt"`
	Have    []string `json:"have,omitempty"` // commits of the repository
}

// An answer has what the attempt needs from there.
type answer struct {
	Busy   bool   `json:"busy,omitempty"` // it is not the answer: that takes a while
	Base   string `json:"base,omitempty"` // where the task begins
	Onto   string `json:"onto,omitempty"` // what its target is by now
	Bundle string `json:"bundle,omitempty"`
	// Remote is the URL of the git remote through which commits travel, both ways; "": bundles have them.
	Remote string `json:"remote,omitempty"`
	// State is a parcel with what there is of the task; "": the record names what there is.
	State  string `json:"state,omitempty"`
	Config string `json:"config,omitempty"` // of the project, as the user trusts it
	Name   string `json:"name,omitempty"`   // of the user, to git
	Email  string `json:"email,omitempty"`

	Taken   string `json:"taken,omitempty"` // the origin of the task says that somebody else has it
	Problem string `json:"problem,omitempty"`
	Advice  string `json:"advice,omitempty"`
	Later   bool   `json:"later,omitempty"` // the problem is that a git remote is away
}

// The refs of a bundle with the base of a task.
const (
	baseRef = "refs/codeloops/base"
	ontoRef = "refs/codeloops/onto"
)

// How often whoever is asked says that it is at work, and how long nothing may be heard of it.
const (
	atWork  = 2 * time.Second
	silence = 10 * time.Second
)

func subjectOf(home string) string { return "codeloops.home." + home }

// A desk answers workers on other machines.
type desk struct {
	player    *Player
	answering sync.WaitGroup
}

// Answer answers workers on other machines that ask for tasks of this home, until end is called. Any
// number of processes of the home may do so: each question is one's.
func (p *Player) Answer(ctx context.Context) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	d := &desk{player: p}
	sub, err := p.Conn.QueueSubscribe(subjectOf(p.Home.ID()), "home", func(m *nats.Msg) {
		d.answering.Go(func() { d.answer(ctx, m) })
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("listen for workers on other machines: %w", err)
	}
	return func() {
		_ = sub.Unsubscribe() // the connection ends, else
		cancel()
		d.answering.Wait()
	}, nil
}

// answer answers one of them, and says that it is at work until it has the answer.
func (d *desk) answer(ctx context.Context, m *nats.Msg) {
	if len(m.Data) == 0 { // whoever asks wants to know whether somebody is here
		_ = m.Respond(nil)
		return
	}
	done := make(chan answer, 1)
	go func() { done <- d.found(ctx, m.Data) }()
	t := time.NewTicker(atWork)
	defer t.Stop()
	for a := (answer{Busy: true}); a.Busy; {
		select {
		case <-t.C:
		case a = <-done:
		}
		text, err := json.Marshal(a)
		if err == nil {
			_ = m.Respond(text) // a hub that is away is asked again
		}
	}
}

// found is the answer to a question.
func (d *desk) found(ctx context.Context, text []byte) answer {
	var q question
	err := json.Unmarshal(text, &q)
	var a answer
	if err == nil {
		a, err = d.find(ctx, q)
	}
	if errors.Is(err, source.ErrTaken) {
		return answer{Taken: err.Error()}
	}
	if err != nil {
		a.Problem = err.Error()
		a.Advice, _ = hint.Of(err)
		_, a.Later = errors.AsType[*parcel.AwayError](err)
	}
	return a
}

// find finds what an attempt on another machine needs, and sends that.
func (d *desk) find(ctx context.Context, q question) (a answer, err error) {
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
	from, err := p.depot(ctx, "to."+nuid.Next(), g.repo)
	if err != nil {
		return a, err
	}
	defer from.close()
	out := &departure{ground: g, depot: from, record: &r, answer: &a}
	err = out.pack(ctx, q.Have)
	return a, err
}
