package eval

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// A Book is a directory that holds what is known: the cases, the verdicts, and the user's labels. Verdicts come from the
// sessions in it, and are found again there. It is used by one process at a time, and not safe for concurrent use.
type Book struct {
	dir      string
	cases    map[string]Case
	verdicts map[string]map[string]Verdict // by case and critic
	known    map[string]bool               // critics and the logs that their verdicts come from
	labels   map[string]Label
	tried    map[string][]Tried // by case
	lock     io.Closer
}

// A Label is what the user says of the work of a case.
type Label struct {
	Case string    `json:"case"`
	Good bool      `json:"good"`
	Why  string    `json:"why,omitempty"`
	At   time.Time `json:"at"`
}

// The files of a book.
const (
	casesFile    = "cases.jsonl"
	verdictsFile = "verdicts.jsonl"
	labelsFile   = "labels.jsonl"
	triedFile    = "checks.jsonl"
)

// Open opens the book beside the logs of a store. The caller closes it.
func Open(store *session.Store) (b *Book, err error) {
	b = &Book{dir: filepath.Join(store.Dir(), "eval"), cases: map[string]Case{}, verdicts: map[string]map[string]Verdict{}, known: map[string]bool{}, labels: map[string]Label{}, tried: map[string][]Tried{}}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return nil, fmt.Errorf("open what is known of critics: %w", err)
	}
	held, free, err := file.TryLock(filepath.Join(b.dir, "lock"), false)
	if err == nil && !free {
		err = hint.Errorf("wait for it, or stop it: the next one takes up what it has found", "another codeloops eval is at work with these sessions")
	}
	if err != nil {
		return nil, err
	}
	b.lock = held
	err = errors.Join(
		entries(b.path(casesFile), func(c Case) { b.cases[c.ID] = c }),
		entries(b.path(verdictsFile), b.keep),
		entries(b.path(labelsFile), func(l Label) { b.labels[l.Case] = l }),
		entries(b.path(triedFile), func(t Tried) { b.tried[t.Case] = append(b.tried[t.Case], t) }),
	)
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Close lets others use the book.
func (b *Book) Close() error { return b.lock.Close() }

func (b *Book) path(name string) string { return filepath.Join(b.dir, name) }

// entries reads a file with a value in each line. What a crash has left of a last line is ignored.
func entries[T any](path string, take func(T)) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what is known of critics: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	in := bufio.NewReaderSize(f, 256<<10)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		var v T
		if err == nil {
			err = json.Unmarshal(line, &v)
		}
		if err != nil {
			return fmt.Errorf("read what is known of critics: %s: %w", path, err)
		}
		take(v)
	}
}

// append adds a value to a file, and waits for the disk.
func (b *Book) append(name string, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(b.path(name), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("keep what is known of critics: %w", err)
	}
	err = mend(f)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// mend cuts off what a crash has left of a last line.
func mend(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return err
	}
	const longest = 64 << 10
	tail := make([]byte, min(size, longest))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return err
	}
	rest := len(tail) - 1 - bytes.LastIndexByte(tail, '\n')
	if rest == 0 {
		return nil
	}
	return f.Truncate(size - int64(rest))
}

// Put takes cases in, in place of what was known of them.
func (b *Book) Put(cases []Case) error {
	for _, c := range cases {
		b.cases[c.ID] = c
	}
	return file.Replace(b.path(casesFile), 0o600, func(w io.Writer) error {
		out := json.NewEncoder(w)
		for _, id := range slices.Sorted(maps.Keys(b.cases)) {
			if err := out.Encode(b.cases[id]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Cases returns the cases of some sessions, with the user's labels and the checks that were run later as evidence, the latest first; nil is all sessions.
func (b *Book) Cases(sessions map[string]bool) (all []Case) {
	for _, c := range b.cases {
		if sessions != nil && !sessions[c.Session] {
			continue
		}
		if l, is := b.labels[c.ID]; is {
			c.Evidence = append(slices.Clip(c.Evidence), Evidence{Source: Labels, Good: l.Good, Why: cmp.Or(l.Why, "says the user")})
		}
		for _, t := range b.tried[c.ID] {
			c.Evidence = append(slices.Clip(c.Evidence), t.evidence()...)
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(x, y Case) int {
		return cmp.Or(y.Began.Compare(x.Began), strings.Compare(y.Session, x.Session), cmp.Compare(x.Iteration, y.Iteration))
	})
	return all
}

// Label keeps what the user says of a case.
func (b *Book) Label(l Label) error {
	b.labels[l.Case] = l
	return b.append(labelsFile, l)
}

// Try keeps how a check ended.
func (b *Book) Try(t Tried) error {
	b.tried[t.Case] = append(b.tried[t.Case], t)
	return b.append(triedFile, t)
}

// Tried reports whether a check was run on a case.
func (b *Book) Tried(id, command string) bool {
	return slices.ContainsFunc(b.tried[id], func(t Tried) bool { return t.Command == command })
}

// Verdict returns what a critic has said of a case.
func (b *Book) Verdict(id, critic string) (Verdict, bool) {
	v, known := b.verdicts[id][critic]
	return v, known
}

// Critics returns the names of all critics that have judged some of the cases.
func (b *Book) Critics(cases []Case) []string {
	all := map[string]bool{}
	for _, c := range cases {
		for critic := range b.verdicts[c.ID] {
			all[critic] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Add keeps a verdict.
func (b *Book) Add(v Verdict) error {
	b.keep(v)
	return b.append(verdictsFile, v)
}

func (b *Book) keep(v Verdict) {
	if b.verdicts[v.Case] == nil {
		b.verdicts[v.Case] = map[string]Verdict{}
	}
	b.verdicts[v.Case][v.Critic], b.known[v.Critic+" "+v.Log] = v, true
}

// Logs is the directory of the sessions of a critic.
func (b *Book) Logs(critic string) string { return filepath.Join(b.dir, "logs", fileName(critic)) }

// fileName is a name for files of a critic.
func fileName(critic string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '+' {
			return r
		}
		return '_'
	}, critic)
}

// Adopt takes in what the sessions of a critic tell, and a process that was killed has not kept.
func (b *Book) Adopt(critic string) error {
	store, err := session.NewStore(b.Logs(critic))
	if err != nil {
		return err
	}
	all, err := store.Survey()
	if err != nil {
		return err
	}
	for _, one := range all {
		if b.known[critic+" "+one.ID] || one.Err != nil || one.Session.Of == "" {
			continue
		}
		if _, _, err := b.take(critic, one.Path); err != nil {
			return err
		}
	}
	return nil
}

// take keeps the verdict in a log, if there is one.
func (b *Book) take(critic, path string) (v Verdict, has bool, err error) {
	h, err := read(path)
	if err != nil || len(h.rounds) == 0 {
		return v, false, err
	}
	v = h.rounds[0].verdict(critic)
	v.Case, v.Log = h.session.Of, h.session.ID
	if by := h.rounds[0].Review.Agent; by != h.session.Critic && v.Decides() {
		v.Decision, v.Problem = "", "another agent answered: "+by.String()
	}
	return v, true, b.Add(v)
}
