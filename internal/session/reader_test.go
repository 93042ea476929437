package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
)

func golden(tb testing.TB) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "session.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// TestTornAnywhere cuts a log at every byte: all whole lines are read, and the rest of the last one
// is one bad line.
func TestTornAnywhere(t *testing.T) {
	t.Parallel()
	text := golden(t)
	whole, bad := read(NewReader(bytes.NewReader(text), "x"))
	if len(bad) > 0 || len(whole) != bytes.Count(text, []byte("\n")) {
		t.Fatal(bad)
	}
	line, start := 0, 0
	for cut := range text {
		// Lines are read independently, so the last two suffice; all of them are tried where a line
		// begins.
		from, first := bytes.LastIndexByte(text[:max(0, start-1)], '\n')+1, max(0, line-1)
		if cut == start {
			from, first = 0, 0
		}
		for _, tail := range []string{"", "\x00\x00\x00"} {
			want, torn := whole[first:line], line-first+1
			if cut == start && tail == "" {
				torn = 0
			}
			if text[cut] == '\n' { // only the line break is missing
				want, torn = whole[first:line+1], 0
			}
			got, bad := read(NewReader(strings.NewReader(string(text[from:cut])+tail), "x"))
			if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
				t.Fatalf("cut at %d, %q: read %d lines, want %d", cut, tail, len(got), len(want))
			}
			if err := checkTorn(bad, torn); err != nil {
				t.Fatalf("cut at %d, %q: %v", cut, tail, err)
			}
		}
		if text[cut] == '\n' {
			line, start = line+1, cut+1
		}
	}
}

// checkTorn checks that the one bad line of the file "x" is the torn one with that number; 0 means
// none.
func checkTorn(bad []error, line int) error {
	if line == 0 {
		return errors.Join(bad...)
	}
	if len(bad) != 1 {
		return fmt.Errorf("bad lines %v, want line %d", bad, line)
	}
	err, ok := errors.AsType[*LineError](bad[0])
	if !ok || err.Line != line || err.File != "x" || !errors.Is(err, ErrTorn) {
		return fmt.Errorf("%w, want line %d torn", bad[0], line)
	}
	return nil
}

func TestReadOriginal(t *testing.T) {
	t.Parallel()
	got := readFile(t, filepath.Join("..", "..", "testdata", "logs", "original.jsonl"))
	diff := "diff --git a/src/a b/c.rs b/src/a b/c.rs\nindex 1..2 100644\n--- a/src/a b/c.rs\n+++ b/src/a b/c.rs\n@@ -1,2 +1,2 @@\n-old\n--- removed\n+new\n+++ added\n"
	added := "diff --git a/new.txt b/new.txt\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+diff --git a/x b/x\n"
	verdict := loop.Verdict{Decision: loop.Continue, Feedback: "please test"}
	done := loop.Verdict{Decision: loop.Done}
	completed := loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}}
	want := []Entry{
		{At: loop.Stamp{Time: time.Date(2025, 1, 27, 15, 30, 45, 123456000, time.UTC)}, Event: loop.Started{Session: loop.Session{
			Prompt: "Fix the bug", WorkingDir: "/home/user/project",
			Cast: loop.Cast{Actor: loop.AgentRef{Agent: "claude"}, Critic: loop.AgentRef{Agent: "opencode", Model: "gpt-5"}}, Terms: loop.Terms{MaxIterations: 10},
		}}},
		{At: loop.Stamp{Time: time.Date(2025, 1, 27, 15, 32, 0, 0, time.UTC)}, Event: loop.IterationFinished{Round: loop.Round{
			Iteration: 1,
			Attempt: loop.Attempt{Turn: loop.Turn{
				Execution: loop.Execution{Stdout: loop.Output{Text: "Done."}, Stderr: loop.Output{Text: "warn"}, ExitCode: 1, Duration: 74500 * time.Millisecond},
				Try:       loop.Try{Ending: loop.EndFailed},
			}},
			Change: loop.Change{
				Files: []loop.FileChange{
					{Path: "src/a b/c.rs", Status: loop.FileModified, Insertions: 2, Deletions: 2, Patch: diff},
					{Path: "new.txt", Status: loop.FileAdded, Insertions: 1, Patch: added},
				},
				Insertions: 3, Deletions: 2,
			},
			Review: loop.Review{Turn: completed, Verdict: verdict}, Ruling: loop.Ruling{Verdict: verdict},
		}}},
		{At: loop.Stamp{Time: time.Date(2025, 1, 27, 15, 33, 0, 0, time.UTC)}, Event: loop.IterationFinished{Round: loop.Round{
			Iteration: 2, Attempt: loop.Attempt{Turn: loop.Turn{Try: loop.Try{Ending: loop.EndCompleted}, Execution: loop.Execution{Duration: 10 * time.Second}}},
			Review: loop.Review{Turn: completed, Verdict: done}, Ruling: loop.Ruling{Verdict: done},
		}}},
		{At: loop.Stamp{Time: time.Date(2025, 1, 27, 15, 33, 1, 0, time.UTC)}, Event: loop.Finished{Outcome: loop.Outcome{
			Result: loop.Success, Iterations: 2, Summary: "Fixed", Confidence: new(0.95), Duration: 135 * time.Second,
		}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf(" got %+v\nwant %+v", got, want)
	}
}

func TestReadForeign(t *testing.T) {
	t.Parallel()
	const (
		start = `{"type":"session_start","prompt":"p"}`
		warn  = `{"type":"warning","message":"w"}`
	)
	started := loop.Started{Session: loop.Session{Prompt: "p"}}
	warned := loop.Warned{Text: "w"}
	for name, c := range map[string]struct {
		text string
		want map[int]loop.Event // by line
		bad  map[int]string     // error messages, by line
	}{
		"empty":           {text: ""},
		"blank lines":     {text: "\n\r\n  \n" + start + "\n\n", want: map[int]loop.Event{4: started}},
		"no end":          {text: start, want: map[int]loop.Event{1: started}},
		"CRLF":            {text: start + "\r\n" + warn + "\r\n", want: map[int]loop.Event{1: started, 2: warned}},
		"BOM":             {text: "\ufeff" + start + "\n" + warn, want: map[int]loop.Event{1: started, 2: warned}},
		"any order":       {text: warn + "\n" + start + "\n" + warn + "\n", want: map[int]loop.Event{1: warned, 2: started, 3: warned}},
		"zero tail":       {text: start + "\n\x00\x00\x00", want: map[int]loop.Event{1: started}, bad: map[int]string{2: "breaks off"}},
		"zeros, then on":  {text: start + "\n\x00\x00" + warn + "\n", want: map[int]loop.Event{1: started, 2: warned}},
		"unknown types":   {text: `{"type":"usage","tokens":3}` + "\n" + start + "\n" + `{"type":"x"}`, want: map[int]loop.Event{2: started}},
		"unknown fields":  {text: `{"type":"warning","message":"w","more":{"a":[1]}}`, want: map[int]loop.Event{1: warned}},
		"no type":         {text: `{"message":"w"}` + "\n" + warn, want: map[int]loop.Event{2: warned}, bad: map[int]string{1: "no type"}},
		"type of a type":  {text: `{"type":7}` + "\n" + warn, want: map[int]loop.Event{2: warned}, bad: map[int]string{1: "field type: want string, have number"}},
		"not an object":   {text: "[1]\n" + warn + "\n7\nnull\n\"x\"\n", want: map[int]loop.Event{2: warned}, bad: map[int]string{1: "not a JSON object", 3: "not a JSON object", 4: "not a JSON object", 5: "not a JSON object"}},
		"not JSON":        {text: "hello\n" + warn, want: map[int]loop.Event{2: warned}, bad: map[int]string{1: "the line is not JSON"}},
		"two on a line":   {text: warn + warn + "\n" + start, want: map[int]loop.Event{2: started}, bad: map[int]string{1: "the line is not JSON"}},
		"torn in between": {text: warn[:9] + "\n" + start, want: map[int]loop.Event{2: started}, bad: map[int]string{1: "the JSON of the line is cut off"}},
		"torn at the end": {text: start + "\n" + warn[:9], want: map[int]loop.Event{1: started}, bad: map[int]string{2: "breaks off"}},
		"wrong types": {
			text: `{"type":"iteration","iteration_number":"1"}` + "\n" + `{"type":"iteration","files":[{"path":"a"},{"old_mode":"9"}]}` + "\n" +
				`{"type":"phase","state":"DANCING"}` + "\n" + `{"type":"warning","message":"w","timestamp":"yesterday"}` + "\n" +
				`{"type":"iteration","critic_verdict":{"score":"high"}}` + "\n" + `{"type":"warning","message_base64":"%%"}`,
			bad: map[int]string{
				1: "field iteration_number: want int, have string", 2: "field files[1].old_mode: want a file mode in octal",
				3: "field state: unknown state", 4: "field timestamp", 5: "field critic_verdict.score: want float64, have string", 6: "field message_base64",
			},
		},
		"nulls": {
			text: `{"type":"session_end","outcome":null,"iterations":null,"summary":null,"confidence":null,"duration_secs":null,"timestamp":null}`,
			want: map[int]loop.Event{1: loop.Finished{}},
		},
		"exact bytes win": {text: `{"type":"warning","message":"\ufffd","message_base64":"/w=="}`, want: map[int]loop.Event{1: loop.Warned{Text: "\xff"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := NewReader(strings.NewReader(c.text), "some.jsonl")
			entries, bad := read(r)
			var got, want []loop.Event
			for _, e := range entries {
				got = append(got, e.Event)
			}
			for _, line := range slices.Sorted(maps.Keys(c.want)) {
				want = append(want, c.want[line])
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			for _, err := range bad {
				lerr, ok := errors.AsType[*LineError](err)
				if !ok {
					t.Fatalf("%v does not name a line", err)
				}
				if want, ok := c.bad[lerr.Line]; !ok || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("some.jsonl:%d: ", lerr.Line)) {
					t.Errorf("got %q, want %q", err, want)
				}
			}
			if len(bad) != len(c.bad) {
				t.Errorf("%d bad lines, want %d", len(bad), len(c.bad))
			}
		})
	}
}

func TestReadLongLines(t *testing.T) {
	t.Parallel()
	warn := func(n int) string { return `{"type":"warning","message":"` + strings.Repeat("x", n) + `"}` + "\n" }
	const limit = 100_000
	r := NewReader(strings.NewReader(warn(10)+warn(70_000)+warn(limit)+warn(20)+warn(3*limit)), "x")
	r.lines.limit = limit
	var lines []int
	var bad []error
	for _, err := range r.Entries() {
		if err != nil {
			bad = append(bad, err)
			continue
		}
		lines = append(lines, r.lines.count)
	}
	if want := []int{1, 2, 4}; !reflect.DeepEqual(lines, want) {
		t.Errorf("read lines %v, want %v", lines, want)
	}
	if len(bad) != 2 || !errors.Is(bad[0], ErrLineTooLong) || !errors.Is(bad[1], ErrLineTooLong) {
		t.Errorf("bad lines: %v", bad)
	}
	if cap(r.lines.buf) > 2*limit {
		t.Errorf("a buffer of %d bytes for lines of up to %d", cap(r.lines.buf), limit)
	}
}

func TestReadStopsWhenAsked(t *testing.T) {
	t.Parallel()
	r := NewReader(bytes.NewReader(golden(t)), "x")
	for _, err := range r.Entries() {
		if err != nil || r.lines.count != 1 {
			t.Fatalf("line %d, %v", r.lines.count, err)
		}
		break
	}
	// Reading continues where it stopped.
	for _, err := range r.Entries() {
		if err != nil || r.lines.count != 2 {
			t.Fatalf("line %d, %v", r.lines.count, err)
		}
		break
	}
}

type brokenDisk struct{}

var errDisk = errors.New("input/output error")

func (brokenDisk) Read([]byte) (int, error) { return 0, errDisk }

func TestReadFromABrokenDisk(t *testing.T) {
	t.Parallel()
	in := io.MultiReader(strings.NewReader(`{"type":"warning","message":"w"}`+"\n"+`{"ty`), brokenDisk{})
	entries, bad := read(NewReader(in, "x.jsonl"))
	if len(entries) != 1 || len(bad) != 1 || !errors.Is(bad[0], errDisk) || !strings.Contains(bad[0].Error(), "x.jsonl") {
		t.Errorf("%d entries, %v", len(entries), bad)
	}
	if entries, bad := sorted(Read(filepath.Join(t.TempDir(), "missing.jsonl"))); entries != nil || len(bad) != 1 || !errors.Is(bad[0], os.ErrNotExist) {
		t.Errorf("got %v, %v", entries, bad)
	}
}

// TestFilesOfForeignLogs: a log cannot refer to files that are not its own.
func TestFilesOfForeignLogs(t *testing.T) {
	t.Parallel()
	line := func(file string) string {
		return `{"type":"actor_turn","kept_output":"` + file + `","actor_output_omitted":1,"actor_output_file":"` + file + `"}` + "\n"
	}
	entries, bad := read(NewReader(strings.NewReader(line("id.d/001.x")+line("../../etc/passwd")+line("/etc/passwd")), filepath.Join("some", "id.jsonl")))
	if len(bad) > 0 || len(entries) != 3 {
		t.Fatal(entries, bad)
	}
	own := filepath.Join("some", "id.d", "001.x")
	if got := entries[0]; got.Stdout != own || got.Event.(loop.ActorFinished).Attempt.Stdout.File != own {
		t.Errorf("%+v", got)
	}
	for _, e := range entries[1:] {
		if e.Stdout != "" {
			t.Errorf("the text would be read from %s", e.Stdout)
		}
	}
}

func FuzzReader(f *testing.F) {
	for line := range bytes.Lines(golden(f)) {
		f.Add(line)
	}
	f.Add([]byte(`{"type":"warning"}` + "\r\n\x00\n" + `{"type":"pha` + "\n" + `{"type":"x"}`))
	f.Add([]byte("\ufeff\x00\n{}\r\n{\"type\":\"iteration\",\"git_diff\":\"diff --git \\\"a/\\\\\\nx\"}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := bytes.Count(text, []byte("\n")) + 1
		last := 0
		r := NewReader(bytes.NewReader(text), "x")
		for _, err := range r.Entries() {
			line := r.lines.count
			if err != nil {
				lerr, ok := errors.AsType[*LineError](err)
				if !ok {
					t.Fatal(err)
				}
				line = lerr.Line
			}
			if line <= last || line > lines {
				t.Fatalf("line %d after %d of %d", line, last, lines)
			}
			last = line
		}
	})
}
