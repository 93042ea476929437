package hub

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Share serves the queue for as long as a command lasts, until end is called, unless a hub does so
// already. When one goes away that another command has shared, this one takes its place: none of
// them is special. One that was started as a hub is waited for.
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

// standIn serves the queue once the hub that a link leads to has gone, unless it is to be waited
// for. The link finds what is served then by itself.
func (h *Home) standIn(ctx context.Context, link *Link) (end func() error) {
	var served *Hub
	var watching sync.WaitGroup
	at, err := h.address()
	var shared atomic.Bool
	shared.Store(err != nil || at.Shared) // one that has gone already leaves nobody to wait for
	link.standsIn = shared.Load
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // a command that is to end has work to end first
	watching.Go(func() {
		t := time.NewTicker(look)
		defer t.Stop()
		for served == nil {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
			}
			if at, err := h.address(); err == nil { // else it has ended well
				shared.Store(at.Shared)
			}
			if shared.Load() && !link.IsConnected() {
				served, _ = h.Serve(ctx, Options{shared: true}) // another one may be faster, and what is wrong shows again
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
