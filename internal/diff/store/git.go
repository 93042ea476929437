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

// Environ returns the variables that make git write objects into the private repository, and read
// those of the user's, too.
func (s *Store) Environ() ([]string, error) {
	if err := s.own.open(); err != nil {
		return nil, err
	}
	also := []string{s.o.ObjectsDir}
	if s.beneath != nil && s.beneath.own.directory() != nil {
		also = append(also, s.beneath.own.directory().path)
	}
	for i, dir := range also {
		if strings.ContainsAny(dir, ":\"\n") && dir[0] == '/' {
			also[i] = strconv.Quote(dir)
		}
	}
	return []string{
		"GIT_OBJECT_DIRECTORY=" + s.own.objects.path,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + strings.Join(also, string(os.PathListSeparator)),
	}, nil
}

// git runs git on the private repository, with the user's objects as alternates. So the settings
// and the owner of the user's repository do not matter.
func (s *Store) git(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	if s.o.Git == nil {
		return nil, errNoGit
	}
	env, err := s.Environ()
	if err != nil {
		return nil, err
	}
	return s.o.Git.Run(ctx, Call{Dir: s.own.dir, Args: append([]string{"--no-replace-objects", "--git-dir=" + s.own.dir}, args...), Env: env, Stdin: stdin})
}

func lines(ids []plumbing.Hash) []byte {
	var b bytes.Buffer
	for _, id := range ids {
		b.WriteString(id.String() + "\n")
	}
	return b.Bytes()
}

// headers returns the kinds and sizes of objects. It leaves out missing ones.
func (s *Store) headers(ctx context.Context, ids []plumbing.Hash) (map[plumbing.Hash]object, error) {
	out, err := s.git(ctx, lines(ids), "cat-file", "--batch-check")
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

// several returns objects, large ones without their content. It leaves out missing ones.
func (s *Store) several(ctx context.Context, ids []plumbing.Hash) (map[plumbing.Hash]object, error) {
	found, err := s.headers(ctx, ids)
	var small []plumbing.Hash
	for id, o := range found {
		if o.size <= Large {
			small = append(small, id)
		}
	}
	if err != nil || len(small) == 0 {
		return found, err
	}
	out, err := s.git(ctx, lines(small), "cat-file", "--batch")
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
// has no content, and none has if only the size is needed.
func (s *Store) find(ctx context.Context, kind plumbing.ObjectType, id plumbing.Hash, whole bool) (o object, err error) {
	look := s.headers
	if whole {
		look = s.several
	}
	found, err := look(ctx, []plumbing.Hash{id})
	o, ok := found[id]
	switch {
	case err == nil && ok && o.kind != kind:
		return o, errKind
	case err == nil && ok:
		return o, nil
	case err != nil && !errors.Is(err, errNoGit), s.o.Promised == nil, ctx.Err() != nil:
		return o, cmp.Or(err, ctx.Err(), plumbing.ErrObjectNotFound)
	}
	out, err := s.o.Promised.Run(ctx, Call{Dir: s.o.Dir, Args: []string{"cat-file", "-s", id.String()}})
	if err == nil {
		o.size, err = strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	}
	if err != nil || o.size > Large || !whole {
		return o, err
	}
	o.content, err = s.o.Promised.Run(ctx, Call{Dir: s.o.Dir, Args: []string{"cat-file", kind.String(), id.String()}})
	if err == nil && Sum(kind, o.content) != id {
		err = ErrForged
	}
	return o, err
}

// Fetch loads blobs that will be needed, because running git for many takes as long as for one.
func (s *Store) Fetch(ctx context.Context, ids []plumbing.Hash) error {
	const atOnce = 100 // git prints 2 GiB at most for so many
	missing := slices.DeleteFunc(slices.Clone(ids), s.atHand)
	for some := range slices.Chunk(missing, atOnce) {
		if s.o.Git == nil {
			return nil
		}
		found, err := s.several(ctx, some)
		if err != nil {
			return err
		}
		for id, o := range found {
			if o.kind != plumbing.BlobObject || o.content == nil {
				continue
			}
			if err := s.Keep(id, o.content); err != nil {
				return err
			}
		}
	}
	return nil
}

// pack lets git write packs into the private repository, and syncs them.
func (s *Store) pack(ctx context.Context, stdin []byte, args ...string) error {
	out, err := s.git(ctx, stdin, args...)
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(out)) {
		if plumbing.IsHash(name) && err == nil {
			err = s.own.settle(filepath.Join(s.own.objects.path, "pack"), "pack-"+name+".pack", "pack-"+name+".idx")
		}
	}
	return errors.Join(err, s.own.objects.close()) // it does not know the packs yet
}

// copy lets git copy objects of the user's repository into the private one.
func (s *Store) copy(ctx context.Context, ids []plumbing.Hash, how ...string) error {
	if err := s.own.open(); err != nil || len(ids) == 0 {
		return err
	}
	args := slices.Concat([]string{"pack-objects", "-q"}, how, []string{filepath.Join(s.own.objects.path, "pack", "pack")})
	return s.pack(ctx, lines(ids), args...)
}

// copyWhole copies large objects without deltas, so that they can be streamed.
func (s *Store) copyWhole(ctx context.Context, ids ...plumbing.Hash) error {
	return s.copy(ctx, ids, "--no-reuse-delta", "--window=0")
}

// Adopt copies a tree of the user's repository with everything in it.
func (s *Store) Adopt(ctx context.Context, tree plumbing.Hash) error {
	return s.copy(ctx, []plumbing.Hash{tree}, "--revs")
}
