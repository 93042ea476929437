package play

import (
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Homes are those of other machines, as far as it is known whether somebody is there.
type homes struct {
	mu  sync.Mutex
	all map[string]*presence
}

// A presence is what was last known of a home.
type presence struct {
	at     time.Time // when it was asked
	there  bool
	asking bool
}

// fresh is how long it is taken for true.
const fresh = 2 * time.Second

// there reports whether somebody was at a home a moment ago. It asks beside, and does not wait for the
// answer.
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
