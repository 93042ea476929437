package door

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/session/standing"
	"codeloops/internal/wording"
)

// A Run takes the requests. It is safe for concurrent use, and its methods never block, except
// Diff, and Steer for a moment: when it returns, the log has what was said.
type Run interface {
	Steer(kind loop.SteerKind, text string) error
	Hurry()
	Asked() (stop, pause bool, words int)
	Standing() standing.Standing
	// Recent returns what agents did since the event of a sequence number, as far as the run still knows it.
	Recent(since int) []progress.Instant
	// Watched says that people are being shown what changes. It holds for some seconds.
	Watched()
	// Diff returns what has changed since the session's beginning. It may take long.
	Diff(ctx context.Context) (patch string, err error)
}

// A Door is the socket of a run.
type Door struct {
	run      Run
	listener *net.UnixListener
	slots    chan struct{}
	shut     context.CancelFunc
	ended    sync.WaitGroup
}

// Open creates the socket of a run at a path, replacing one that a killed run has left, and
// answers there until the door is closed. The caller makes sure that no other run uses the
// path.
func Open(ctx context.Context, path string, run Run) (*Door, error) {
	listener, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("make the socket of the run: %w", err)
	}
	ctx, shut := context.WithCancel(context.WithoutCancel(ctx)) // a run that is cancelled still answers until it has ended
	d := &Door{run: run, listener: listener, slots: make(chan struct{}, mostAtOnce), shut: shut}
	d.ended.Go(func() { d.accept(ctx) })
	return d, nil
}

func listen(path string) (*net.UnixListener, error) {
	socket := socketOf(path)
	err := os.MkdirAll(filepath.Dir(socket), 0o700)
	if err == nil {
		err = own(filepath.Dir(socket))
	}
	if err == nil {
		err = remove(path)
	}
	if err != nil {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// Close removes the socket. It first answers the questions that were asked.
func (d *Door) Close() error {
	d.shut()
	err := d.listener.Close() // removes the socket
	d.ended.Wait()
	return err
}

func (d *Door) accept(ctx context.Context) {
	for {
		c, err := d.listener.AcceptUnix()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = c.Close()
			}
			return
		case err != nil: // too many files are open, for instance
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			continue
		}
		select {
		case d.slots <- struct{}{}:
			d.ended.Go(func() {
				defer func() { <-d.slots }()
				d.serve(ctx, c)
			})
		default:
			_ = c.Close()
		}
	}
}

// serve answers one question. The client has some time to ask it, and some to take the answer.
func (d *Door) serve(ctx context.Context, c *net.UnixConn) {
	defer c.Close()                                                                   //nolint:errcheck // whoever asked knows by then
	_ = c.SetReadDeadline(time.Now().Add(patience))                                   //nolint:forbidigo // of the system's clock
	defer context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })() // the run is over
	var a answer
	if err := known(c); err != nil {
		a = answer{Refused: stranger, Why: err.Error()}
	} else if q, err := hear(c); err != nil {
		a = refusal(err)
	} else {
		a = d.take(ctx, q)
	}
	text, err := json.Marshal(a)
	if err == nil {
		_ = c.SetWriteDeadline(time.Now().Add(patience)) //nolint:forbidigo // likewise
		_, _ = c.Write(append(text, '\n'))               // fails if the client has gone
	}
}

// hear reads a question.
func hear(c io.Reader) (q question, err error) {
	line, err := bufio.NewReaderSize(io.LimitReader(c, mostAsked), 4<<10).ReadBytes('\n')
	switch {
	case len(line) == mostAsked:
		return q, fmt.Errorf("a question has at most %d bytes", mostAsked)
	case err != nil:
		return q, errors.New("the question breaks off")
	}
	if err := json.Unmarshal(bytes.TrimSpace(line), &q); err != nil {
		return q, errors.New("the question is not a JSON object as expected")
	}
	if len(q.Text) > mostSaid {
		return q, &LongError{len(q.Text)}
	}
	return q, nil
}

// take does what is asked.
func (d *Door) take(ctx context.Context, q question) answer {
	at := d.run.Standing()
	if q.Session != "" && q.Session != at.Session {
		return answer{Refused: otherSession, Why: fmt.Sprintf("session %s is over, and %s runs there now", q.Session, at.Session)}
	}
	if q.Watched {
		d.run.Watched()
	}
	if q.Ask == askDiff {
		patch, err := d.run.Diff(ctx)
		if err != nil {
			return refusal(err)
		}
		return answer{Diff: begins(patch)}
	}
	var err error
	switch kind := loop.SteerKind(q.Ask); kind {
	case askLook:
	case askHurry:
		d.run.Hurry()
	case loop.SteerStop, loop.SteerPause, loop.SteerGoOn, loop.SteerSay, loop.SteerInterrupt:
		err = d.run.Steer(kind, wording.Clean(q.Text))
	default:
		err = errors.New("nothing of that name can be asked")
	}
	if err != nil {
		return refusal(err)
	}
	at.Asked.Stop, at.Asked.Pause, at.Asked.Words = d.run.Asked()
	a := answer{Standing: &at}
	if q.Doing {
		a.Doing = d.run.Recent(q.Since)
	}
	return a
}

// begins returns the part of a diff that fits into an answer.
func begins(patch string) string {
	if len(patch) <= mostDiff {
		return patch
	}
	whole := patch[:1+strings.LastIndexByte(patch[:mostDiff], '\n')]
	return fmt.Sprintf("%s… and %s more: codeloops sessions diff shows all of it after the turn\n", whole, wording.Bytes(len(patch)-len(whole)))
}
