package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Why an object of the user's repository cannot be read.
var (
	errDamaged = errors.New("git printed something that is not an object")
	errNoGit   = errors.New("the git program is needed to read it")
)

// An object is one of the user's repository.
type object struct {
	kind    plumbing.ObjectType
	size    int64
	content []byte
}

// users is the user's repository. Git reads it, and copies from it into the private one.
type users struct {
	Options
	own    *private
	others []string // more directories of objects, which git reads
}

// Environ returns the variables that make git write objects into the private repository, and read
// those of the user's, too.
func (s *Store) Environ() ([]string, error) { return s.users.environ() }

func (u *users) environ() ([]string, error) {
	if err := u.own.open(); err != nil {
		return nil, err
	}
	dirs := append([]string{u.ObjectsDir}, u.others...)
	for i, dir := range dirs {
		if strings.ContainsAny(dir, ":\"\n") && dir[0] == '/' {
			dirs[i] = strconv.Quote(dir)
		}
	}
	also := strings.Join(dirs, string(os.PathListSeparator))
	return []string{"GIT_OBJECT_DIRECTORY=" + u.own.objects.path, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + also}, nil
}

// git runs git on the private repository, with the user's objects as alternates. So the settings
// and the owner of the user's repository do not matter.
func (u *users) git(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	if u.Git == nil {
		return nil, errNoGit
	}
	env, err := u.environ()
	if err != nil {
		return nil, err
	}
	return u.Git.Run(ctx, Call{Dir: u.own.dir, Args: append([]string{"--no-replace-objects", "--git-dir=" + u.own.dir}, args...), Env: env, Stdin: stdin})
}

func lines(ids []plumbing.Hash) []byte {
	var b bytes.Buffer
	for _, id := range ids {
		b.WriteString(id.String() + "\n")
	}
	return b.Bytes()
}

// sizes returns the kinds and sizes in the headers of objects of the user's repository.
func (u *users) sizes(ctx context.Context, ids []plumbing.Hash) (map[plumbing.Hash]object, error) {
	out, err := u.git(ctx, lines(ids), "cat-file", "--batch-check")
	if err != nil {
		return nil, err
	}
	found := make(map[plumbing.Hash]object)
	for line := range strings.Lines(string(out)) {
		if id, o, err := header(line); err == nil {
			found[id] = o
		}
	}
	return found, nil
}

// header parses "<id> <type> <size>". For a missing object git prints something else.
func header(line string) (id plumbing.Hash, o object, err error) {
	var name, kind string
	if _, err = fmt.Sscan(line, &name, &kind, &o.size); err == nil {
		o.kind, err = plumbing.ParseObjectType(kind)
	}
	return plumbing.NewHash(name), o, err
}

// several returns objects of the user's repository, large ones without their content. It leaves out
// missing ones.
func (u *users) several(ctx context.Context, ids []plumbing.Hash) (map[plumbing.Hash]object, error) {
	found, err := u.sizes(ctx, ids)
	if err != nil {
		return nil, err
	}
	var small []plumbing.Hash
	for id, o := range found {
		if o.size <= Large {
			small = append(small, id)
		}
	}
	if len(small) == 0 {
		return found, nil
	}
	out, err := u.git(ctx, lines(small), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	for range small {
		line, rest, _ := bytes.Cut(out, []byte{'\n'})
		id, o, err := header(string(line))
		if err != nil || o.size < 0 || o.size >= int64(len(rest)) {
			return nil, errDamaged
		}
		o.content, out = rest[:o.size:o.size], rest[o.size+1:]
		if Sum(o.kind, o.content) != id {
			return nil, ErrForged
		}
		found[id] = o
	}
	return found, nil
}

// find returns an object of the user's repository, or of the source of a partial clone. A large one
// has no content.
func (u *users) find(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash) (o object, err error) {
	found, err := u.several(ctx, []plumbing.Hash{id})
	o, ok := found[id]
	switch {
	case err == nil && ok && o.kind != kind:
		return o, errKind
	case err == nil && ok:
		return o, nil
	case err != nil && !errors.Is(err, errNoGit), u.Promised == nil, ctx.Err() != nil:
		return o, cmp.Or(err, ctx.Err(), plumbing.ErrObjectNotFound)
	}
	if o.size, err = u.promisedSize(ctx, id); err != nil || o.size > Large {
		return o, err
	}
	o.content, err = u.Promised.Run(ctx, Call{Dir: u.Dir, Args: []string{"cat-file", kind.String(), id.String()}})
	if err == nil && Sum(kind, o.content) != id {
		err = ErrForged
	}
	return o, err
}

// size returns the length of a blob, found as by find.
func (u *users) size(ctx context.Context, id plumbing.Hash) (int64, error) {
	found, err := u.sizes(ctx, []plumbing.Hash{id})
	switch o, ok := found[id]; {
	case err == nil && ok:
		return o.size, nil
	case u.Promised != nil:
		return u.promisedSize(ctx, id)
	}
	return 0, cmp.Or(err, plumbing.ErrObjectNotFound)
}

func (u *users) promisedSize(ctx context.Context, id plumbing.Hash) (int64, error) {
	out, err := u.Promised.Run(ctx, Call{Dir: u.Dir, Args: []string{"cat-file", "-s", id.String()}})
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

// Fetch loads blobs that will be needed, because running git for many takes as long as for one.
func (s *Store) Fetch(ctx context.Context, ids []plumbing.Hash) error {
	const atOnce = 100 // git prints 2 GiB at most for so many
	var missing []plumbing.Hash
	for _, id := range ids {
		if !s.atHand(id) {
			missing = append(missing, id)
		}
	}
	for len(missing) > 0 && s.users.Git != nil {
		n := min(atOnce, len(missing))
		found, err := s.users.several(ctx, missing[:n])
		if err != nil {
			return err
		}
		missing = missing[n:]
		for id, o := range found {
			if o.kind == plumbing.BlobObject && o.content != nil {
				if err := s.Keep(id, o.content); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// pack lets git write packs into the private repository, and syncs them.
func (u *users) pack(ctx context.Context, stdin []byte, args ...string) error {
	out, err := u.git(ctx, stdin, args...)
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(string(out)) {
		if plumbing.IsHash(name) && err == nil {
			err = u.own.settle(filepath.Join(u.own.objects.path, "pack"), "pack-"+name+".pack", "pack-"+name+".idx")
		}
	}
	return errors.Join(err, u.own.objects.close()) // it does not know the packs yet
}

// copy lets git copy objects of the user's repository into the private one.
func (u *users) copy(ctx context.Context, ids []plumbing.Hash, how ...string) error {
	if err := u.own.open(); err != nil || len(ids) == 0 {
		return err
	}
	args := slices.Concat([]string{"pack-objects", "-q"}, how, []string{filepath.Join(u.own.objects.path, "pack", "pack")})
	return u.pack(ctx, lines(ids), args...)
}

// copyWhole copies large objects without deltas, so that they can be streamed.
func (u *users) copyWhole(ctx context.Context, ids ...plumbing.Hash) error {
	return u.copy(ctx, ids, "--no-reuse-delta", "--window=0")
}

// Adopt copies a tree of the user's repository with everything in it.
func (s *Store) Adopt(ctx context.Context, tree plumbing.Hash) error {
	return s.users.copy(ctx, []plumbing.Hash{tree}, "--revs")
}
