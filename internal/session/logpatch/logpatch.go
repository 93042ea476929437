// Package logpatch has git work with the diffs in session logs.
//
// For each iteration, a log has everything that had changed since the session began, as
// patches, but no file. [Edits] makes the files of an iteration from those that the session
// began with.
package logpatch

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/wording"
)

// gitlink is the mode of a nested repository.
const gitlink = 0o160000

// ErrNotRecorded is a file that is not what was recorded after its patch was applied.
var ErrNotRecorded = errors.New("the diff in the log does not give the file that was recorded: a secret may have been redacted in it, or the file was another one before")

// A Base is the current state of the work tree in which a session's files are rebuilt.
type Base interface {
	// File returns what is at a path; mode 0 is nothing.
	File(path string) (mode uint32, id string)
	// Blob returns the content of a blob by its whole id.
	Blob(ctx context.Context, id string) ([]byte, error)
}

// Edits returns the edits that turn a work tree, in which the files are as the session found
// them, into the one that a change was captured from. The commits of nested repositories stay,
// as HEAD does; [Commits] counts them. With anyway, a file that has changed since is replaced
// all the same, if the repository holds what the session began with. The error names every
// file that cannot be rebuilt.
func Edits(ctx context.Context, git diff.Git, c loop.Change, base Base, anyway bool) ([]diff.Edit, error) {
	c.Files = slices.DeleteFunc(slices.Clone(c.Files), func(f loop.FileChange) bool { return f.OldMode == gitlink || f.NewMode == gitlink })
	if len(c.Files) == 0 {
		return nil, nil
	}
	s, err := newScratch(ctx, git)
	if err != nil {
		return nil, err
	}
	defer s.remove()
	before := map[string]diff.Blob{}
	recorded := map[string]string{}
	for _, f := range c.Files {
		was, is := ids(f)
		recorded[f.Path] = is
		if _, known := before[f.Path]; !known {
			before[f.Path] = origin(base, f, was, anyway)
		}
		if f.OldPath != "" {
			before[f.OldPath] = origin(base, loop.FileChange{Path: f.OldPath, OldMode: f.OldMode}, was, anyway)
		}
	}
	if err := s.fill(ctx, before, base); err != nil {
		return nil, err
	}
	if _, err := s.run(ctx, []byte(c.ApplicablePatch()), "apply", "--cached", "--whitespace=nowarn", "--no-ignore-whitespace"); err != nil {
		if exit, ok := errors.AsType[*proc.ExitError](err); ok {
			err = errors.New(exit.Stderr) // a line for each file
		}
		return nil, err
	}
	return s.edits(ctx, before, recorded)
}

// origin is the file that a patch is applied to.
func origin(base Base, f loop.FileChange, was string, anyway bool) (b diff.Blob) {
	b.Mode, b.ID = base.File(f.Path)
	switch {
	case !anyway || strings.HasPrefix(b.ID, was) && b.ID != "":
	case f.Status == loop.FileAdded:
		return diff.Blob{}
	case len(was) == wholeID:
		b = diff.Blob{Mode: cmp.Or(f.OldMode, b.Mode, 0o100644), ID: was}
	}
	return b
}

const wholeID = 40

// ids returns the ids of a file before and after a patch, which may be abbreviated; "" if it does not tell.
func ids(f loop.FileChange) (was, is string) {
	for line := range strings.Lines(cmp.Or(f.BinaryPatch, f.Patch)) {
		if strings.HasPrefix(line, "@@ ") || strings.HasPrefix(line, "GIT binary patch") {
			break
		}
		if both, ok := strings.CutPrefix(line, "index "); ok {
			both, _, _ = strings.Cut(strings.TrimSpace(both), " ")
			was, is, _ = strings.Cut(both, "..")
		}
	}
	return was, is
}

// Commits counts the nested repositories that a change adds, removes or moves to another
// commit.
func Commits(c loop.Change) (n int) {
	for _, f := range c.Files {
		if f.OldMode == gitlink || f.NewMode == gitlink {
			n++
		}
	}
	return n
}

// Stat says how much a change has changed in each file, as git does.
func Stat(ctx context.Context, git diff.Git, c loop.Change) ([]byte, error) {
	text := c.ApplicablePatch()
	if text == "" {
		return []byte(" 0 files changed\n"), nil
	}
	s, err := newScratch(ctx, git)
	if err != nil {
		return nil, err
	}
	defer s.remove()
	return s.run(ctx, []byte(text), "apply", "--stat")
}

// A scratch is a repository for a moment, without a work tree.
type scratch struct {
	git diff.Git
	dir string
}

func newScratch(ctx context.Context, git diff.Git) (s *scratch, err error) {
	s = &scratch{git: git}
	if s.dir, err = os.MkdirTemp("", "codeloops-patch-"); err == nil {
		_, err = s.run(ctx, nil, "init", "--quiet", "--template=")
	}
	if err != nil {
		s.remove()
	}
	return s, err
}

func (s *scratch) remove() { _ = os.RemoveAll(s.dir) } // it is in the directory for temporary files

func (s *scratch) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return s.git.Run(ctx, diff.GitCall{
		Dir: s.dir, Stdin: stdin, Args: append([]string{"-c", "core.quotePath=false"}, args...),
		Env: []string{
			"GIT_DIR=" + s.dir, "GIT_WORK_TREE=" + s.dir, "GIT_INDEX_FILE=" + filepath.Join(s.dir, "index"),
			"GIT_OBJECT_DIRECTORY=" + filepath.Join(s.dir, "objects"), "GIT_ALTERNATE_OBJECT_DIRECTORIES=",
		},
	})
}

// fill makes the index what files are.
func (s *scratch) fill(ctx context.Context, files map[string]diff.Blob, base Base) error {
	var blobs, index bytes.Buffer
	var problems []error
	for path, b := range files {
		if b.Mode == 0 {
			continue
		}
		content, err := base.Blob(ctx, b.ID)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: the repository does not hold what the session began with: %w", wording.Name(path), err))
		}
		fmt.Fprintf(&blobs, "blob\ndata %d\n%s\n", len(content), content)
		fmt.Fprintf(&index, "%o %s\t%s\x00", b.Mode, b.ID, path)
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	_, err := s.run(ctx, blobs.Bytes(), "fast-import", "--quiet")
	if err == nil {
		_, err = s.run(ctx, index.Bytes(), "update-index", "-z", "--index-info")
	}
	return err
}

// edits returns how the index differs from what it was, if that is what was recorded.
func (s *scratch) edits(ctx context.Context, before map[string]diff.Blob, recorded map[string]string) (edits []diff.Edit, err error) {
	out, err := s.run(ctx, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	var wanted bytes.Buffer
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		facts, path, _ := strings.Cut(entry, "\t")
		words := strings.Fields(facts)
		if len(words) != 3 {
			continue
		}
		mode, _ := strconv.ParseUint(words[0], 8, 32)
		is := diff.Blob{Mode: uint32(mode), ID: words[1]}
		if !strings.HasPrefix(is.ID, recorded[path]) {
			err = errors.Join(err, fmt.Errorf("%s: %w", wording.Name(path), ErrNotRecorded))
		}
		if before[path] != is {
			edits = append(edits, diff.Edit{Path: path, Mode: is.Mode})
			wanted.WriteString(is.ID + "\n")
		}
		delete(before, path)
	}
	if err != nil {
		return nil, err
	}
	if err := s.read(ctx, wanted.Bytes(), edits); err != nil {
		return nil, err
	}
	for path, was := range before {
		if was.Mode != 0 {
			edits = append(edits, diff.Edit{Path: path})
		}
	}
	return edits, nil
}

// read reads the contents of files, whose ids are given one per line.
func (s *scratch) read(ctx context.Context, wanted []byte, edits []diff.Edit) error {
	if len(edits) == 0 {
		return nil
	}
	out, err := s.run(ctx, wanted, "cat-file", "--batch")
	if err != nil {
		return err
	}
	in := bytes.NewBuffer(out)
	for i := range edits {
		var id, kind string
		var size int
		if _, err := fmt.Fscanf(in, "%s %s %d\n", &id, &kind, &size); err != nil || size > in.Len() {
			return errors.Join(io.ErrUnexpectedEOF, err)
		}
		edits[i].Content = in.Next(size)
		in.Next(1) // the end of the line
	}
	return nil
}
