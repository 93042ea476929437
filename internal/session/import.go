package session

import (
	"fmt"
	"io"
	"iter"
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
	for id := range idsOf(began.Session.Prompt, first.At.Time) {
		if fresh, err = s.give(draft, s.Path(id)); fresh || err != nil {
			return id, fresh, err
		}
		if same, err := s.has(draft, s.Path(id)); same || err != nil {
			return id, false, err
		}
	}
	return "", false, errNamesTaken
}

// give makes a draft the log of a name; false if there is one.
func (s *Store) give(draft *os.File, path string) (bool, error) {
	if _, err := os.Lstat(path); err == nil {
		return false, nil
	}
	if _, err := draft.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	err := file.Create(path, 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, draft)
		return err
	})
	return err == nil, err
}

// has reports whether a log is the draft.
func (s *Store) has(draft *os.File, path string) (bool, error) {
	f, _, err := openLog(path)
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // only read
	if _, err := draft.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	return file.Same(draft, f)
}
