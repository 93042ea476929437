package export

import (
	"bytes"

	"codeloops/internal/session"
)

// A Live shows a session as parts of an HTML page while the session goes on, as [Write] shows it afterwards. What
// agents wrote is text in it.
type Live struct {
	page  *page
	parts bytes.Buffer
}

// NewLive begins at the beginning of a log.
func NewLive(o Options) *Live {
	o.Format = HTML
	l := &Live{page: newPage(nil, o)}
	l.page.out, l.page.live = &l.parts, true
	return l
}

// Take takes the next entry of the log, and returns the parts that are whole with it.
func (l *Live) Take(entry session.Entry) (parts string, err error) {
	l.parts.Reset()
	l.page.event(entry)
	_ = l.page.state.Handle(entry.At, entry.Event) // never fails
	if l.page.state.Forks().Takes(entry.At, entry.Event) {
		l.page.change = l.page.before
	}
	return l.parts.String(), l.page.err
}

// Open returns the turns of the iteration that is not whole yet, "" if there are none. It may be asked again.
func (l *Live) Open() (part string, err error) {
	l.parts.Reset()
	if len(l.page.turns)+len(l.page.notes) == 0 {
		return "", nil
	}
	turns, notes := l.page.turns, l.page.notes
	l.page.brokeOff(true)
	l.page.turns, l.page.notes = turns, notes
	return l.parts.String(), l.page.err
}

// End returns the end of the page, once there are no more entries.
func (l *Live) End() (part string, err error) {
	l.parts.Reset()
	l.page.brokeOff(false)
	l.page.end()
	return l.parts.String(), l.page.err
}

// Style is what the parts look like.
func Style() string { return style }
