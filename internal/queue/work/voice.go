package work

import (
	"sync"

	"codeloops/internal/queue/board"
	"codeloops/internal/wording/hint"
)

// A voice reports problems, each only once until it is over.
type voice struct {
	mu   sync.Mutex
	last string
}

// trouble reports an error, unless it was the last one reported; nil means that the problem is over. All errors of
// a hub that does not answer count as one.
func (v *voice) trouble(tell func(string), err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil {
		v.last = ""
		return
	}
	text := hint.Sentence(err)
	if board.Unreachable(err) {
		text = "the hub does not answer; tasks go on, and report to it when it does (is its disk full, or is it gone? Its own output says so)"
	}
	if text != v.last {
		tell(text)
	}
	v.last = text
}
