package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/session/export"
	"codeloops/internal/session/sessionview"
)

// story is a session in which an agent's texts are all s.
func story(s string) []loop.Event {
	turn := loop.Turn{
		Misses:    []loop.Try{{Agent: loop.AgentRef{Agent: s, Model: s}, Reason: s}},
		Execution: loop.Execution{Stdout: loop.Output{Text: s, Total: 9, Omitted: 3, File: s}, Stderr: loop.Output{Text: s}, Leftovers: []loop.Process{{Command: s}}},
		Try:       loop.Try{Ending: loop.Ending(s), Reason: s},
	}
	change := loop.Change{Files: []loop.FileChange{
		{Path: s, Status: loop.FileStatus(s), Patch: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@ " + s + "\n-" + s + "\n+" + s + "\n"},
		{Path: "b" + s, Status: loop.FileAdded, Binary: true, Patch: s},
	}, Warnings: []string{s}}
	verdict := loop.Verdict{Decision: loop.Decision(s), Feedback: s, Summary: s, Rating: loop.Rating{Confidence: new(0.5)}}
	round := loop.Round{
		Iteration: 1, Attempt: loop.Attempt{Turn: turn}, Change: change,
		Checks: []loop.CheckResult{{Command: s, Ending: loop.Ending(s), Output: loop.Output{Text: s}}},
		Review: loop.Review{Turn: turn, Reply: s, Verdict: verdict, Problem: s},
		Ruling: loop.Ruling{Verdict: verdict, Why: s},
	}
	second := round
	second.Iteration, second.Unjudged, second.Review.Problem = 2, true, ""
	return []loop.Event{
		loop.Started{Session: loop.Session{
			ID: s, Prompt: s, WorkingDir: s, Cast: loop.Cast{Actor: loop.AgentRef{Agent: s, Model: s}, Critic: loop.AgentRef{Agent: s}}, Base: loop.Base{BaseCommit: s}, Version: s,
		}},
		loop.TurnFinished{Role: loop.Role(s), Reply: loop.Reply{Turn: turn, Text: s}},
		loop.IterationStarted{Iteration: 1},
		loop.TurnFinished{Iteration: 1, Role: loop.Role(s), Reply: loop.Reply{Turn: turn, Text: s}},
		loop.ReviewRejected{Iteration: 1, Review: loop.Review{Problem: s, Reply: s}},
		loop.Warned{Text: s},
		loop.IterationFinished{Round: round},
		loop.Resumed{Iterations: 1},
		loop.IterationFinished{Round: second},
		loop.PhaseEntered{Iteration: 3, State: loop.ActorExecuting},
		loop.Finished{Outcome: loop.Outcome{Result: loop.Result(s), Reason: loop.StopReason(s), Summary: s}},
	}
}

func write(t *testing.T, f export.Format, events []loop.Event, s string) string {
	t.Helper()
	var b bytes.Buffer
	o := session.Overview{ID: s, Started: time.Unix(1e9, 0), Status: session.Status(s)}
	o.Session.Version = s
	entries := func(yield func(session.Entry, error) bool) {
		for _, e := range events {
			if !yield(session.Entry{Event: e}, nil) {
				return
			}
		}
	}
	err := export.Write(&b, entries, export.Options{Format: f, Session: o, Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func hostile() []string {
	return []string{
		`<script>alert("EVIL")</script>`, `"><img src=x onerror=alert(1)>EVIL`, `' onmouseover='EVIL`, "</pre></details></body>EVIL<h1>",
		"<!-- EVIL", "--> EVIL", "]]> EVIL", "</style><style>EVIL", "</title>EVIL", "javascript:EVIL", "&lt;EVIL&gt; &#60;", "{{.EVIL}}", "a\x00b\x1b[31m<b>EVIL",
		"\xff\xfe<EVIL>", "\u202e<EVIL>", "```\nEVIL\n```", "````text\nEVIL", "`EVIL` ``EVIL``", "~~~\nEVIL", "</details>\n\nEVIL\n", "![EVIL](http://example.com/x.png)",
		"@EVIL", "    EVIL", "> EVIL", "# EVIL", "- [ ] EVIL", "\r\nEVIL\r```\r", strings.Repeat("`", 300) + "EVIL", "`", "EVIL`", "`EVIL",
	}
}

// TestNothingEscapes has agents that would like to write the page themselves.
func TestNothingEscapes(t *testing.T) {
	t.Parallel()
	for _, s := range hostile() {
		for _, around := range []string{"%s", "text\n%s\nmore", "%[1]s %[1]s"} {
			s := fmt.Sprintf(around, s)
			sound(t, write(t, export.HTML, story(s), s))
			fenced(t, write(t, export.Markdown, story(s), s))
		}
	}
}

func FuzzNothingEscapes(f *testing.F) {
	for _, s := range hostile() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sound(t, write(t, export.HTML, story(s), s))
		// What is looked for in Markdown has to be in it.
		s = "EVIL" + strings.ReplaceAll(s, "EVIL", "")
		fenced(t, write(t, export.Markdown, story(s), s))
	})
}

// sound wants a page to have no tags and attributes but those of the template,
// with the values that these can have.
func sound(t *testing.T, page string) {
	t.Helper()
	tags := strings.Fields("html head meta title style body header section footer h1 h2 h3 p span dl dt dd div pre details summary code")
	values := map[string]*regexp.Regexp{
		"lang": regexp.MustCompile(`^en$`), "charset": regexp.MustCompile(`^utf-8$`), "open": regexp.MustCompile(`^$`),
		"class": regexp.MustCompile(`^(badge (good|bad|warn)|good|bad|warn|faint|head|diff|add|del|hunk|same)$`), "id": regexp.MustCompile(`^i\d+$`),
		"http-equiv": regexp.MustCompile(`^Content-Security-Policy$`), "name": regexp.MustCompile(`^(viewport|referrer|robots|generator)$`),
		"content": regexp.MustCompile(`^(default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; base-uri 'none'; form-action 'none'|width=device-width, initial-scale=1|no-referrer|noindex|codeloops)$`),
	}
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("a comment: %q", n.Data)
		}
		if n.Type == html.ElementNode && !slices.Contains(tags, n.Data) {
			t.Errorf("a tag %q\n%s", n.Data, page)
		}
		for _, a := range n.Attr {
			if v := values[a.Key]; n.Type == html.ElementNode && (v == nil || !v.MatchString(a.Val)) {
				t.Errorf("an attribute %s=%q of %s\n%s", a.Key, a.Val, n.Data, page)
			}
		}
	}
	if strings.ContainsFunc(page, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x202e }) {
		t.Errorf("a control character in %q", page)
	}
}

// fenced wants the word that agents say to stand in code alone.
func fenced(t *testing.T, text string) {
	t.Helper()
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case fence != "":
			if line == fence {
				fence = ""
			}
			continue
		case strings.HasPrefix(line, "```"):
			fence = strings.TrimSuffix(line, "text")
			if strings.Trim(fence, "`") != "" {
				t.Errorf("a fence that the export did not write: %q", line)
			}
			continue
		}
		if left := withoutSpans(line); strings.Contains(left, "EVIL") || strings.Contains(left, "`") {
			t.Errorf("outside of code: %q, of %q", left, line)
		}
	}
	if fence != "" {
		t.Errorf("a fence is not closed\n%s", text)
	}
}

// withoutSpans removes code spans from a line, following CommonMark.
func withoutSpans(line string) string {
	marks := regexp.MustCompile("`+")
	var b strings.Builder
	for {
		open := marks.FindStringIndex(line)
		if open == nil {
			return b.String() + line
		}
		rest, closed := line[open[1]:], -1
		for _, m := range marks.FindAllStringIndex(rest, -1) {
			if m[1]-m[0] == open[1]-open[0] {
				closed = m[1]
				break
			}
		}
		if closed < 0 {
			return b.String() + line
		}
		b.WriteString(line[:open[0]])
		line = rest[closed:]
	}
}

// TestHugeIsBounded has a session whose log would make a page of a gigabyte.
func TestHugeIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(strings.Repeat("é long line ", 20)+"\n", 20_000)
	events := story("x")[:1]
	for n := range 200 {
		round := story(long)[6].(loop.IterationFinished).Round
		round.Iteration = n + 1
		round.Change.Files = round.Change.Files[:1]
		round.Change.Files[0].Path, round.Checks = "f", nil
		round.Change.Files[0].Patch = fmt.Sprintf("diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+%d%s", n, long)
		round.Attempt.Turn = loop.Turn{Execution: loop.Execution{Stdout: loop.Output{Text: long}}}
		round.Review = loop.Review{}
		round.Verdict = loop.Verdict{Decision: loop.Continue}
		events = append(events, story(long)[3], loop.IterationFinished{Round: round})
		if n == 3 { // more of them take long, and add nothing
			break
		}
	}
	page := write(t, export.HTML, events, "session")
	if len(page) > 4<<20 || !strings.Contains(page, "are left out here; all of it is in session.jsonl") {
		t.Errorf("%d bytes", len(page))
	}
	if text := write(t, export.Markdown, events, "session"); len(text) > 60<<10 {
		t.Errorf("Markdown of %d bytes", len(text))
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	var doc struct {
		Type    string           `json:"type"`
		Schema  int              `json:"schema_version"`
		Session sessionview.Row  `json:"session"`
		Start   map[string]any   `json:"start"`
		Rounds  []map[string]any `json:"iterations"`
		Turns   []map[string]any `json:"turns"`
		End     map[string]any   `json:"end"`
	}
	if err := json.Unmarshal([]byte(write(t, export.JSON, story("x"), "id")), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Type != "session" || doc.Schema != session.SchemaVersion || doc.Session.ID != "id" || doc.Start["prompt"] != "x" ||
		len(doc.Rounds) != 2 || doc.Rounds[1]["iteration_number"] != 2.0 ||
		len(doc.Turns) != 2 || doc.Turns[1]["iteration_number"] != 1.0 || doc.Turns[1]["role"] != "x" || doc.End["outcome"] != "x" {
		t.Errorf("got %+v", doc)
	}
}

func TestFormatOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]export.Format{"a.html": export.HTML, "A.HTM": export.HTML, "x.md": export.Markdown, "a.json": export.JSON, "a": "", "-": "", "html": ""} {
		if got, ok := export.FormatOf(name); got != want || ok != (want != "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
