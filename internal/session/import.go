package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"

	"codeloops/internal/file"
	"codeloops/internal/loop"
)

// Import adds the log of a session that was run elsewhere. name is that of the log, for errors. Its events are passed
// through change; lines that cannot be read are left out, and bad is called with their errors. fresh is false if the
// store had it already.
func (s *Store) Import(log io.Reader, name string, change func(loop.Event) loop.Event, bad func(error)) (id string, fresh bool, err error) {
	next, stop := iter.Pull2(Sound(NewReader(log, name).Entries(), bad))
	defer stop()
	first, err, _ := next()
	began, ok := first.Event.(loop.Started)
	switch {
	case err != nil:
		return "", false, err
	case !ok || first.At.Time.IsZero():
		return "", false, fmt.Errorf("%s: %w", name, errNoStart)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", false, fmt.Errorf("make session directory: %w", err)
	}
	draft, err := os.CreateTemp(s.dir, ".codeloops-*")
	if err != nil {
		return "", false, fmt.Errorf("import a session: %w", err)
	}
	defer os.Remove(draft.Name()) //nolint:errcheck // it is only a draft
	defer draft.Close()           //nolint:errcheck // likewise
	for entry, more := first, true; more && err == nil; {
		entry.Event = change(entry.Event)
		if _, err = draft.Write(entry.Encode()); err == nil {
			entry, err, more = next()
		}
	}
	if err != nil {
		return "", false, fmt.Errorf("import a session: %w", err)
	}
	all := func() io.Reader { return io.NewSectionReader(draft, 0, math.MaxInt64) }
	for id := range idsOf(began.Session.Prompt, first.At.Time) {
		same, err := holds(s.Path(id), all())
		if errors.Is(err, fs.ErrNotExist) {
			err = file.Create(s.Path(id), 0o600, func(w io.Writer) error {
				_, err := io.Copy(w, all())
				return err
			})
			return id, err == nil, err
		}
		if same || err != nil {
			return id, false, err
		}
	}
	return "", false, errNamesTaken
}

// holds reports whether a log is a text.
func holds(path string, text io.Reader) (bool, error) {
	f, _, err := openLog(path)
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // only read
	return file.Same(text, f)
}
