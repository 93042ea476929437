package sessionview_test

import (
	"bytes"
	"io"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
)

var noon = time.Date(2026, 1, 27, 12, 0, 0, 0, time.UTC)

// one is a session that began this many hours before noon.
func one(id string, hours int, change func(*session.Overview)) session.Overview {
	o := session.Overview{
		ID: id, Started: noon.Add(-time.Duration(hours) * time.Hour),
		Session: loop.Session{
			Prompt: "fix " + id, WorkingDir: "/p/" + id,
			Cast: loop.Cast{Actor: loop.AgentRef{Agent: "claude"}, Critic: loop.AgentRef{Agent: "codex"}},
		},
		Outcome: &loop.Outcome{Result: loop.Success, Reason: loop.StopDone, Iterations: 2, Duration: time.Minute},
		Status:  "success", Iterations: 2, Duration: time.Minute,
	}
	if change != nil {
		change(&o)
	}
	return o
}

func colours() *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.ANSI)
	return r
}

// TestTableFits formats tables with difficult cells at every width.
func TestTableFits(t *testing.T) {
	t.Parallel()
	odd := func(o *session.Overview) {
		o.Session.Prompt = "fix\nthe \x1b[31mred\x1b[0m 修正する 👩‍👩‍👧 " + strings.Repeat("very ", 40) + "long"
		o.Session.WorkingDir = "/p/\x1b]0;title\x07a name that is longer than its column"
	}
	list := []session.Overview{one("2026-01-27T12-00-00Z_abcdef-12", 1, odd), one("2026-01-27T12-00-00Z_abcdef", 2, nil)}
	for width := 20; width < 200; width++ {
		var out bytes.Buffer
		if err := sessionview.Table(&out, list, sessionview.Screen{Width: width, Style: colours()}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != 3 {
			t.Fatalf("width %d: %d lines", width, len(lines))
		}
		for _, line := range lines {
			if got := ansi.StringWidth(line); got > width {
				t.Errorf("width %d: a line of %d columns: %q", width, got, line)
			}
			if strings.Contains(line, "31mred") || strings.Contains(line, "title") {
				t.Errorf("not cleaned: %q", line)
			}
		}
	}
}

// TestTableBeheaded: a session whose log has lost its first line is in the table, and marked.
func TestTableBeheaded(t *testing.T) {
	t.Parallel()
	list := []session.Overview{one("beheaded", 1, func(o *session.Overview) {
		o.Session, o.Err = loop.Session{}, io.ErrUnexpectedEOF
	})}
	var out bytes.Buffer
	err := sessionview.Table(&out, list, sessionview.Screen{Width: 100, Style: lipgloss.NewRenderer(io.Discard)})
	const want = "beheaded  ?        success     2  1m 00s       -  (the first line of its log cannot be read)"
	if _, row, _ := strings.Cut(out.String(), "\n"); err != nil || strings.TrimSpace(row) != want {
		t.Errorf("%q, %v", row, err)
	}
}

// TestTableLate: a prompt is shown however late its first word comes.
func TestTableLate(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"blanks": strings.Repeat(" \n", 2_000), "escapes": strings.Repeat("\x1b[31m", 1_000)} {
		list := []session.Overview{one("late", 1, func(o *session.Overview) { o.Session.Prompt = before + "fix it" })}
		var out bytes.Buffer
		if err := sessionview.Table(&out, list, sessionview.Screen{Width: 80, Style: colours()}); err != nil || !strings.Contains(out.String(), "  fix it\n") {
			t.Errorf("%s: %q, %v", name, out.String(), err)
		}
	}
}

// TestTableASCII: a terminal that can show nothing else gets only ASCII, and the table fits it.
func TestTableASCII(t *testing.T) {
	t.Parallel()
	list := []session.Overview{one("one", 1, func(o *session.Overview) {
		o.Session.Prompt = strings.Repeat("very ", 40) + "long"
		o.Session.WorkingDir = "/p/a name that is longer than its column"
		o.Tally = &progress.Tally{Spent: loop.Spending{Actor: loop.Spent{CostUSD: 1, CostBasis: loop.Unknown}}}
	})}
	for width := 20; width < 120; width++ {
		var out bytes.Buffer
		err := sessionview.Table(&out, list, sessionview.Screen{Width: width, Style: lipgloss.NewRenderer(io.Discard), ASCII: true})
		if err != nil || strings.ContainsFunc(out.String(), func(r rune) bool { return r > unicode.MaxASCII }) {
			t.Errorf("width %d: %q, %v", width, out.String(), err)
		}
		for line := range strings.Lines(out.String()) {
			if len(line)-1 > width {
				t.Errorf("width %d: %q", width, line)
			}
		}
	}
}

func TestTableEmpty(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := sessionview.Table(&out, nil, sessionview.Screen{Width: 80, Style: colours()}); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func change() loop.Change {
	return loop.Change{
		Files: []loop.FileChange{
			{Path: "a.go", Status: loop.FileModified, Insertions: 300, Deletions: 1, Patch: "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-old\x1b[2J\r\n+\tnew\n \x1b[31msame\n\\ No newline at end of file\n"},
			{Path: "b", Status: loop.FileAdded, Binary: true, NewSize: 9, Patch: "diff --git a/b b/b\nBinary files differ\n", BinaryPatch: "diff --git a/b b/b\nGIT binary patch\nliteral 9\n"},
			{Path: "huge", Status: loop.FileAdded, Binary: true, Patch: "diff --git a/huge b/huge\nBinary files differ\n"},
		},
		Insertions: 300, Deletions: 1,
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	var exact bytes.Buffer
	if err := sessionview.Patch(&exact, change(), nil); err != nil || exact.String() != change().ApplicablePatch() {
		t.Errorf("%v, not exact: %q", err, exact.String())
	}
	if got := sessionview.Unappliable(change()); !reflect.DeepEqual(got, []string{"huge"}) {
		t.Errorf("unappliable: %v", got)
	}
	var shown bytes.Buffer
	if err := sessionview.Patch(&shown, change(), &sessionview.Screen{Width: 80, Style: colours()}); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[1mdiff --git a/a.go b/a.go\x1b[0m\n\x1b[1m--- a/a.go\x1b[0m\n\x1b[1m+++ b/a.go\x1b[0m\n" +
		"\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-old\x1b[0m\n\x1b[32m+\tnew\x1b[0m\n same\n\\ No newline at end of file\n" +
		"\x1b[1mdiff --git a/b b/b\x1b[0m\n\x1b[1mBinary files differ\x1b[0m\n" +
		"\x1b[1mdiff --git a/huge b/huge\x1b[0m\n\x1b[1mBinary files differ\x1b[0m\n"
	if shown.String() != want {
		t.Errorf("got  %q\nwant %q", shown.String(), want)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	c := loop.Change{Files: []loop.FileChange{
		{Path: "plain name"}, {Path: "ünï"}, {Path: "a\"b\\c"}, {Path: "new\nline\tand \x1b"}, {Path: "not utf-8 \xff"}, {Path: "twice"}, {Path: "twice"},
	}}
	var lines, nul bytes.Buffer
	if err := sessionview.Names(&lines, c, false); err != nil {
		t.Fatal(err)
	}
	want := "plain name\nünï\n\"a\\\"b\\\\c\"\n\"new\\nline\\tand \\033\"\n\"not utf-8 \\377\"\ntwice\n"
	if lines.String() != want {
		t.Errorf("got %q", lines.String())
	}
	if err := sessionview.Names(&nul, c, true); err != nil || nul.String() != "plain name\x00ünï\x00a\"b\\c\x00new\nline\tand \x1b\x00not utf-8 \xff\x00twice\x00" {
		t.Errorf("got %q, %v", nul.String(), err)
	}
}

// FuzzNames: every printed path can be read back.
func FuzzNames(f *testing.F) {
	for _, path := range []string{"plain name", "ünï", "a\"b\\c", "new\nline\tand \x1b", "\xff\xfe", "\ufffd", "\u2028", "\"quoted\""} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		var out bytes.Buffer
		if err := sessionview.Names(&out, loop.Change{Files: []loop.FileChange{{Path: path}}}, false); err != nil {
			t.Fatal(err)
		}
		line, ok := strings.CutSuffix(out.String(), "\n")
		if !ok || strings.ContainsFunc(line, unicode.IsControl) {
			t.Fatalf("%q is printed as %q", path, out.String())
		}
		if strings.HasPrefix(line, `"`) {
			plain, err := strconv.Unquote(line)
			if err != nil {
				t.Fatalf("%q is printed as %q: %v", path, line, err)
			}
			line = plain
		}
		if line != path {
			t.Errorf("%q reads back as %q", path, line)
		}
	})
}
