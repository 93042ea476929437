package diff_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

// unshown returns the report on a path whose content the patch does not show, or nil.
func unshown(c loop.Change, path string) *loop.Unshown {
	for _, u := range c.Unshown {
		if u.Path == path {
			return &u
		}
	}
	return nil
}

// TestConverted: where the diff shows something else than the file contains, the file's
// real content is reported in each capture, also in a resumed session.
func TestConverted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]conversion{
		"code between the dollars": {"* ident", "a\n$Id$\n", nil, writes("f", "a\n$Id: code $\n"), "\n-$Id$\n+$Id: code $\n"},
		"code beside a change":     {"* ident", "a\n$Id$\n", nil, writes("f", "b\n$Id: code $\n"), "\n-a\n-$Id$\n+b\n+$Id: code $\n"},
		"code in a new file":       {"* ident", "", nil, writes("f", "$Id: code $\n"), "\n+$Id: code $\n"},
		"an id that git wrote":     {"* ident", "a\n$Id$\n", nil, writes("f", "b\n$Id: "+strings.Repeat("0123abcdef", 4)+" $\n"), ""},
		"nothing that git expands": {"* ident", "a\n", nil, writes("f", "b\n"), ""},
		"attributes that come later": {"", "a\n$Id$\n", nil, func(s *sandbox) {
			s.write(".gitattributes", "f ident\n")
			s.write("f", "a\n$Id: code $\n")
		}, "\n+$Id: code $\n"},
		"attributes that come later outside": {"", "a\n$Id$\n", nil, func(s *sandbox) {
			s.write(".git/info/attributes", "f ident\n")
			s.write("f", "a\n$Id: code $\n")
		}, "\n+$Id: code $\n"},
		"attributes that go": {"* ident", "a\n$Id$\n", nil, func(s *sandbox) {
			s.remove(".gitattributes")
			s.write("f", "a\n$Id: code $\n")
		}, ""},
		"UTF-7":               {"f working-tree-encoding=UTF-7", "a\n", nil, writes("f", "# +AAo-assert\n"), "\n-a\n+# +AAo-assert\n"},
		"UTF-16":              {"f working-tree-encoding=UTF-16LE-BOM", "\xff\xfea\x00\n\x00", nil, writes("f", "\xff\xfeb\x00\n\x00"), ""},
		"UTF-16 of no mark":   {"f working-tree-encoding=UTF-16BE", "\x00a\x00b\x00c\x00\n", nil, writes("f", "\x00d\x00e\x00f\x00\n"), ""},
		"UTF-16 that is not":  {"f working-tree-encoding=UTF-16LE", "a\x00\n\x00", nil, writes("f", "evil code\n"), "\n+evil code\n"},
		"Latin-1":             {"f working-tree-encoding=ISO-8859-1", "a\n", nil, writes("f", "gr\xfc\xdfe\n"), ""},
		"line ends":           {"* text=auto", "a\n", nil, writes("f", "b\r\nc\r\n"), ""},
		"a file that goes":    {"* ident", "$Id: code $\n", nil, removes("f"), ""},
		"line ends and an id": {"* ident text eol=crlf", "a\n", nil, writes("f", "b\r\n$Id$\r\n"), ""},
		"a filter that hides": {"* filter=h", "a\n", []string{"filter.h.clean", "grep -v evil"}, writes("f", "a\nevil\n"), "\n+evil\n"},
		"a filter for good":   {"* filter=h", "a\n", []string{"filter.h.clean", "tr a-z A-Z", "filter.h.smudge", "tr A-Z a-z"}, writes("f", "b\n"), "\n+b\n"},
		"a filter that loses what stood there before": {"* filter=h", "a\nevil\n", []string{"filter.h.clean", "grep -v evil"}, func(*sandbox) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			c.begin(s)
			tree := s.begin()
			if first, err := tree.Capture(t.Context()); err != nil || first.Unshown != nil {
				t.Fatalf("before the change: %v, %s", err, notShown(first))
			}
			base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
			s.must(err)
			c.change(s)
			again := s.open()
			s.must(again.Resume(t.Context(), base))
			for i, tree := range []*diff.Tree{tree, tree, again, again} {
				got, err := tree.Capture(t.Context())
				s.must(err)
				if i < 2 || !strings.HasSuffix(name, "before") { // a resumed session does not know the file's earlier stat
					c.check(t, got)
				}
			}
		})
	}
}

// TestConvertedAtTheFullSecond: a resumed session recognizes a changed file even if the
// file's time is just before the time of the checkpoint. A checkpoint has only whole
// seconds, and the system may give a file that was written a moment later a time a moment
// earlier.
func TestConvertedAtTheFullSecond(t *testing.T) {
	t.Parallel()
	c := conversion{"* ident", "a\n$Id$\n", nil, writes("f", "a\n$Id: code $\n"), "\n-$Id$\n+$Id: code $\n"}
	s := newRepo(t)
	c.begin(s)
	var full atomic.Bool
	s.now = func() time.Time {
		now := time.Now()
		if full.Load() { // the checkpoint is written just after a full second
			time.Sleep(now.Truncate(time.Second).Add(time.Second).Sub(now))
		}
		return time.Now()
	}
	tree := s.begin()
	full.Store(true)
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
	s.must(err)
	full.Store(false)
	c.change(s)
	again := s.open()
	s.must(again.Resume(t.Context(), base))
	got, err := again.Capture(t.Context())
	s.must(err)
	c.check(t, got)
}

// A conversion describes a file that git converts.
type conversion struct {
	attributes string
	before     string // "" means no file
	config     []string
	change     func(*sandbox)
	text       string // a part of the reported text, "" if nothing is reported
}

func (c conversion) begin(s *sandbox) {
	s.t.Helper()
	for i := 0; i < len(c.config); i += 2 {
		s.git("config", c.config[i], c.config[i+1])
	}
	if c.attributes != "" {
		s.write(".gitattributes", c.attributes+"\n")
	}
	if c.before != "" {
		s.write("f", c.before)
	}
	s.commit("first")
}

func (c conversion) check(t *testing.T, got loop.Change) {
	t.Helper()
	u := unshown(got, "f")
	switch {
	case c.text == "" && u != nil:
		t.Errorf("reported %+v", u)
	case c.text != "" && (u == nil || u.Why != loop.Converted || !strings.HasPrefix(u.Text, "diff --git a/f b/f\n") || !strings.Contains(u.Text, c.text)):
		t.Errorf("reported %+v, want %q", u, c.text)
	}
	if told := strings.Contains(strings.Join(got.Warnings, "\n"), "git converts these files"); told != (c.text != "") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

// TestConvertedLongAgo: in a resumed session, a file that was not touched since the
// session began is not reported, even if a filter hides some of it.
func TestConvertedLongAgo(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.git("config", "filter.h.clean", "grep -v output")
	s.write(".gitattributes", "*.note filter=h\n")
	s.write("a.note", "a\noutput\n")
	s.write("b.note", "b\noutput\n")
	s.commit("first")
	s.longAgo()
	tree := s.begin()
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
	s.must(err)
	s.write("b.note", "b\nother output\n")
	again := s.open()
	s.must(again.Resume(t.Context(), base))
	c, err := again.Capture(t.Context())
	s.must(err)
	if unshown(c, "a.note") != nil {
		t.Errorf("reported: %s", notShown(c))
	}
}

// TestConvertedSaved: a conversion that another process found is reported even if this
// process need not read the file again.
func TestConvertedSaved(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write(".gitattributes", "* ident\n")
	s.write("f", "$Id$\n")
	s.commit("first")
	settle()
	tree := s.open()
	s.must(tree.Baseline(t.Context()))
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
	s.must(err)
	s.write("f", "$Id: code $\n")
	settle()
	for i := range 3 {
		c, err := tree.Capture(t.Context())
		s.must(err)
		if u := unshown(c, "f"); u == nil || !strings.Contains(u.Text, "code") {
			t.Errorf("%d: %+v", i, u)
		}
		s.must(tree.Close())
		tree = s.resumed(base)
	}
}

// TestConvertedLFS: a changed file of a filter such as LFS is reported with the filter's
// name, and with its text unless it is binary. A file that was only touched is not
// reported.
func TestConvertedLFS(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.git("config", "filter.lfs.clean", `f=$(mktemp) && cat >"$f" && printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %s\n' "$(sha256sum "$f" | cut -c1-64)" "$(wc -c <"$f")"`)
	s.write(".gitattributes", "*.bin filter=lfs\n*.csv filter=lfs\n")
	s.write("a.bin", "\x00\x01\xff\xfe\x80\x81")
	s.write("b.bin", "\x00\x01\xff\xfe\x80\x81")
	s.write("c.csv", "a,b\n1,2\n")
	s.commit("first")
	tree := s.begin()
	base, err := tree.Checkpoint(t.Context(), tree.BaseState(), "s/0", "base")
	s.must(err)
	s.write("a.bin", "\x00\x02\xff\xfe\x80\x81")
	s.stale("b.bin")
	s.write("c.csv", "a,b\n3,4\n")
	again := s.open()
	s.must(again.Resume(t.Context(), base))
	for _, tree := range []*diff.Tree{tree, again} {
		c, err := tree.Capture(t.Context())
		s.must(err)
		if got := notShown(c); got != "converted a.bin (modified)\nconverted c.csv (modified)\n" {
			t.Error(got)
		}
		if u := unshown(c, "a.bin"); u == nil || u.Text != "" || u.Via != "filter lfs" {
			t.Errorf("%+v", u)
		}
		if u := unshown(c, "c.csv"); u == nil || !strings.Contains(u.Text, "\n+3,4\n") {
			t.Errorf("%+v", u)
		}
	}
}

// TestConvertedLarge: reported text that is too long is cut, and says so.
func TestConvertedLarge(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.git("config", "filter.none.clean", "true")
	s.write(".gitattributes", "f filter=none\n")
	s.commit("first")
	tree := s.begin()
	s.write("f", strings.Repeat("line\n", 100_000))
	c, err := tree.Capture(t.Context())
	s.must(err)
	u := unshown(c, "f")
	if u == nil || len(u.Text) > 300<<10 || !strings.HasSuffix(u.Text, fmt.Sprintf("\n\\ %d more bytes are not shown here\n", 600_000+len(header(u.Text))-strings.LastIndex(u.Text, "\n\\ ")-1)) {
		t.Errorf("%d bytes, ending in %q", len(u.Text), u.Text[max(0, len(u.Text)-60):])
	}
}

// header returns the part of a patch before its first line of content.
func header(patch string) string {
	head, rest, _ := strings.Cut(patch, "@@ ")
	line, _, _ := strings.Cut(rest, "\n")
	return head + "@@ " + line + "\n"
}
