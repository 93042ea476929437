// Package launch starts runs in processes of their own, which go on whatever becomes of who has started them.
package launch

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"codeloops/internal/proc"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/wording/hint"
)

// A Launcher starts runs in one work tree.
type Launcher struct {
	Program string       // of codeloops
	Logs    *lookup.Logs // seen from the work tree
	Env     []string     // on top of that of this process
}

// Run starts a command that plays a run, such as run or resume, with a text on its standard input. It returns the session
// once that has begun. Only until then, the end of ctx is the end of the run.
func (l Launcher) Run(ctx context.Context, text string, args ...string) (id string, err error) {
	in, err := scratch(text)
	if err != nil {
		return "", err
	}
	defer in.Close() //nolint:errcheck // only read
	out, err := scratch("")
	if err != nil {
		return "", err
	}
	defer out.Close() //nolint:errcheck // the run has its own
	argv := append([]string{l.Program, args[0], "--quiet", "--json-output"}, args[1:]...)
	id, err = l.begin(ctx, proc.Tool{Argv: argv, Env: l.Env, Stdin: in, Stdout: out, OwnSession: true})
	if err == nil && id == "" {
		id, err = resultOf(out)
	}
	return id, err
}

// begin starts a run and waits for its session; "" is a run that has ended before it was seen.
func (l Launcher) begin(ctx context.Context, run proc.Tool) (id string, err error) {
	own, kill := context.WithCancel(context.WithoutCancel(ctx))
	pids, ended := make(chan int, 1), make(chan error, 1)
	run.Started = func(pid int) { pids <- pid }
	go func() { // to the end of the run, or of this process
		_, err := run.Run(own)
		ended <- err
		kill()
	}()
	pid := 0
	for {
		select {
		case pid = <-pids:
		case err := <-ended:
			return "", err
		case <-ctx.Done():
			kill()
			return "", context.Cause(ctx)
		case <-time.After(10 * time.Millisecond):
		}
		for _, h := range session.Holders(l.Logs.Host.Data("locks")) {
			if h.Lock.PID != pid {
				continue
			}
			if one, err := l.Logs.Find(h.Lock.Session); err == nil && one.Status == session.Running { // its log says so, too
				return h.Lock.Session, nil
			}
		}
	}
}

// scratch makes a file with a text that is gone when it is closed. A pipe would end a run together with its reader.
func scratch(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "codeloops-run-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // on Windows, an open file stays
	if _, err = io.WriteString(f, text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// resultOf reads the document of a run that has ended. The error says why there is no session.
func resultOf(f io.ReaderAt) (id string, err error) {
	var doc struct {
		Session string           `json:"session_id"`
		Error   *session.Failure `json:"error"`
	}
	if err := json.NewDecoder(io.NewSectionReader(f, 0, 1<<30)).Decode(&doc); err != nil {
		return "", hint.Errorf("try it on the command line", "the run ended without a word: %w", err)
	}
	if doc.Session == "" && doc.Error != nil {
		return "", hint.Add(errors.New(doc.Error.Message), doc.Error.Hint)
	}
	return doc.Session, nil
}
