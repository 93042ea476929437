package diff_test

import (
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// TestBinaryText: text that git takes for binary because of some bytes is reported with
// its text, and so is every text file that turned binary.
func TestBinaryText(t *testing.T) {
	t.Parallel()
	const noise = "\x89PNG\r\n\x1a\n\x00\x01\x02\x03\x04\x05\x06\x07\x0e\x0f\x10\x11\x12\x80\x81\x82\xff\xfe"
	utf16 := func(text string) string {
		var b strings.Builder
		b.WriteString("\xff\xfe")
		for _, c := range []byte(text) {
			b.WriteByte(c)
			b.WriteByte(0)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		before, after string // "" means no file
		why           loop.UnshownWhy
		text          string // a part of the reported text
	}{
		"a byte":                          {"one\ntwo\n", "one\n# \x00\ntree\n", loop.TurnedBinary, "@@ -1,2 +1,3 @@\n one\n-two\n+# \\x00\n+tree\n"},
		"many bytes":                      {"one\n", "one\n#" + strings.Repeat("\x00", 5000) + "\ntwo\n", loop.TurnedBinary, "\n+#\\x00(×5000)\n+two\n"},
		"noise":                           {"one\ntwo\n", noise, loop.TurnedBinary, "\n-one\n-two\n"},
		"noise before text":               {"one\n", noise + "\n" + strings.Repeat("two three\n", 9), loop.TurnedBinary, "\n+two three\n"},
		"UTF-16":                          {"one\n", utf16("one\ntwo\n"), loop.TurnedBinary, "\n-one\n+one\n+two\n"},
		"a new file":                      {"", "one\x00\ntwo\n", loop.BinaryText, "@@ -0,0 +1,2 @@\n+one\\x00\n+two\n"},
		"a new file in UTF-16":            {"", utf16("one\n"), loop.BinaryText, "\n+one\n"},
		"a byte that has been there":      {"one\x00\ntwo\n", "one\x00\n", loop.BinaryText, "\n one\\x00\n-two\n"},
		"a byte that goes":                {"one\x00\ntwo\n", "one\ntwo\n", loop.BinaryText, "\n-one\\x00\n+one\n two\n"},
		"a file that goes":                {"one\x00\ntwo\n", "", loop.BinaryText, "\n-one\\x00\n-two\n"},
		"noise that turns text of a kind": {noise, "one\x00\n", loop.BinaryText, "\n+one\\x00\n"},
		"noise that stays noise":          {noise, noise + "\x00", "", ""},
		"new noise":                       {"", noise, "", ""},
		"plain text":                      {"one\n", "two\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			if c.before != "" {
				s.write("f", c.before)
			}
			s.commit("first")
			tree, o := s.begin(), newOracle(s)
			if s.remove("f"); c.after != "" {
				s.write("f", c.after)
			}
			for range 2 {
				got := o.capture(tree)
				u := unshown(got, "f")
				switch {
				case u == nil && c.why == "":
				case u == nil, u.Why != c.why, !strings.Contains(u.Text, c.text):
					t.Errorf("reported %+v, want %s %q", u, c.why, c.text)
				}
			}
		})
	}
}

// TestTurnedTooLarge: a text file that has become too large to compare is reported.
func TestTurnedTooLarge(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "one\n")
	s.commit("first")
	tree := s.begin()
	s.write("f", strings.Repeat("# many\n", 3<<20))
	c, err := tree.Capture(t.Context())
	s.must(err)
	if u := unshown(c, "f"); u == nil || u.Why != loop.TurnedBinary {
		t.Errorf("reported %+v", u)
	}
	if len(c.Warnings) != 1 || !strings.HasSuffix(c.Warnings[0], "text when the session began and are binary to git now: f") {
		t.Errorf("warnings %q", c.Warnings)
	}
}
