package parcel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/session"
	"codeloops/internal/wording"
)

// largest is the limit for all files of a session.
const largest = 8 << 30

// Valid names in data from elsewhere.
var (
	plain = wording.Pattern(`^[0-9A-Za-z][0-9A-Za-z._-]{0,200}$`)
	step  = wording.Pattern(`^[0-9A-Za-z][0-9A-Za-z._/-]{0,200}$`)
)

// A Parcel is an opened parcel, including those before it.
type Parcel struct {
	Manifest

	room   *Room
	commit string
	files  []file
}

// A file of a parcel.
type file struct {
	name, id string
	size     int64
}

// Open imports a parcel, and checks that it is a valid one of the task.
func (r *Room) Open(ctx context.Context, path, task string) (*Parcel, error) {
	p, err := r.open(ctx, path, task)
	if err != nil {
		return nil, fmt.Errorf("open the parcel of task %s: %w", task, err)
	}
	return p, nil
}

func (r *Room) open(ctx context.Context, path, task string) (*Parcel, error) {
	if err := r.Unbundle(ctx, path, Ref); err != nil {
		return nil, err
	}
	id, _, err := r.Commit(ctx, Ref)
	if err != nil {
		return nil, err
	}
	text, err := r.Run(ctx, r.Root, "cat-file", "commit", id)
	if err != nil {
		return nil, err
	}
	_, message, _ := strings.Cut(text, "\n\n")
	p := &Parcel{room: r, commit: id}
	if err := json.Unmarshal([]byte(message), &p.Manifest); err != nil || p.Task != task {
		return nil, fmt.Errorf("its manifest is %.100q: %w", message, ErrWrong)
	}
	if err := p.list(ctx); err != nil {
		return nil, err
	}
	return p, p.check(ctx)
}

// list reads the list of files.
func (p *Parcel) list(ctx context.Context) error {
	out, err := p.room.Run(ctx, p.room.Root, "ls-tree", "-l", "-z", p.commit)
	if err != nil {
		return err
	}
	var total int64
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if entry == "" {
			continue
		}
		about, name, _ := strings.Cut(entry, "\t")
		words := strings.Fields(about)
		if len(words) != 4 || words[0] != "100644" || !plain().MatchString(name) {
			return fmt.Errorf("the file %q: %w", entry, ErrWrong)
		}
		size, err := strconv.ParseInt(words[3], 10, 64)
		if total += size; err != nil || total > largest {
			return fmt.Errorf("the file %q is too large: %w", entry, ErrWrong)
		}
		p.files = append(p.files, file{name, words[2], size})
	}
	return nil
}

// check checks the manifest.
func (p *Parcel) check(ctx context.Context) error {
	if _, known := session.Began(p.Session); p.Session != "" && !(known && plain().MatchString(p.Session)) {
		return fmt.Errorf("the session %q: %w", p.Session, ErrWrong)
	}
	for name := range p.Checkpoints {
		if !step().MatchString(name) || strings.Contains(name, "..") || strings.Contains(name, "//") {
			return fmt.Errorf("the checkpoint %q: %w", name, ErrWrong)
		}
	}
	want := p.commits()
	slices.Sort(want)
	want = slices.Compact(want)
	known, err := p.room.Known(ctx, want)
	if err == nil && len(known) != len(want) {
		err = fmt.Errorf("a commit that it names is missing: %w", ErrWrong)
	}
	return err
}

// GiveBranch sets the task's branch in a repository.
func (p *Parcel) GiveBranch(ctx context.Context, to, name string) error {
	if p.Branch == "" {
		return nil
	}
	if err := p.room.Set(ctx, map[string]string{"refs/heads/" + name: p.Branch}); err != nil {
		return err
	}
	return p.room.fetchInto(ctx, to, "+refs/heads/"+name+":refs/heads/"+name)
}

// Unpack stores the session, as one of the work tree there. A session of another task with the same ID is not
// replaced, and is an error.
func (p *Parcel) Unpack(ctx context.Context, store *session.Store, workTree string) error {
	if p.Session == "" {
		return nil
	}
	if err := p.unpack(ctx, store, workTree); err != nil {
		return fmt.Errorf("unpack session %s: %w", p.Session, err)
	}
	return nil
}

func (p *Parcel) unpack(ctx context.Context, store *session.Store, workTree string) (err error) {
	if err := os.MkdirAll(store.Dir(), 0o700); err != nil {
		return err
	}
	if one := session.Look(store.Path(p.Session)); one.Err == nil && one.Session.Task != p.Task {
		return fmt.Errorf("there is another one of that name: %w", ErrWrong)
	}
	root, err := os.OpenRoot(store.Dir())
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // files written in it are closed already
	if err := root.Mkdir(p.Session+".d", 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	draft := p.Session + ".jsonl.draft"
	log, err := root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := &mover{to: log, id: p.Session, workTree: workTree}
	err = p.each(ctx, func(name string, text io.Reader) error {
		if strings.HasPrefix(name, logPart) {
			_, err := io.Copy(w, text)
			return err
		}
		name = filepath.Join(p.Session+".d", strings.TrimPrefix(name, besidePart))
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, text)
		return errors.Join(err, f.Close())
	})
	if err = errors.Join(err, log.Sync(), log.Close()); err == nil && !w.begun {
		err = session.ErrForeign
	}
	if err == nil {
		err = p.giveCheckpoints(ctx, store, filepath.Join(store.Dir(), draft))
	}
	if err != nil {
		return errors.Join(err, root.Remove(draft))
	}
	return root.Rename(draft, p.Session+".jsonl")
}

// each calls do with the files of the parcel; the parts of the log come in order.
func (p *Parcel) each(ctx context.Context, do func(name string, text io.Reader) error) error {
	var ids strings.Builder
	for _, f := range p.files {
		ids.WriteString(f.id + "\n")
	}
	all := filepath.Join(p.room.Root, "files")
	defer os.Remove(all) //nolint:errcheck // the room is removed as a whole
	if _, err := p.room.Do(ctx, git.Call{Dir: p.room.Root, Stdin: []byte(ids.String()), Stdout: all}, "cat-file", "--batch"); err != nil {
		return err
	}
	f, err := os.Open(all)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	in := bufio.NewReader(f)
	for _, one := range p.files { // sorted by name by git
		if _, err := in.ReadSlice('\n'); err != nil {
			return err
		}
		if err := do(one.name, io.LimitReader(in, one.size)); err != nil {
			return err
		}
		if _, err := in.Discard(1); err != nil {
			return err
		}
	}
	return nil
}

// giveCheckpoints copies the checkpoints to the private repository that the log names.
func (p *Parcel) giveCheckpoints(ctx context.Context, store *session.Store, log string) error {
	if len(p.Checkpoints) == 0 {
		return nil
	}
	private := store.Checkpoints(session.Look(log).Session.Checkpoints)
	if private == "" {
		return fmt.Errorf("its log names no place for its checkpoints: %w", ErrWrong)
	}
	shared, err := session.ShareCheckpoints(ctx, private)
	if err != nil {
		return err
	}
	defer shared.Close() //nolint:errcheck // a lock, which the system releases
	if _, err := OpenRoom(ctx, private, p.room.Starter, p.room.Environ); err != nil {
		return err
	}
	refs := map[string]string{}
	for name, id := range p.Checkpoints {
		refs[checkpointsOf(p.Session)+name] = id
	}
	if err := p.room.Set(ctx, refs); err != nil {
		return err
	}
	all := slices.Collect(maps.Keys(refs))
	for i, ref := range all {
		all[i] = "+" + ref + ":" + ref
	}
	for some := range slices.Chunk(all, 500) { // limits the length of the command line
		if err := p.room.fetchInto(ctx, private, some...); err != nil {
			return err
		}
	}
	return nil
}

// A mover writes a log with its first line changed for a new work tree.
type mover struct {
	to           io.Writer
	id, workTree string

	first []byte
	begun bool
}

func (m *mover) Write(text []byte) (int, error) {
	if m.begun {
		return m.to.Write(text)
	}
	m.first = append(m.first, text...)
	end := bytes.IndexByte(m.first, '\n')
	if end < 0 {
		if len(m.first) > session.MaxLine {
			return 0, session.ErrLineTooLong
		}
		return len(text), nil
	}
	line, err := session.Relocate(m.first[:end], m.id, m.workTree)
	if err == nil {
		m.begun = true
		_, err = m.to.Write(append(line, m.first[end+1:]...))
	}
	m.first = nil
	return len(text), err
}
