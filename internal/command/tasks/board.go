package tasks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"codeloops/internal/command"
	"codeloops/internal/command/steering"
	"codeloops/internal/loop"
	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
	"codeloops/internal/queue/hub"
	"codeloops/internal/screen/queueview"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording/hint"
)

// watch shows the board of this repository's tasks until the user leaves it.
func (q *Access) watch(ctx context.Context) error {
	return q.open(ctx, (*hub.Home).Share, func(b *backlog) error {
		here, err := b.repository()
		if err != nil {
			return err
		}
		ctx, leave := context.WithCancelCause(ctx)
		defer leave(nil)
		var budgets atomic.Pointer[queue.Budgets]
		budgets.Store(&queue.Budgets{})
		p := &queueview.Progress{Streams: b.Streams, Now: b.Now, Of: func(r queue.Repository) bool { return r == here }, Home: b.home.ID(), Keys: b.keys(ctx)}
		p.Keys.Leave = func() { leave(errLeft) }
		watch, gone, shown := p.Draw(queue.Backlog{}, b.on.Now, func() queue.Budgets { return *budgets.Load() })
		defer shown()
		go b.on.FollowBudgets(ctx, func(all queue.Budgets) { budgets.Store(&all) }) //nolint:errcheck // the board shows the last ones
		for {
			err := b.on.Follow(ctx, func(c board.Update) {
				if c.Record != nil {
					watch(*c.Record)
				} else {
					gone(c.ID)
				}
			})
			switch {
			case errors.Is(err, errLeft):
				return nil
			case !errors.Is(err, board.ErrAway):
				return err
			}
		}
	})
}

// errLeft says that the user has left the board.
var errLeft = errors.New("the board was left")

// keys do on a board what the commands of the queue do. Where nobody can type there are none.
func (b *backlog) keys(ctx context.Context) queueview.Keys {
	if !b.InTTY || !b.ErrTTY {
		return queueview.Keys{}
	}
	return queueview.Keys{Do: func(key queueview.Key, r queue.Record, words string, own *term.Streams) (string, error) {
		switch key {
		case queueview.Open, queueview.Diff:
			return "", b.onTerminal(own).look(ctx, key, &r)
		case queueview.Stop:
			return b.steer(ctx, &r, loop.SteerStop, "")
		case queueview.Say:
			return b.say(ctx, &r, words)
		case queueview.Retry:
			_, err := b.on.Change(ctx, r.Task.ID, func(r *queue.Record) error { return b.retry(r, "") })
			return "", err
		case queueview.Cancel:
			_, err := b.on.Change(ctx, r.Task.ID, b.cancel)
			return "", err
		case queueview.Accept:
			return "", b.accept(ctx, &r)
		case queueview.Leave:
		}
		return "", nil
	}}
}

// onTerminal is the backlog for a terminal that it owns.
func (b *backlog) onTerminal(own *term.Streams) *backlog {
	console, access, copied := *b.Console, *b.Access, *b
	console.Streams, access.Console, copied.Access = own, &console, &access
	return &copied
}

// look shows a task that is worked on here live, and of any other one everything, or what its result changes.
func (b *backlog) look(ctx context.Context, key queueview.Key, r *queue.Record) error {
	if key == queueview.Diff {
		return b.diff(ctx, r, false)
	}
	if r.State == queue.Running && r.Progress.Session != "" && r.Worker.Home == b.home.ID() {
		l := b.Logs()
		l.All = true
		err := steering.Watch(ctx, l, "", r.Progress.Session)
		if _, ended := errors.AsType[*command.EndedError](err); ended {
			return nil // the board shows how
		}
		return lostWorker(err, r.Task.ID)
	}
	return b.Page(ctx, false, func(ctx context.Context, w io.Writer) error { return b.show(ctx, w, r) })
}

// steer asks the run of a task for something.
func (b *backlog) steer(ctx context.Context, r *queue.Record, kind loop.SteerKind, words string) (string, error) {
	if r.State != queue.Running || r.Progress.Session == "" || r.Worker.Home != b.home.ID() {
		return "", hint.Errorf("x cancels it", "task %s does not run on this machine", r.Task.ID)
	}
	at, err := b.Logs().Run(ctx, r.Progress.Session)
	if err == nil {
		_, err = at.Client.Ask(ctx, kind, words)
	}
	if err != nil {
		return "", err
	}
	if kind == loop.SteerStop {
		return fmt.Sprintf("task %s stops after this iteration", r.Task.ID), nil
	}
	return fmt.Sprintf("task %s was told", r.Task.ID), nil
}

// say tells a running task something, sends a result back that waits for the user's word, or has a task tried again.
func (b *backlog) say(ctx context.Context, r *queue.Record, words string) (string, error) {
	if r.State == queue.Running {
		return b.steer(ctx, r, loop.SteerSay, words)
	}
	_, err := b.on.Change(ctx, r.Task.ID, func(r *queue.Record) error {
		switch {
		case r.AwaitsWord():
			return r.Reject(b.on.Now(), words)
		case r.State == queue.Waiting:
			r.Say(words)
			return nil
		}
		return b.retry(r, words)
	})
	return "", err
}
