package parcel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/queue/git"
	"codeloops/internal/repo"
	"codeloops/internal/wording"
)

// A Room is a bare repository of codeloops' own, which borrows the objects of others: what is taken
// in leaves no trace there, and refs are made without anybody having them.
type Room struct {
	*git.Repo

	borrowed []string
}

// OpenRoom opens the room in a directory, which is made where it is missing. It borrows from the
// directories of objects that are named.
func OpenRoom(ctx context.Context, dir string, starter git.Starter, environ []string, borrow ...string) (*Room, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a repository: %w", err)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("make a repository: %w", err)
	}
	r := &Room{Repo: &git.Repo{Root: dir, CommonDir: dir, Environ: repo.WithoutRepository(environ), Starter: starter}}
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		if _, err := r.Run(ctx, dir, "init", "--quiet", "--bare", "--template=", "--initial-branch=main", "."); err != nil {
			return nil, err
		}
	}
	return r, r.Borrow(borrow...)
}

// Borrow has the room see the objects of more directories.
func (r *Room) Borrow(dirs ...string) error {
	for _, dir := range dirs {
		if !slices.Contains(r.borrowed, dir) {
			r.borrowed = append(r.borrowed, dir)
		}
	}
	if len(r.borrowed) == 0 {
		return nil
	}
	info := filepath.Join(r.CommonDir, "objects", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(info, "alternates"), []byte(strings.Join(r.borrowed, "\n")+"\n"), 0o600)
}

// commitID matches the id of an object.
var commitID = wording.Pattern(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// Known are those of some commits that the room has.
func (r *Room) Known(ctx context.Context, ids []string) (known []string, err error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !commitID().MatchString(id) })
	if len(ids) == 0 {
		return nil, nil
	}
	c := git.Call{Dir: r.Root, Stdin: []byte(strings.Join(ids, "\n") + "\n")}
	out, err := r.Do(ctx, c, "cat-file", "--batch-check=%(objectname) %(objecttype)")
	for line := range strings.Lines(out) {
		if id, ok := strings.CutSuffix(strings.TrimSpace(line), " commit"); ok {
			known = append(known, id)
		}
	}
	return known, err
}

// Set makes refs, each of them what it is to be.
func (r *Room) Set(ctx context.Context, refs map[string]string) error {
	if len(refs) == 0 {
		return nil
	}
	var b strings.Builder
	for name, id := range refs {
		if !commitID().MatchString(id) {
			return fmt.Errorf("%q is no commit", id)
		}
		b.WriteString("update " + name + "\x00" + id + "\x00\x00")
	}
	_, err := r.Do(ctx, git.Call{Dir: r.Root, Stdin: []byte(b.String())}, "update-ref", "-z", "--stdin")
	return err
}

// Bundle writes what refs of the room lead to into a file, but what some commits lead to: whoever
// reads it has these. ok is false where nothing is left; then there is no file.
func (r *Room) Bundle(ctx context.Context, file string, refs, without []string) (ok bool, err error) {
	args := slices.Clone(refs)
	for _, id := range without {
		args = append(args, "^"+id)
	}
	left, err := r.Run(ctx, r.Root, append([]string{"rev-list", "--max-count=1"}, args...)...)
	if err != nil || left == "" {
		return false, err
	}
	_, err = r.Run(ctx, r.Root, append([]string{"bundle", "create", "--quiet", file}, args...)...)
	return err == nil, err
}

// ErrWrong says that a parcel is not what it should be.
var ErrWrong = errors.New("it is not what it should be")

// Unbundle takes refs in from a file, of which it may have those alone that are named. The room has to
// have what the bundle leads on from.
func (r *Room) Unbundle(ctx context.Context, file string, refs ...string) error {
	heads, err := r.Run(ctx, r.Root, "bundle", "list-heads", file)
	if err != nil {
		return err
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--force", file}
	for line := range strings.Lines(heads) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !slices.Contains(refs, name) {
			return fmt.Errorf("the parcel has the ref %q, and should have %s: %w", name, strings.Join(refs, ", "), ErrWrong)
		}
		args = append(args, "+"+name+":"+name)
	}
	_, err = r.Run(ctx, r.Root, args...)
	return err
}

// Give has another repository take refs of the room, as [git fetch] spells them. All that it gets is
// checked as thoroughly as git can.
func (r *Room) Give(ctx context.Context, to string, refs ...string) error {
	args := []string{
		"-c", "transfer.fsckObjects=true", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
		r.CommonDir,
	}
	_, err := r.Run(ctx, to, append(args, refs...)...)
	return err
}
