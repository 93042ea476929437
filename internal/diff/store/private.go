package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/patch"
	"codeloops/internal/file"
	"codeloops/internal/repo"
)

// The first files of a private repository. They disable git's maintenance, and deltas of blobs
// above [Large].
const (
	privateHead   = "ref: refs/heads/main\n"
	privateConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tbigFileThreshold = 20m\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
)

// A private repository has the objects of sessions, for the user alone. It has no alternates of its
// own: git could remove objects as redundant that exist there, too.
type private struct {
	sync func(*os.File) error

	mu        sync.Mutex // guards what follows
	dir       string
	objects   *directory // nil before there is a dir
	made      bool       // its first files exist
	temporary bool       // close removes it
}

// KeepIn sets the directory of the private repository, which is made when the first object is
// written. What killed processes have left in its [Store.Room] is removed.
func (s *Store) KeepIn(dir string) error {
	p := s.own
	err := errors.Join(p.close(), tidy(dir))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dir, p.objects, p.made = dir, nil, false; dir != "" {
		p.objects = &directory{path: filepath.Join(dir, "objects")}
	}
	return err
}

// Room returns a directory for files that are needed for a moment: the private repository, or "" if
// there is none yet. A temporary store, which changes nothing, has none.
func (s *Store) Room() string {
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	if info, err := os.Stat(s.own.dir); err != nil || !info.IsDir() {
		return ""
	}
	return s.own.dir
}

// tidy removes what has been left in a room for an hour.
func tidy(dir string) (err error) {
	left, _ := fs.Glob(os.DirFS(dir), patch.Left) // there may be no directory yet
	for _, name := range left {
		name = filepath.Join(dir, name)
		if info, e := os.Lstat(name); e == nil && time.Since(info.ModTime()) > time.Hour {
			err = errors.Join(err, os.RemoveAll(name))
		}
	}
	return err
}

// directory returns the directory of objects, or nil.
func (p *private) directory() *directory {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.objects
}

// open makes what is missing of the repository.
func (p *private) open() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made {
		return nil
	}
	if p.dir == "" {
		if p.dir, err = os.MkdirTemp("", "codeloops-objects-"); err != nil {
			return err
		}
		p.temporary, p.objects = true, &directory{path: filepath.Join(p.dir, "objects")}
	}
	err = errors.Join(p.mkdir(filepath.Join(p.dir, "objects", "pack")), p.mkdir(filepath.Join(p.dir, "refs")))
	for name, content := range map[string]string{"config": privateConfig, "HEAD": privateHead} {
		if info, statErr := os.Stat(filepath.Join(p.dir, name)); err == nil && (statErr != nil || info.Size() == 0) {
			var draft *os.File
			if draft, err = os.CreateTemp(p.dir, "tmp_"); err == nil {
				err = p.put(draft, filepath.Join(p.dir, name), content)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("make the repository of checkpoints %s: %w", p.dir, err)
	}
	p.made = true
	return nil
}

func (p *private) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.objects.close()
	if p.temporary {
		err = errors.Join(err, os.RemoveAll(p.dir))
		p.dir, p.objects, p.made, p.temporary = "", nil, false, false
	}
	return err
}

// mkdir makes a directory and missing ones above it, and syncs them.
func (p *private) mkdir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := p.mkdir(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return p.settle(above)
}

// settle syncs files in a directory, and the directory.
func (p *private) settle(dir string, names ...string) error {
	for _, name := range names {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if err := errors.Join(p.sync(f), f.Close()); err != nil {
			return err
		}
	}
	return file.SyncDir(dir, p.sync)
}

// put writes a draft, and gives it its name when it is on the disk.
func (p *private) put(draft *os.File, to, content string) error {
	_, err := draft.WriteString(content)
	if err = errors.Join(err, p.sync(draft), draft.Close()); err == nil {
		err = os.Rename(draft.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return p.settle(filepath.Dir(to))
}

// write adds a blob as a loose object, without syncing it.
func (p *private) write(id plumbing.Hash, content []byte) error {
	if err := p.open(); err != nil {
		return err
	}
	if info, err := os.Lstat(p.loose(id)); err == nil && info.Size() == 0 {
		_ = os.Remove(p.loose(id)) // a power cut has emptied it
	}
	if p.objects.has(id) {
		return nil
	}
	o := &plumbing.MemoryObject{}
	o.SetType(plumbing.BlobObject)
	_, _ = o.Write(content) // to memory
	if _, err := p.objects.storage().SetEncodedObject(o); err != nil {
		return fmt.Errorf("write blob %s: %w", id, err)
	}
	return nil
}

// loose returns the path of a loose object.
func (p *private) loose(id plumbing.Hash) string {
	name := id.String()
	return filepath.Join(p.objects.path, name[:2], name[2:])
}

// refer makes a reference to an object, and syncs it. The error is [fs.ErrExist] if the name is
// taken. As in git, a lock file becomes the reference. A stale one counts as a taken name.
func (p *private) refer(name string, id plumbing.Hash) error {
	if err := plumbing.ReferenceName(name).Validate(); err != nil {
		return fmt.Errorf("%q: %w", name, err)
	}
	to := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := p.mkdir(filepath.Dir(to)); err != nil {
		return err
	}
	lock, err := os.OpenFile(to+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	packed, err := os.ReadFile(filepath.Join(p.dir, "packed-refs"))
	if file.Missing(err) {
		err = nil
	}
	if _, there := os.Lstat(to); err == nil && (there == nil || bytes.Contains(packed, []byte(" "+name+"\n"))) {
		err = fs.ErrExist
	}
	if err != nil {
		return errors.Join(err, lock.Close(), os.Remove(lock.Name()))
	}
	return p.put(lock, to, id.String()+"\n")
}

// Newest returns the target of the last reference below a namespace of the private repository: that
// with the highest number in the session whose name sorts last. It is zero if there is none. The
// repository has everything that the target reaches.
func (s *Store) Newest(namespace string) (id plumbing.Hash) {
	if s.own.dir == "" {
		return id
	}
	refs, err := repo.At(s.own.dir).Resolved(namespace)
	if err != nil || len(refs) == 0 {
		return id
	}
	last := slices.MaxFunc(slices.Collect(maps.Keys(refs)), func(a, b string) int {
		return cmp.Or(strings.Compare(path.Dir(a), path.Dir(b)), len(a)-len(b), strings.Compare(a, b))
	})
	return plumbing.NewHash(refs[last])
}
