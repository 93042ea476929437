package hub

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Share serves the queue until end is called, unless a hub does so already. If that one was also shared by a
// command and goes away, this process takes over. A hub that was started by codeloops hub is waited for.
func (h *Home) Share(ctx context.Context) (link *Link, end func() error, err error) {
	served, err := h.Serve(ctx, Options{shared: true})
	if errors.Is(err, ErrServed) {
		if link, err = h.Connect(ctx); err != nil {
			return nil, nil, err
		}
		return link, h.standIn(ctx, link), nil
	}
	if err != nil {
		return nil, nil, err
	}
	if link, err = served.Connect(); err != nil {
		return nil, nil, errors.Join(err, served.Close())
	}
	return link, served.Close, nil
}

// standIn serves the queue once the hub behind a link is gone, unless that will come back. The link reconnects to
// the new one.
func (h *Home) standIn(ctx context.Context, link *Link) (end func() error) {
	var served *Hub
	var watching sync.WaitGroup
	at, err := h.address()
	var shared atomic.Bool
	shared.Store(err != nil || at.Shared) // if there is no address, nobody will come back
	link.standsIn = shared.Load
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // a command that is ending still has work to do
	watching.Go(func() {
		t := time.NewTicker(look)
		defer t.Stop()
		for served == nil {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			if at, err := h.address(); err == nil { // a hub that ended properly has no address
				shared.Store(at.Shared)
			}
			if shared.Load() && !link.IsConnected() {
				served, _ = h.Serve(ctx, Options{shared: true}) // another process may win; other errors will show up again
			}
		}
	})
	return func() error {
		stop()
		watching.Wait()
		if served == nil {
			return nil
		}
		return served.Close()
	}
}
