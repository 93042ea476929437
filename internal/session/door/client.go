package door

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/session"
	"codeloops/internal/session/standing"
	"codeloops/internal/wording"
)

// A Client talks to a run through its door. It is safe for concurrent use.
type Client struct {
	Path     string        // of the door; "": that of the session, whose lock is in Locks
	Locks    string        // the user's directory for locks
	Session  string        // the session that is meant; "": whichever runs
	Patience time.Duration // how long to wait for an answer; 0: some seconds
	Watches  bool          // people are shown what changes, so the run should look at the work tree

	mu    sync.Mutex
	last  standing.Asked
	since int    // the sequence number of what agents did last, as far as the run has told it
	found string // the path in place of one that is not known
}

// enough is how long to wait for a run: longer than a run waits for its clients.
const enough = 5 * time.Second

const mostAnswered = 8 * mostDiff // bytes: as JSON a diff may be longer

// Look asks where the run stands. The error is [ErrShut] if there is no run.
func (c *Client) Look(ctx context.Context) (standing.Standing, error) {
	a, err := c.ask(ctx, question{Ask: askLook})
	return orZero(a.Standing), err
}

// Ask makes a request, and returns where the run stands then. The error is as that of
// [loop.Steering.Steer], a [*RefusedError], a [*LongError], or [ErrShut].
func (c *Client) Ask(ctx context.Context, kind loop.SteerKind, text string) (standing.Standing, error) {
	if len(text) > mostSaid {
		return standing.Standing{}, &LongError{len(text)}
	}
	a, err := c.ask(ctx, question{Ask: string(kind), Text: wording.Clean(text)})
	return orZero(a.Standing), err
}

// Steer is [Client.Ask] for those who watch on a screen.
func (c *Client) Steer(kind loop.SteerKind, text string) error {
	_, err := c.Ask(context.Background(), kind, text)
	return err
}

// Hurry ends a wait for a service.
func (c *Client) Hurry() { _, _ = c.ask(context.Background(), question{Ask: askHurry}) }

// Diff asks what has changed since the session's beginning.
func (c *Client) Diff(ctx context.Context) (patch string, err error) {
	ctx, cancel := context.WithTimeout(ctx, looking)
	defer cancel()
	a, err := c.talk(ctx, question{Ask: askDiff})
	return a.Diff, err
}

// Asked says what users had asked for when the run last answered.
func (c *Client) Asked() (stop, pause bool, words int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last.Stop, c.last.Pause, c.last.Words
}

// Doing returns what agents did since it was last called, as far as the run still knows it: nothing if there is no
// run. It is not called concurrently.
func (c *Client) Doing(ctx context.Context) []progress.Instant {
	a, err := c.ask(ctx, question{Ask: askLook, Watched: c.Watches, Doing: true, Since: c.since})
	if err != nil { // a run that is over says so in its log
		return nil
	}
	if n := len(a.Doing); n > 0 {
		c.since = a.Doing[n-1].At.Seq
	}
	return a.Doing
}

func (c *Client) ask(ctx context.Context, q question) (a answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Patience, enough))
	defer cancel()
	if a, err = c.talk(ctx, q); err == nil && a.Standing != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.last = a.Standing.Asked
	}
	return a, err
}

func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// path is that of the door, "" if there is none.
func (c *Client) path() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found = cmp.Or(c.Path, c.found); c.found == "" && c.Locks != "" {
		for _, h := range session.Holders(c.Locks) {
			if h.Lock.Session == c.Session {
				c.found = h.Door
			}
		}
	}
	return c.found
}

func (c *Client) talk(ctx context.Context, q question) (a answer, err error) {
	q.Session = c.Session
	var line bytes.Buffer
	written := json.NewEncoder(&line)
	written.SetEscapeHTML(false) // an escape takes six bytes instead of one
	if err := written.Encode(q); err != nil {
		return a, err
	}
	path := c.path()
	if path == "" {
		return a, ErrShut
	}
	socket := socketOf(path)
	if err := own(filepath.Dir(socket)); err != nil && socket != path {
		return a, c.failed(err)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return a, c.failed(err)
	}
	defer conn.Close() //nolint:errcheck // it served one question
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	_, asked := conn.Write(line.Bytes()) // a refusal may come before all of it was read
	text, err := bufio.NewReader(io.LimitReader(conn, mostAnswered)).ReadBytes('\n')
	if err != nil {
		return a, c.failed(errors.Join(asked, err))
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("read what the run answers: %w", err)
	}
	return a, a.err()
}

// failed says why the run was not reached.
func (c *Client) failed(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("%w: %s", ErrShut, c.path())
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return errors.New("the run does not answer: is it stopped, or the machine asleep?")
	}
	return fmt.Errorf("reach the run: %w", err)
}
