package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"codeloops/internal/config"
	"codeloops/internal/queue"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/merge"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/queue/source"
	"codeloops/internal/run"
	"codeloops/internal/session"
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

// Answer answers workers on other machines that ask for tasks of this home, until end is called. Any
// number of processes of the home may do so: each question is one's.
func (p *Player) Answer(ctx context.Context) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	sub, err := p.Conn.QueueSubscribe(subjectOf(p.Home.ID()), "home", func(m *nats.Msg) {
		p.answering.Go(func() { p.answer(ctx, m) })
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("listen for workers on other machines: %w", err)
	}
	return func() {
		_ = sub.Unsubscribe() // the connection ends, else
		cancel()
		p.answering.Wait()
	}, nil
}

func (p *Player) answer(ctx context.Context, m *nats.Msg) {
	if len(m.Data) == 0 { // whoever asks wants to know whether somebody is here
		_ = m.Respond(nil)
		return
	}
	done := make(chan answer, 1)
	go func() { done <- p.found(ctx, m.Data) }()
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
func (p *Player) found(ctx context.Context, text []byte) answer {
	var q question
	err := json.Unmarshal(text, &q)
	var a answer
	if err == nil {
		a, err = p.find(ctx, q)
	}
	if errors.Is(err, source.ErrTaken) {
		return answer{Taken: err.Error()}
	}
	if err != nil {
		a.Problem = err.Error()
		a.Advice, _ = hint.Of(err)
	}
	return a
}

func (p *Player) find(ctx context.Context, q question) (a answer, err error) {
	r, err := p.Board.Get(ctx, q.Task)
	if err != nil {
		return a, err
	}
	if !r.Task.Repository.At(p.Home.ID()) || r.State != queue.Running || r.Attempt != q.Attempt {
		return a, queue.ErrStale
	}
	repo, _, merger, err := p.in(ctx, r.Task.Repository)
	if err != nil {
		return a, err
	}
	if err := p.claim(ctx, &r.Task); err != nil {
		return a, err
	}
	if a, err = p.begins(ctx, repo, merger, &r); err != nil {
		return a, err
	}
	remote, err := p.through(ctx, repo, &r)
	if err != nil {
		return a, err
	}
	if remote != nil {
		a.Remote = remote.URL
	}
	err = p.pack(ctx, q, &r, repo, remote, &a)
	return a, err
}

// pack sends what whoever asks does not have.
func (p *Player) pack(ctx context.Context, q question, r *queue.Record, repo *git.Repo, remote *parcel.Remote, a *answer) error {
	dir, done, err := p.scratch("to." + nuid.Next())
	if err != nil {
		return err
	}
	defer done()
	room, err := parcel.OpenRoom(ctx, filepath.Join(dir, "repo.git"), p.Starter, p.Host.Environ, filepath.Join(repo.CommonDir, "objects"))
	if err == nil {
		err = room.Set(ctx, map[string]string{baseRef: a.Base, ontoRef: a.Onto})
	}
	if err != nil {
		return err
	}
	if remote != nil {
		at := parcel.RefsOf(r.Task.ID, r.Attempt)
		err = room.Push(ctx, remote, map[string]string{at + baseName: a.Base, at + ontoName: a.Onto})
	} else {
		a.Bundle, err = p.bundle(ctx, q, r, room, filepath.Join(dir, "base"))
	}
	if err == nil && r.Parcels.Count == 0 {
		packer := &parcel.Packer{Room: room, Base: []string{a.Base, a.Onto}, Apart: remote != nil}
		a.State, err = p.state(ctx, r, repo, packer, remote, filepath.Join(dir, "state"))
	}
	return err
}

// bundle sends the base of a task; "" where whoever asks has it.
func (p *Player) bundle(ctx context.Context, q question, r *queue.Record, room *parcel.Room, file string) (name string, err error) {
	have, err := room.Known(ctx, q.Have)
	if err != nil {
		return "", err
	}
	if ok, err := room.Bundle(ctx, file, []string{baseRef, ontoRef}, have); err != nil || !ok {
		return "", err
	}
	return p.send(ctx, r, file)
}

// begins says where a task begins, and under what terms.
func (p *Player) begins(ctx context.Context, repo *git.Repo, merger *merge.Merger, r *queue.Record) (a answer, err error) {
	if shallow, err := repo.Run(ctx, repo.Root, "rev-parse", "--is-shallow-repository"); err != nil || shallow == "true" {
		return a, errors.Join(err, hint.Errorf("git fetch --unshallow, in "+repo.Root,
			"the repository is a shallow clone, and cannot be sent to another machine"))
	}
	if a.Onto, err = merger.Onto(ctx, r.Task.Target); err != nil {
		return a, err
	}
	if a.Base = r.Base; a.Base == "" {
		a.Base = a.Onto
	}
	if a.Config, err = config.TrustedDigest(p.options(repo.Root)); err != nil {
		return a, err
	}
	a.Name, _ = repo.Run(ctx, repo.Root, "config", "user.name") // of a user who has said neither, codeloops commits
	a.Email, _ = repo.Run(ctx, repo.Root, "config", "user.email")
	return a, nil
}

// send sends a file to whoever asked for a task.
func (p *Player) send(ctx context.Context, r *queue.Record, file string) (name string, err error) {
	store, err := p.parcels(ctx)
	if err != nil {
		return "", err
	}
	name = fmt.Sprintf("%s.to.%d.%s", r.Task.ID, r.Attempt, nuid.Next())
	return name, store.Put(ctx, name, file)
}

// state sends what there is here of a task; "" where there is nothing.
func (p *Player) state(ctx context.Context, r *queue.Record, repo *git.Repo, packer *parcel.Packer, remote *parcel.Remote, file string) (name string, err error) {
	m := parcel.Manifest{Task: r.Task.ID, Attempt: r.Attempt}
	if m.Branch, _, err = repo.Commit(ctx, "refs/heads/"+r.Task.Branch()); err != nil {
		return "", err
	}
	logs, err := p.logsAt(&r.Task, r.Task.Repository.Root)
	if err != nil {
		return "", err
	}
	store, err := session.NewStore(logs)
	if err != nil {
		return "", err
	}
	log := store.Path(r.Progress.Session)
	if r.Progress.Session != "" && session.Look(log).Err == nil {
		fresh, err := packer.Log(log)
		if err != nil {
			return "", err
		}
		if fresh {
			m.Session = r.Progress.Session
		}
	}
	if m.Branch == "" && m.Session == "" {
		return "", nil
	}
	if remote != nil && m.Branch != "" {
		if err := packer.Room.Push(ctx, remote, map[string]string{parcel.RefsOf(r.Task.ID, r.Attempt) + branchName: m.Branch}); err != nil {
			return "", err
		}
	}
	if err := packer.Pack(ctx, m, log, file); err != nil {
		return "", err
	}
	return p.send(ctx, r, file)
}

// logsAt is the directory of the session logs of a task whose repository is here.
func (p *Player) logsAt(t *queue.Task, root string) (string, error) {
	settings, err := p.settings(t, root, root)
	if err != nil {
		return "", err
	}
	h := *p.Host
	h.Dir = root
	return p.logs(run.Options{Host: &h, Settings: settings})
}
