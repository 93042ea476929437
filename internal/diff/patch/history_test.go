package patch_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/diff/patch"
)

// A repo is a git directory, read with the git command and only its own configuration.
type repo struct{ gitDir string }

func (r repo) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	args = append([]string{"-c", "core.attributesFile=/dev/null", "-c", "core.quotePath=true"}, args...)
	cmd := exec.CommandContext(t.Context(), "git", args...)
	// Avoid a work tree with attributes.
	cmd.Dir = r.gitDir
	cmd.Env = append(cmd.Environ(),
		"GIT_DIR="+r.gitDir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_NO_REPLACE_OBJECTS=1", "HOME="+r.gitDir, "XDG_CONFIG_HOME="+r.gitDir,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	)
	return cmd
}

func (r repo) run(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	cmd := r.command(t, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// openRepo opens a repository, given its work tree or git directory.
func openRepo(t *testing.T, dir string) repo {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "rev-parse", "--absolute-git-dir").Output()
	if err != nil {
		t.Fatalf("find the git directory of %s: %v", dir, err)
	}
	return repo{strings.TrimSuffix(string(out), "\n")}
}

// stream starts git and returns its output. The process ends when the test does.
func (r repo) stream(t *testing.T, stdin string, args ...string) *bufio.Reader {
	t.Helper()
	cmd := r.command(t, args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = out.Close()
		_ = cmd.Wait()
	})
	return bufio.NewReaderSize(out, 1<<20)
}

// A file is a path's state in a generated commit.
type file struct {
	mode    uint32
	content string // a hexadecimal ID for a gitlink
}

// A commit holds the changes of a generated commit; mode 0 deletes a path.
type commit map[string]file

// newRepo makes a bare repository of the commits, each the parent of the next.
func newRepo(t *testing.T, commits []commit) repo {
	t.Helper()
	r := repo{t.TempDir()}
	r.run(t, "", "init", "-q", "--bare", "-b", "main")
	var in strings.Builder
	for _, c := range commits {
		in.WriteString("commit refs/heads/main\ncommitter a <a@example.com> 0 +0000\ndata 0\n")
		// Deletions come first, because a path may make way for a directory.
		for path, f := range c {
			if f.mode == patch.Absent {
				fmt.Fprintf(&in, "D %s\n", fastImportName(path))
			}
		}
		for path, f := range c {
			switch f.mode {
			case patch.Absent:
			case patch.Gitlink:
				fmt.Fprintf(&in, "M 160000 %s %s\n", f.content, fastImportName(path))
			default:
				fmt.Fprintf(&in, "M %o inline %s\ndata %d\n%s\n", f.mode, fastImportName(path), len(f.content), f.content)
			}
		}
	}
	r.run(t, in.String(), "fast-import", "--quiet")
	return r
}

func fastImportName(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		fmt.Fprintf(&b, "\\%03o", path[i])
	}
	b.WriteByte('"')
	return b.String()
}

// A pathChange is the raw difference of one path in a commit.
type pathChange struct {
	path          string
	before, after patch.Side
}

// A commitDiff is the difference between a commit and its parent, as git prints it.
type commitDiff struct {
	id    string
	paths []pathChange
	text  []byte
}

// diffs yields the differences of the newest commits of HEAD, without merges. The yielded
// text is valid only until the next one.
func (r repo) diffs(t *testing.T, limit int) func(func(commitDiff) bool) {
	t.Helper()
	commits := r.run(t, "", "rev-list", "--no-merges", "-n", strconv.Itoa(limit), "HEAD")
	raw := r.stream(t, commits, "diff-tree", "--stdin", "--root", "-r", "--raw", "-z", "--no-abbrev", "--no-renames")
	text := r.stream(t, commits, "diff-tree", "--stdin", "--root", "-r", "-p", "--full-index", "--no-renames")
	blobs := newBlobReader(t, r)
	return func(yield func(commitDiff) bool) {
		paths, texts := rawReader{in: raw}, textReader{in: text}
		for {
			id, changes, err := paths.next(t)
			if errors.Is(err, io.EOF) {
				return
			}
			for i := range changes {
				blobs.fill(t, &changes[i].before)
				blobs.fill(t, &changes[i].after)
			}
			d := commitDiff{id: id, paths: changes, text: texts.next(t, id)}
			if !yield(d) {
				return
			}
		}
	}
}

// rawReader reads "<commit>\0" followed by ":modes ids status\0path\0" entries.
type rawReader struct {
	in   *bufio.Reader
	peek string
}

func (r *rawReader) next(t *testing.T) (id string, changes []pathChange, err error) {
	t.Helper()
	id = r.peek
	if id == "" {
		if id, err = r.in.ReadString(0); err != nil {
			return "", nil, io.EOF
		}
	}
	r.peek = ""
	for {
		entry, err := r.in.ReadString(0)
		if err != nil || entry[0] != ':' {
			r.peek = entry
			return strings.Trim(id, "\x00\n"), changes, nil //nolint:nilerr // the next call finds the end
		}
		path, err := r.in.ReadString(0)
		if err != nil {
			t.Fatalf("raw entry %q has no path", entry)
		}
		fields := strings.Fields(strings.Trim(entry, ":\x00"))
		changes = append(changes, pathChange{
			path:   strings.TrimSuffix(path, "\x00"),
			before: rawSide(t, fields[0], fields[2]),
			after:  rawSide(t, fields[1], fields[3]),
		})
	}
}

func rawSide(t *testing.T, mode, id string) patch.Side {
	t.Helper()
	var s patch.Side
	m, err := strconv.ParseUint(mode, 8, 32)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hex.Decode(s.ID[:], []byte(id)); err != nil {
		t.Fatal(err)
	}
	s.Mode = uint32(m)
	return s
}

// textReader reads the patch text of each commit. The text starts with the commit's ID on
// its own line, which cannot be a line of a patch.
type textReader struct {
	in     *bufio.Reader
	buffer []byte
	opened bool
}

var commitLine = regexp.MustCompile(`^[0-9a-f]{40}\n$`)

func (r *textReader) next(t *testing.T, id string) []byte {
	t.Helper()
	if !r.opened {
		first, err := r.in.ReadString('\n')
		if err != nil || strings.TrimSpace(first) != id {
			t.Fatalf("patches start with %q, want commit %s (%v)", first, id, err)
		}
		r.opened = true
	}
	r.buffer = r.buffer[:0]
	for {
		lineStart := len(r.buffer)
		for {
			part, err := r.in.ReadSlice('\n')
			r.buffer = append(r.buffer, part...)
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil {
				return r.buffer
			}
			break
		}
		if line := r.buffer[lineStart:]; len(line) == 41 && commitLine.Match(line) {
			return r.buffer[:lineStart]
		}
	}
}

// blobReader reads objects with a single git process.
type blobReader struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func newBlobReader(t *testing.T, r repo) *blobReader {
	t.Helper()
	cmd := r.command(t, "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &blobReader{in, bufio.NewReaderSize(out, 1<<20)}
}

// fill reads the content of a side.
func (b *blobReader) fill(t *testing.T, s *patch.Side) {
	t.Helper()
	if s.Mode == patch.Absent || s.Mode == patch.Gitlink {
		return
	}
	if _, err := fmt.Fprintf(b.in, "%x\n", s.ID); err != nil {
		t.Fatal(err)
	}
	head, err := b.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(head)
	size, err := strconv.Atoi(fields[len(fields)-1])
	if err != nil {
		t.Fatalf("git cat-file says %q; is the repository complete?", head)
	}
	s.Content = make([]byte, size)
	if _, err := io.ReadFull(b.out, s.Content); err != nil {
		t.Fatal(err)
	}
	if _, err := b.out.Discard(1); err != nil {
		t.Fatal(err)
	}
}
