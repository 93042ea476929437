package diff_test

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// TestLFS: files that LFS keeps elsewhere differ by their pointers, as in git's own diff,
// and are restored in full. Git runs this test itself as the filter.
func TestLFS(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("CODELOOPS_TEST_LFS"); dir != "" {
		lfs{dir, bufio.NewReader(os.Stdin), os.Stdout}.serve()
		_ = os.RemoveAll(sandboxes) // which nobody else will do
		os.Exit(0)                  // without the test framework's output
	}
	for _, required := range []string{"true", "false"} {
		t.Run("required "+required, func(t *testing.T) {
			t.Parallel()
			testLFS(t, required)
		})
	}
}

func testLFS(t *testing.T, required string) {
	t.Helper()
	s := newRepo(t)
	elsewhere := filepath.Join(s.base, "elsewhere")
	s.must(os.Mkdir(elsewhere, 0o755))
	s.git("config", "filter.lfs.process", fmt.Sprintf("CODELOOPS_TEST_LFS='%s' '%s' '-test.run=^TestLFS$'", elsewhere, os.Args[0]))
	s.git("config", "filter.lfs.required", required)
	s.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	first, second := "\x00first\r\n", strings.Repeat("second\x00\n", 100_000)
	s.write("a.bin", first)
	s.write("d/pointer.bin", pointerTo("what has not been fetched")) // a file that contains a pointer itself
	s.commit("first")
	s.stale("a.bin")
	s.stale("d/pointer.bin")
	tree, o := s.begin(), newOracle(s)
	o.capture(tree)
	s.write("a.bin", second)
	s.write("d/new.bin", first)
	c := o.capture(tree)
	if got := summary(c); got != "M a.bin\nA d/new.bin\n" || !strings.Contains(c.Patch(), pointerLines("+", second)) || !strings.Contains(c.Patch(), pointerLines("-", first)) {
		t.Errorf("captured %s", c.Patch())
	}
	s.remove("d")
	s.write("a.bin", "third")
	s.restore(tree, c)
	s.holds("a.bin", second)
	s.holds("d/new.bin", first)
	s.holds("d/pointer.bin", pointerTo("what has not been fetched"))
	s.restore(tree, loop.Change{State: tree.BaseState()})
	s.holds("a.bin", first)
	if got := o.now(); got != o.start {
		t.Errorf("put back:\n%s", o.patch(got))
	}
}

func (s *sandbox) holds(name, want string) {
	s.t.Helper()
	got, err := os.ReadFile(s.path(name))
	s.must(err)
	if string(got) != want {
		s.t.Errorf("%s is %.200q, want %.200q", name, got, want)
	}
}

// pointerTo returns the pointer to content.
func pointerTo(content string) string {
	return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sha256.Sum256([]byte(content)), len(content))
}

// pointerLines returns the lines of a pointer that depend on the content, as in a diff.
func pointerLines(mark, content string) string {
	_, rest, _ := strings.Cut(pointerTo(content), "\n")
	oid, size, _ := strings.Cut(rest, "\n")
	return mark + oid + "\n" + mark + size
}

// An lfs is a filter by the protocol of gitattributes(5), "Long Running Filter Process".
// It keeps contents in a directory.
type lfs struct {
	dir string
	in  *bufio.Reader
	out io.Writer
}

func (l lfs) serve() {
	l.list()
	l.say("git-filter-server\n", "version=2\n", "")
	l.list()
	l.say("capability=clean\n", "capability=smudge\n", "")
	for asked := l.list(); len(asked) > 0; asked = l.list() {
		content := strings.Join(l.list(), "")
		isPointer := strings.HasPrefix(content, "version https://git-lfs")
		switch {
		case asked[0] == "command=clean\n" && !isPointer:
			pointer := pointerTo(content)
			if os.WriteFile(l.at(pointer), []byte(content), 0o600) != nil {
				return
			}
			content = pointer
		case asked[0] == "command=smudge\n" && isPointer:
			if kept, err := os.ReadFile(l.at(content)); err == nil {
				content = string(kept)
			}
		}
		l.say("status=success\n", "")
		for len(content) > 0 {
			n := min(len(content), 60_000)
			l.say(content[:n])
			content = content[n:]
		}
		l.say("", "")
	}
}

func (l lfs) at(pointer string) string {
	return filepath.Join(l.dir, fmt.Sprintf("%x", sha256.Sum256([]byte(pointer))))
}

// list reads packets until an empty one or the end.
func (l lfs) list() (packets []string) {
	for {
		head := make([]byte, 4)
		if _, err := io.ReadFull(l.in, head); err != nil {
			return nil
		}
		size, err := strconv.ParseUint(string(head), 16, 16)
		if err != nil || size == 0 {
			return packets
		}
		packet := make([]byte, size-4)
		if _, err := io.ReadFull(l.in, packet); err != nil {
			return nil
		}
		packets = append(packets, string(packet))
	}
}

// say writes packets.
func (l lfs) say(packets ...string) {
	for _, packet := range packets {
		if packet == "" {
			_, _ = io.WriteString(l.out, "0000")
			continue
		}
		_, _ = fmt.Fprintf(l.out, "%04x%s", len(packet)+4, packet)
	}
}
