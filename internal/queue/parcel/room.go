package parcel

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	program "codeloops/internal/git"
	"codeloops/internal/queue/git"
	"codeloops/internal/wording"
)

// A Room is a bare repository of codeloops that borrows objects from others: it can hold refs and received commits
// without any change to the user's repository.
type Room struct {
	*git.Repo

	borrowed []string
}

// OpenRoom opens or makes the room in a directory. It borrows from the given object directories.
func OpenRoom(dir string, starter git.Starter, environ []string, borrow ...string) (*Room, error) {
	if err := git.Borrow(dir, borrow...); err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("make a repository: %w", err)
	}
	return &Room{Repo: &git.Repo{Root: dir, CommonDir: dir, Environ: program.WithoutRepository(environ), Starter: starter}, borrowed: borrow}, nil
}

// Borrow lets the room read more object directories.
func (r *Room) Borrow(dirs ...string) error {
	for _, dir := range dirs {
		if !slices.Contains(r.borrowed, dir) {
			r.borrowed = append(r.borrowed, dir)
		}
	}
	return git.Borrow(r.CommonDir, r.borrowed...)
}

// commitID matches an object ID.
var commitID = wording.Pattern(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// Set sets refs.
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

// Bundle writes a bundle of all refs of what travels, without the history of commits that the recipient has, of which
// the room may lack some. It reports whether there is anything else: if not, it writes no file.
func (r *Room) Bundle(ctx context.Context, file string, without []string) (news bool, err error) {
	all, err := r.Refs(refs)
	if err != nil {
		return false, err
	}
	var args strings.Builder
	for name := range all {
		args.WriteString(name + "\n")
	}
	for _, id := range without {
		if commitID().MatchString(id) {
			args.WriteString("^" + id + "\n")
		}
	}
	c := git.Call{Dir: r.Root, Stdin: []byte(args.String())}
	left, err := r.Do(ctx, c, "rev-list", "--ignore-missing", "--max-count=1", "--stdin")
	if err != nil || left == "" {
		return false, err
	}
	_, err = r.Do(ctx, c, "bundle", "create", "--quiet", file, "--ignore-missing", "--stdin")
	return err == nil, err
}

// ErrWrong rejects a malformed parcel.
var ErrWrong = errors.New("it is invalid")

// Unbundle imports a bundle of what travels, and no other refs. The room must have the commits that it builds on.
func (r *Room) Unbundle(ctx context.Context, file string) error {
	_, err := r.Run(ctx, r.Root, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", file, "+"+refs+"*:"+refs+"*")
	return err
}

// Give lets another repository fetch refs of the room, in the syntax of git fetch. Git checks all objects.
func (r *Room) Give(ctx context.Context, to string, specs ...string) error {
	other := *r.Repo
	other.Root = to
	return other.Fetch(ctx, r.CommonDir, specs...)
}
