package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"codeloops/internal/file"
)

// A private repository has the checkpoints of sessions, for the user alone, as packs. It has no alternates: git could
// remove objects as redundant that exist there, too.
type private struct {
	dir       string
	sync      func(*os.File) error
	made      bool
	temporary bool // close removes it
}

// The first files of a private repository. They disable git's maintenance, and deltas of large files.
const (
	privateHead   = "ref: refs/heads/main\n"
	privateConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tbigFileThreshold = 20m\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
)

// open makes what is missing of the repository.
func (p *private) open() (err error) {
	if p.made {
		return nil
	}
	if p.dir == "" {
		if p.dir, err = os.MkdirTemp("", "codeloops-objects-"); err != nil {
			return err
		}
		p.temporary = true
	}
	err = errors.Join(p.mkdir(filepath.Join(p.dir, "objects", "pack")), p.mkdir(filepath.Join(p.dir, "refs")))
	for name, content := range map[string]string{"config": privateConfig, "HEAD": privateHead} {
		if info, statErr := os.Stat(filepath.Join(p.dir, name)); err == nil && (statErr != nil || info.Size() == 0) {
			err = p.put(filepath.Join(p.dir, name), content)
		}
	}
	if err != nil {
		return fmt.Errorf("make the repository of checkpoints %s: %w", p.dir, err)
	}
	p.made = true
	return nil
}

func (p *private) close() error {
	if !p.temporary {
		return nil
	}
	err := os.RemoveAll(p.dir)
	p.dir, p.made, p.temporary = "", false, false
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

// put makes a file, and the directories above it. It gets its name when it is on the disk.
func (p *private) put(to, content string) error {
	if err := p.mkdir(filepath.Dir(to)); err != nil {
		return err
	}
	draft, err := os.CreateTemp(p.dir, "tmp_")
	if err != nil {
		return err
	}
	_, err = draft.WriteString(content)
	if err = errors.Join(err, p.sync(draft), draft.Close()); err == nil {
		err = os.Rename(draft.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return p.settle(filepath.Dir(to))
}

// refer makes a reference to a kept object, and syncs it. If the name is taken, a number is appended to it. The session
// holds a lock, so nobody else takes its names.
func (w *watcher) refer(name string, id plumbing.Hash) error {
	const most = 10_000
	kept, free := dotgit.New(osfs.New(w.private.dir)), name
	for n := 2; n < most; n++ {
		if _, err := kept.Ref(plumbing.ReferenceName(free)); errors.Is(err, plumbing.ErrReferenceNotFound) {
			break
		}
		free = fmt.Sprintf("%s-%d", name, n) // also if the reference is broken
	}
	return w.private.put(filepath.Join(w.private.dir, filepath.FromSlash(free)), id.String()+"\n")
}

// keep packs what a new state needs into the private repository, given a tree whose objects are kept already, zero if
// nothing is known of that. When it returns, all of it is on the disk. It returns the pack, or "." if there is nothing new.
func (w *watcher) keep(ctx context.Context, was, is plumbing.Hash) (pack string, err error) {
	v := &view{shadow: w.shadow}
	list := is.String() + "\n"
	args := []string{"pack-objects", "-q", "--window=0", "--revs"}
	if w.opened.partial() {
		args = append(args, "--missing=allow-any") // what was never fetched
	}
	if !was.IsZero() {
		list += "^" + was.String() + "\n"
	} else {
		v.also = w.objectDirs()
		if w.newest != "" {
			list += "^" + w.newest + "^{tree}\n"
		}
	}
	return w.pack(ctx, v, list, args...)
}

// putObject adds one object to the private repository, whose references to others are kept already.
func (p *private) putObject(kind plumbing.ObjectType, id plumbing.Hash, content []byte) error {
	var text bytes.Buffer
	w := objfile.NewWriter(&text)
	err := w.WriteHeader(kind, int64(len(content)))
	if err == nil {
		_, err = w.Write(content)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	name := id.String()
	return p.put(filepath.Join(p.dir, "objects", name[:2], name[2:]), text.String())
}

// bring packs the contents of files that were fetched only after the session began, as in a partial clone.
func (w *watcher) bring(ctx context.Context, differ []difference) error {
	if !w.opened.partial() {
		return nil
	}
	var list strings.Builder
	for _, d := range differ {
		if e := d.before; e != nil && e.Mode != Gitlink && e.Size == 0 && !w.objects.holds(e.ID) {
			list.WriteString(e.ID.String() + "\n")
		}
	}
	if list.Len() == 0 {
		return nil
	}
	_, err := w.pack(ctx, &view{shadow: w.shadow, also: w.objectDirs()}, list.String(), "pack-objects", "-q", "--window=0")
	return err
}

func (w *watcher) pack(ctx context.Context, v *view, list string, args ...string) (pack string, err error) {
	pack = "."
	packs := filepath.Join(w.private.dir, "objects", "pack")
	out, err := v.run(ctx, nil, []byte(list), append(args, filepath.Join(packs, "pack"))...)
	for name := range strings.FieldsSeq(string(out)) {
		if plumbing.IsHash(name) && err == nil {
			pack = "pack-" + name + ".pack"
			err = w.private.settle(packs, pack, "pack-"+name+".idx")
		}
	}
	return pack, err
}

// findNewest returns the checkpoint of any session that was made last, "" if there is none. The repository has everything that
// it reaches.
func (w *watcher) findNewest(ctx context.Context) string {
	out, err := (&view{shadow: w.shadow}).run(ctx, nil, nil, "--git-dir="+w.private.dir, "for-each-ref", "--sort=-creatordate", "--count=1", "--format=%(objectname)", Namespace)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// objectDirs returns the directories with the objects that the user's files come from.
func (w *watcher) objectDirs() []string {
	dirs := []string{w.repo.ObjectsDir}
	if w.sight != nil {
		for _, n := range w.sight.nests {
			if n.repo != nil {
				dirs = append(dirs, n.repo.ObjectsDir)
			}
		}
	}
	return dirs
}
