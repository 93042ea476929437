package lesson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/go-json-experiment/json"

	"codeloops/internal/file"
)

// Lesson files hold JSON lines. They are appended to, and all changes are made under one lock.
const (
	fileName = "lessons.jsonl"
	usesName = "lessons-used.jsonl" // in the user's data directory, even for other lesson files
	lockName = "lessons.lock"
	maxFile  = 64 << 20 // bytes; a larger file is not ours
	maxLine  = 64 << 10
	maxTold  = 3 // how many bad lines of a file are reported one by one
)

// A Place is a lesson file.
type Place struct {
	root string // links must not lead out of this directory
	name string // relative to root
	mode os.FileMode
}

// Own is the user's file, in a data directory.
func Own(data string) Place { return Place{data, fileName, 0o600} }

// InTree is the file in a repository's work tree.
func InTree(root string) Place { return Place{root, filepath.Join(".codeloops", fileName), 0o644} }

// Path is the path of the file.
func (p Place) Path() string { return filepath.Join(p.root, p.name) }

// read returns the content of the file; nil if it does not exist.
func (p Place) read() ([]byte, error) {
	root, err := os.OpenRoot(p.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // it was only read
	if st, err := root.Stat(p.name); err == nil && (!st.Mode().IsRegular() || st.Size() > maxFile) {
		return nil, fmt.Errorf("%s is not a file of lessons", p.Path()) // opening a named pipe would wait for its other end
	}
	text, err := root.ReadFile(p.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, p.openError(err)
	}
	return text, nil
}

// openError wraps an error of opening the file. If [os.Root] rejects a link, the error is not a
// system error with a number.
func (p Place) openError(err error) error {
	if _, system := errors.AsType[syscall.Errno](err); !system {
		return fmt.Errorf("%s is not a file of lessons: a link in its path leads out of %s", p.Path(), p.root)
	}
	return fmt.Errorf("%s: %w", p.Path(), err)
}

// write appends lines to the file or, if anew is set, replaces its content. The caller holds the
// lock.
func (p Place) write(lines []byte, anew bool) error {
	if err := os.MkdirAll(p.root, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // files are closed on their own
	if st, err := root.Stat(p.name); err == nil && !st.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file of lessons", p.Path())
	}
	if err := p.prepare(root); err != nil {
		return p.openError(err)
	}
	name, how := p.name, os.O_RDWR|os.O_CREATE|os.O_APPEND
	if anew {
		name, how = p.name+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC
	}
	f, err := root.OpenFile(name, how, p.mode)
	if err != nil {
		return p.openError(err)
	}
	if err = errors.Join(appendTo(f, lines), f.Close()); err == nil && anew {
		err = root.Rename(name, p.name)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", p.Path(), err)
	}
	if dir, err := root.Open(filepath.Dir(p.name)); err == nil {
		_ = dir.Sync() // some systems cannot, and need not
		_ = dir.Close()
	}
	return nil
}

// prepare creates the file's directory. In a repository, git merges keep the lessons of both
// sides.
func (p Place) prepare(root *os.Root) error {
	dir := filepath.Dir(p.name)
	if dir == "." {
		return nil
	}
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	rule, err := root.OpenFile(filepath.Join(dir, ".gitattributes"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, p.mode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = rule.WriteString(fileName + " merge=union\n")
	return errors.Join(err, rule.Close())
}

// appendTo appends lines to an open file and syncs it. An incomplete last line is terminated first.
func appendTo(f *os.File, lines []byte) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	last := []byte{'\n'}
	if size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
	}
	if last[0] != '\n' {
		lines = append([]byte{'\n'}, lines...)
	}
	if _, err := f.Write(lines); err != nil {
		return err
	}
	return f.Sync()
}

// Files is a [Store] in files.
type Files struct {
	Data string      // the user's data directory
	Into Place       // the file that is written to
	Also []Place     // other files to read
	Tell func(error) // gets what is wrong with the files
}

var _ Store = &Files{}

// Close implements [Store].
func (*Files) Close() error { return nil }

// All implements [Store].
func (s *Files) All(context.Context) (all []Lesson, err error) {
	uses, err := s.uses()
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, p := range append([]Place{s.Into}, s.Also...) {
		text, err := p.read()
		if err != nil {
			return nil, err
		}
		bad := 0
		for i, line := range linesOf(text) {
			if len(line) == 0 {
				continue
			}
			l, err := Decode(line)
			if err != nil {
				if bad++; bad <= maxTold {
					s.Tell(fmt.Errorf("%s:%d: passed over: %w", p.Path(), i+1, err))
				}
				continue
			}
			if id := l.ID(); !known[id] {
				known[id], l.Uses = true, uses[id]
				all = append(all, l)
			}
		}
		if bad > maxTold {
			s.Tell(fmt.Errorf("%s: %d more lines are passed over", p.Path(), bad-maxTold))
		}
	}
	return all, nil
}

var errLine = errors.New("the line is not a lesson, or incomplete")

// Decode decodes a line of a file.
func Decode(line []byte) (l Lesson, err error) {
	if len(line) > maxLine || json.Unmarshal(line, &l) != nil {
		return l, errLine
	}
	return l.Clean(nil)
}

// Encode returns lessons as lines of a file.
func Encode(lessons ...Lesson) ([]byte, error) { return encode(lessons...) }

func encode[T any](of ...T) (lines []byte, err error) {
	for _, one := range of {
		line, err := json.Marshal(one)
		if err != nil {
			return nil, err
		}
		lines = append(append(lines, line...), '\n')
	}
	return lines, nil
}

// Recall implements [Store].
func (s *Files) Recall(ctx context.Context, q Query) (found []Lesson, err error) {
	if q.Block {
		all, err := s.All(ctx)
		return q.Pick(all), err
	}
	uses, err := s.uses()
	if err != nil {
		return nil, err
	}
	var lines [][]byte
	for _, p := range append([]Place{s.Into}, s.Also...) {
		text, err := p.read()
		if err != nil {
			return nil, err
		}
		lines = append(lines, linesOf(text)...)
	}
	known := map[string]bool{}
	for _, i := range rank(lines, q.Task) {
		if len(found) == q.Most {
			break
		}
		l, err := Decode(lines[i])
		if err != nil {
			continue // a list tells of it
		}
		id := l.ID()
		l.Uses = uses[id]
		if q.fits(l) && !known[id] {
			known[id], found = true, append(found, l)
		}
	}
	return found, nil
}

// locked makes a change under the lock.
func (s *Files) locked(change func() error) error {
	if err := os.MkdirAll(s.Data, 0o700); err != nil {
		return fmt.Errorf("keep lessons: %w", err)
	}
	unlock, err := file.Lock(filepath.Join(s.Data, lockName))
	if err != nil {
		return fmt.Errorf("keep lessons: %w", err)
	}
	defer unlock()
	return change()
}

// Add implements [Store].
func (s *Files) Add(_ context.Context, lessons ...Lesson) (added int, err error) {
	return added, s.locked(func() error {
		text, err := s.Into.read()
		if err != nil {
			return err
		}
		known := map[string]bool{}
		for _, line := range linesOf(text) {
			if l, err := Decode(line); err == nil {
				known[l.ID()] = true
			}
		}
		var fresh []Lesson
		for _, l := range lessons {
			if !known[l.ID()] {
				known[l.ID()], fresh = true, append(fresh, l)
			}
		}
		lines, err := encode(fresh...)
		if err != nil || len(fresh) == 0 {
			return err
		}
		added = len(fresh)
		return s.Into.write(lines, false)
	})
}

// Remove implements [Store]. All other lines stay as they are.
func (s *Files) Remove(_ context.Context, ids ...string) (removed int, err error) {
	return removed, s.locked(func() error {
		text, err := s.Into.read()
		if err != nil {
			return err
		}
		var left []byte
		gone := map[string]bool{}
		for line := range bytes.Lines(text) {
			if l, err := Decode(bytes.TrimSpace(line)); err == nil && slices.Contains(ids, l.ID()) {
				gone[l.ID()] = true
				continue
			}
			left = append(left, line...)
		}
		if removed = len(gone); removed == 0 {
			return nil
		}
		return s.Into.write(left, true)
	})
}

// A use is a session that was told lessons.
type use struct {
	Session string   `json:"session"`
	Done    bool     `json:"done"`
	Lessons []string `json:"lessons"`
}

func (s *Files) usesPlace() Place { return Place{s.Data, usesName, 0o600} }

// Used implements [Store].
func (s *Files) Used(_ context.Context, session string, ids []string, done bool) error {
	line, err := encode(use{session, done, ids})
	if err != nil {
		return err
	}
	return s.locked(func() error { return s.usesPlace().write(line, false) })
}

// uses counts how sessions ended, by the IDs of the lessons that they were told.
func (s *Files) uses() (map[string]Uses, error) {
	text, err := s.usesPlace().read()
	if err != nil {
		return nil, err
	}
	last := map[string]use{}
	for _, line := range linesOf(text) {
		var u use
		if json.Unmarshal(line, &u) == nil {
			last[u.Session] = u
		}
	}
	all := map[string]Uses{}
	for _, u := range last {
		for _, id := range u.Lessons {
			n := all[id]
			if u.Done {
				n.Done++
			} else {
				n.Failed++
			}
			all[id] = n
		}
	}
	return all, nil
}
