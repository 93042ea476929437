package play

import (
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

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
