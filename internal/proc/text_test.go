package proc

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                             "",
		" sleep 300 ":                  "sleep 300",
		"a\x1b[31m\nb\x00c\u202ed":     "a [31m b c d",
		"\xff":                         "\uFFFD",
		strings.Repeat("x", 201):       strings.Repeat("x", 197) + "…",
		strings.Repeat("é", 200):       strings.Repeat("é", 98) + "…",
		strings.Repeat("x", 196) + "é": strings.Repeat("x", 196) + "…",
	} {
		if got := printable(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("sleep 300")
	f.Add("\x1b]0;title\x07\n\u2028\xff")
	f.Add(strings.Repeat("é", 150))
	f.Fuzz(func(t *testing.T, s string) {
		got := printable(s)
		if len(got) > maxCommandLine || !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
		if strings.ContainsFunc(got, func(c rune) bool { return !unicode.IsPrint(c) }) {
			t.Errorf("%q", got)
		}
	})
}

func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("ééééé"), 5, 3)
	f.Add([]byte("é"), 1, 1)
	f.Add([]byte("plain text, long enough"), 9, 4)
	f.Add([]byte("\x80\x80\x80\x80\x80\xff\xc3"), 3, 1)
	f.Add([]byte("a\U0001F600b\U0001F600c"), 7, 2)
	f.Add([]byte(strings.Repeat("0123456789", 50)), 20, 7)
	f.Add([]byte(strings.Repeat("0", 22)), 9, 1)
	f.Fuzz(func(t *testing.T, content []byte, keep, step int) {
		keep, step = min(max(keep, 0), 1<<10), min(max(step, 1), 1<<10)
		const end = 10
		e := Excerpt{Keep: keep, End: end}
		for piece := range slices.Chunk(content, step) {
			_, _ = e.Write(bytes.Clone(piece))
		}
		if most := keep/2 + 2*max(keep-keep/2, end); len(e.head)+len(e.tail) > most {
			t.Errorf("it holds %d bytes", len(e.head)+len(e.tail))
		}
		c := e.Captured("")
		checkCaptured(t, c, content, keep)
		if want := content[max(0, len(content)-end):]; c.Omitted > 0 && string(c.End) != string(want) {
			t.Errorf("the end is %q, not %q", c.End, want)
		}
	})
}

func checkCaptured(t *testing.T, c Captured, content []byte, keep int) {
	t.Helper()
	if c.Total != int64(len(content)) {
		t.Fatalf("total %d of %d", c.Total, len(content))
	}
	if len(content) <= keep {
		if string(c.Text) != string(content) || c.Omitted != 0 {
			t.Fatalf("%q became %q", content, c.Text)
		}
		return
	}
	if keep <= 0 {
		if len(c.Text) != 0 || c.Omitted != c.Total {
			t.Fatalf("%q kept", c.Text)
		}
		return
	}
	checkCut(t, c, content, keep)
}

// checkCut checks the head, the tail and the length of a truncated text.
func checkCut(t *testing.T, c Captured, content []byte, keep int) {
	t.Helper()
	head, tail, ok := cutNotice(c)
	if !ok || !strings.HasPrefix(string(content), head) || !strings.HasSuffix(string(content), tail) {
		t.Fatalf("%q became %q", content, c.Text)
	}
	if kept := len(head) + len(tail); kept > keep || int64(kept)+c.Omitted != c.Total || keep-kept > 2*utf8.UTFMax {
		t.Fatalf("%d and %d bytes of %d kept, %d omitted", len(head), len(tail), keep, c.Omitted)
	}
	if utf8.Valid(content) && !utf8.Valid(c.Text) {
		t.Fatalf("%q is cut inside a character", c.Text)
	}
}

// cutNotice splits a text at the notice of omitted bytes, which it must contain.
func cutNotice(c Captured) (head, tail string, ok bool) {
	return strings.Cut(string(c.Text), Omission(c.Omitted))
}
