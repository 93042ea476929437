package live

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A fakeTerminal is a terminal without wrapping and with unlimited scrollback. It shows the result of
// everything written, and knows only the escape sequences that a screen uses.
type fakeTerminal struct {
	mu    sync.Mutex
	lines []string
	row   int
	col   int
}

func (p *fakeTerminal) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := string(text)
	for rest != "" {
		var up int
		switch {
		case strings.HasPrefix(rest, "\x1b[J"):
			p.lines = p.lines[:min(len(p.lines), p.row+1)]
			if p.row < len(p.lines) {
				p.lines[p.row] = p.lines[p.row][:min(len(p.lines[p.row]), p.col)]
			}
			rest = rest[3:]
		case strings.HasPrefix(rest, "\x1b["):
			n, err := fmt.Sscanf(rest, "\x1b[%dA", &up)
			if n != 1 || err != nil {
				return 0, fmt.Errorf("unknown sequence %q", rest)
			}
			if p.row -= up; p.row < 0 {
				return 0, errors.New("above the top")
			}
			rest = rest[strings.IndexByte(rest, 'A')+1:]
		case rest[0] == '\r':
			p.col, rest = 0, rest[1:]
		case rest[0] == '\n':
			p.row, p.col, rest = p.row+1, 0, rest[1:]
		default:
			end := strings.IndexAny(rest, "\r\n\x1b")
			if end < 0 {
				end = len(rest)
			}
			for len(p.lines) <= p.row {
				p.lines = append(p.lines, "")
			}
			p.lines[p.row] = p.lines[p.row][:p.col] + rest[:end]
			p.col += end
			rest = rest[end:]
		}
	}
	return len(text), nil
}

func (p *fakeTerminal) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.TrimRight(strings.Join(p.lines, "\n"), "\n")
}

// A shownRun run is shown event by event.
type shownRun struct {
	*Screen
	t   *testing.T
	seq int
	looptest.Grammar
}

func (r *shownRun) tell(step loop.Step, events ...loop.Event) {
	r.t.Helper()
	for _, e := range events {
		r.seq++
		at := loop.Stamp{Seq: r.seq, Time: time.Now(), Step: step}
		if err := errors.Join(r.Grammar.Handle(at, e), r.Screen.Handle(at, e)); err != nil {
			r.t.Fatal(err)
		}
	}
}

// steers records the requests made by keys.
type steers struct {
	loop.Steering
	hurried int
}

func (s *steers) Hurry() { s.hurried++ }

func newTold(t *testing.T, out *fakeTerminal, width int, to *steers) *shownRun {
	t.Helper()
	return newToldIn(t, false, out, width, to)
}

func newToldIn(t *testing.T, ascii bool, out *fakeTerminal, width int, to *steers) *shownRun {
	t.Helper()
	s := newScreen(Options{
		Terminal: Terminal{ASCII: ascii, Out: out, Size: func() (int, int) { return width, 30 }},
		Now:      time.Now, Root: "/home/u/project",
		Limits: Limits{Turn: time.Hour, Whole: 90 * time.Minute, Cost: 5, Tokens: 200_000}, Asked: to.Asked, Keys: true,
	})
	return &shownRun{Screen: s, t: t}
}

// newScreen shows a run of which nothing is asked, and whose changes are unknown, unless the options say more.
func newScreen(o Options) *Screen {
	o.Style = lipgloss.NewRenderer(io.Discard)
	if o.Asked == nil {
		o.Asked = (&steers{}).Asked
	}
	if o.Diff == nil {
		o.Diff = func() (string, error) { return "", errors.New("unknown") }
	}
	return New(o)
}

var claude = loop.AgentRef{Agent: "claude", Model: "opus"}

// atWork begins the actor's turn of the first iteration.
func (r *shownRun) atWork() {
	r.tell("", loop.Started{Session: loop.Session{Prompt: "do it", Cast: loop.Cast{Actor: claude, Critic: loop.AgentRef{Agent: "codex"}}, Terms: loop.Terms{MaxIterations: 5}}})
	r.tell("1", loop.IterationStarted{Iteration: 1})
	r.tell("1.actor", loop.PhaseEntered{Iteration: 1, State: loop.ActorExecuting})
}

func (r *shownRun) press(to *steers, keys ...string) {
	for _, key := range keys {
		r.Press(key, to, nil)
	}
}

func (r *shownRun) does(kind loop.NoticeKind, text string) {
	r.notes(loop.Notice{Kind: kind, Text: text})
}

func (r *shownRun) notes(n loop.Notice) {
	r.tell("1.actor", loop.Activity{Iteration: 1, Role: loop.RoleActor, Notice: n})
}

// TestPictures: the terminal's contents in the course of a run, at three widths and in ASCII.
func TestPictures(t *testing.T) {
	t.Parallel()
	t.Run("ascii", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { pictures(t, 60, true) })
	})
	for _, width := range []int{40, 80, 120} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { pictures(t, width, false) })
		})
	}
}

func pictures(t *testing.T, width int, ascii bool) {
	t.Helper()
	var shown strings.Builder
	out, to := &fakeTerminal{}, &steers{}
	r := newToldIn(t, ascii, out, width, to)
	look := func(what string) {
		t.Helper()
		time.Sleep(time.Second) // until this second is drawn
		synctest.Wait()
		text := ansi.Strip(out.text())
		fits(t, what, text, width, ascii)
		fmt.Fprintf(&shown, "=== %s\n%s\n", what, text)
	}
	write := func(text string) {
		t.Helper()
		if _, err := r.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	r.atWork()
	write("Iteration 1\n")
	look("nothing yet")
	time.Sleep(65 * time.Second)
	r.does(loop.NoticeOutput, "some line\nthe last line\n\n")
	r.does(loop.NoticeOutput, "SEAL: k7f2qx\n")
	look("it prints")
	for _, n := range []loop.Notice{
		{Kind: loop.NoticeMessage, Text: "I look at the parser."},
		{Kind: loop.NoticeTool, Text: "Read /home/u/project/parser.go"},
		{Kind: loop.NoticeCommand, Text: "go test ./..."},
		{Kind: loop.NoticeEdit, Text: "/home/u/project/internal/parser.go", Added: 12, Removed: 3},
		{Kind: loop.NoticeMessage, Text: "a \x1b[2Jhostile " + strings.Repeat("word ", 40)},
	} {
		r.notes(n)
	}
	look("it works")
	r.tell("1.actor", loop.WaitStarted{Iteration: 1, Role: loop.RoleActor, Wait: loop.Wait{Cause: loop.EndRateLimited, Until: time.Now().Add(time.Hour)}})
	look("it waits")
	r.tell("1.actor", loop.WaitFinished{Iteration: 1, Role: loop.RoleActor, Wait: loop.Wait{End: loop.WaitOver}})
	r.press(to, "s", "p", "f")
	r.press(to, "u", "x", "\x7f", "s", "é", "\x1b[A")
	look("a word is typed")
	r.press(to, strings.Split(strings.Repeat(" word", 15), "")...)
	r.Press("!", to, nil)
	look("many words are typed")
	r.press(to, "\x17", "\x15", "o", "k")
	r.Press("\r", to, nil)
	look("things were asked for")
	if stop, pause, words := to.Asked(); !stop || !pause || words != 1 {
		t.Errorf("asked for %t, %t, %d", stop, pause, words)
	}
	r.Press("s", to, nil)
	r.Press("w", to, nil)
	if stop, pause, _ := to.Asked(); stop || pause || to.hurried != 1 {
		t.Errorf("still asked for %t, %t; hurried %d times", stop, pause, to.hurried)
	}
	r.Press("i", to, nil)
	r.Press("\r", to, nil)
	look("no turn to interrupt")
	usd := 0.42
	r.tell("1.actor", loop.ActorFinished{Iteration: 1, Attempt: loop.Attempt{Turn: loop.Turn{Execution: loop.Execution{Duration: 65 * time.Second}, Try: loop.Try{Ending: loop.EndCompleted, Usage: loop.Usage{CostUSD: &usd, Tokens: &loop.Tokens{Input: 30000, Output: 1000}}}}}})
	write("  actor    1m 05s\n")
	r.tell("1.capture", loop.PhaseEntered{Iteration: 1, State: loop.CapturingDiff}, loop.DiffCaptured{Iteration: 1, Change: loop.Change{
		Files: []loop.FileChange{{Path: "a", Patch: "the patch\n"}}, Insertions: 41, Deletions: 7,
	}})
	r.tell("1.checks", loop.PhaseEntered{Iteration: 1, State: loop.Verifying})
	look("checks")
	r.tell("1.checks", loop.ChecksFinished{Iteration: 1, Checks: []loop.CheckResult{{Ending: loop.EndCompleted}, {}}})
	r.tell("1.critic", loop.PhaseEntered{Iteration: 1, State: loop.CriticEvaluating})
	r.tell("1.critic", loop.Activity{Iteration: 1, Role: loop.RoleCritic, Notice: loop.Notice{Kind: loop.NoticeMessage, Text: "**DECISION:** DONE\nSEAL: k7f2qx"}})
	look("it decides")
	r.Press("?", to, nil)
	look("help")
	paged := make(chan string, 1)
	r.Press("d", to, func(text string) { paged <- text })
	if text := <-paged; text != "the patch\n" {
		t.Errorf("the diff is %q", text)
	}
	r.tell("", loop.Finished{Outcome: loop.Outcome{Result: loop.Interrupted, Reason: loop.StopInterrupted}})
	write("Interrupted\n")
	look("the end")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	name := strconv.Itoa(width)
	if ascii {
		name = "ascii"
	}
	golden(t, "pictures-"+name+".golden", shown.String())
}

// fits checks that a picture fits its terminal.
func fits(t *testing.T, what, text string, width int, ascii bool) {
	t.Helper()
	odd := func(r rune) bool { return ascii && r > unicode.MaxASCII && r != 'é' } // typed by the user
	for line := range strings.Lines(text) {
		if ansi.StringWidth(strings.TrimSuffix(line, "\n")) >= width || strings.ContainsFunc(line, odd) {
			t.Errorf("%s: %q", what, line)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(got), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s: %v: got\n%s", name, err, got)
	}
}

// TestSpoken: a critic's decision is not shown as its message.
func TestSpoken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"I look.\n\n**DECISION:** CONTINUE\nFEEDBACK: x": "I look.",
		"seal: k7f2qx":                "its verdict",
		"- SEAL : k7\nDECISION: DONE": "its verdict",
		"The decision: to be made.":   "The decision: to be made.",
		"sealed":                      "sealed",
		"":                            "",
	} {
		if got := spoken(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestTitles: the title shows the state of the run, and is removed at the end.
func TestTitles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := newScreen(Options{Terminal: Terminal{Out: &out, Size: func() (int, int) { return 80, 24 }}, Now: time.Now, Title: true})
		r := &shownRun{Screen: s, t: t}
		r.atWork()
		r.tell("1.actor", loop.WaitStarted{Iteration: 1, Role: loop.RoleActor, Wait: loop.Wait{Cause: loop.EndOverloaded, Until: time.Now().Add(time.Hour)}})
		show := r.Hide()
		r.tell("1.actor", loop.WaitFinished{Iteration: 1, Role: loop.RoleActor, Wait: loop.Wait{End: loop.WaitOver}})
		show()
		r.does(loop.NoticeMessage, "on")
		_ = r.Close()
		var titles []string
		for _, m := range regexp.MustCompile(`\x1b\]2;([^\x1b]*)\x1b\\|\x1b\[(2[23]);2t`).FindAllStringSubmatch(out.String(), -1) {
			titles = append(titles, m[1]+m[2])
		}
		if got := strings.Join(titles, "|"); got != "22|codeloops · do it|codeloops 1/5 · do it|codeloops 1/5 actor · do it|codeloops 1/5 waiting · do it|codeloops 1/5 actor · do it|23" {
			t.Error(got)
		}
	})
}

// TestSideBySide: turns at the same time have a line each.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &fakeTerminal{}
		r := newTold(t, out, 100, &steers{})
		r.tell("", loop.Started{})
		for i := range 8 {
			step := loop.Step(fmt.Sprintf("thought_%d", i+1))
			r.tell(step, loop.TurnStarted{Role: loop.Role(step)})
			r.tell(step, loop.Activity{Role: loop.Role(step), Notice: loop.Notice{Kind: loop.NoticeCommand, Text: fmt.Sprint("make ", i)}})
		}
		time.Sleep(2 * frame)
		synctest.Wait()
		shown := ansi.Strip(out.text())
		if !strings.Contains(shown, "runs make 5") || strings.Contains(shown, "make 6") || !strings.Contains(shown, "… and 2 more") {
			t.Error(shown)
		}
		_ = r.Close()
	})
}

// TestBorrowed: whoever borrows the terminal has it exclusively, and the run's output follows
// afterwards.
func TestBorrowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &fakeTerminal{}
		r := newTold(t, out, 80, &steers{})
		r.atWork()
		time.Sleep(2 * frame)
		show := r.Hide()
		if text := out.text(); text != "" {
			t.Errorf("still drawn: %q", text)
		}
		_, _ = r.Write([]byte("a line\n"))
		r.does(loop.NoticeMessage, "hello")
		time.Sleep(2 * frame)
		if text := out.text(); text != "" {
			t.Errorf("written: %q", text)
		}
		_, _ = r.Write(bytes.Repeat([]byte("x"), mostHeld+5))
		show()
		show()
		time.Sleep(2 * frame)
		synctest.Wait()
		text := ansi.Strip(out.text())
		if !strings.HasPrefix(text, "a line\nxxx") || !strings.Contains(text, "bytes are not shown here") || !strings.Contains(text, "says  hello") {
			t.Errorf("%.100q … %q", text, text[max(0, len(text)-300):])
		}
		move := r.Freeze()
		_, _ = r.Write([]byte("a question? "))
		time.Sleep(2 * frame)
		if text := out.text(); !strings.HasSuffix(text, "a question? ") {
			t.Errorf("drawn after a question: %q", text[max(0, len(text)-100):])
		}
		move()
		_ = r.Hide()
		_, _ = r.Write([]byte("the last line\n"))
		_, _ = r.SyncedWriter(out).Write([]byte("the result\n"))
		if text := out.text(); strings.Contains(text, "the result") {
			t.Errorf("over a pager: %q", text[max(0, len(text)-100):])
		}
		_ = r.Close()
		if text := out.text(); !strings.HasSuffix(text, "the last line\nthe result") {
			t.Errorf("lost after a pager: %q", text[max(0, len(text)-100):])
		}
	})
}

// TestNarrower: lines that the terminal has rewrapped are erased, and nothing above them.
func TestNarrower(t *testing.T) {
	t.Parallel()
	s := &canvas{Terminal: Terminal{Reflows: true}, drawn: []string{"", strings.Repeat("x", 79), "yy"}, width: 80}
	for width, want := range map[int]int{80: 3, 79: 3, 40: 4, 20: 6} {
		if got := s.rows(width); got != want {
			t.Errorf("in %d columns: %d rows, want %d", width, got, want)
		}
	}
	if s.Reflows = false; s.rows(20) != 3 {
		t.Error("rows are counted as if the terminal reflowed")
	}
}

// TestPlain: without a drawable terminal, a line every half minute names the agent at work, unless
// something else was written.
func TestPlain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &fakeTerminal{}
		s := newScreen(Options{Terminal: Terminal{Out: out, Size: func() (int, int) { return 80, 24 }, Plain: true}, Now: time.Now})
		r := &shownRun{Screen: s, t: t}
		r.atWork()
		time.Sleep(29 * time.Second)
		_, _ = r.Write([]byte("something\n"))
		time.Sleep(29 * time.Second)
		r.does(loop.NoticeCommand, "make\x1b[2J test")
		time.Sleep(32 * time.Second)
		r.tell("1.actor", loop.WaitStarted{Iteration: 1, Role: loop.RoleActor, Wait: loop.Wait{Cause: loop.EndOverloaded, Until: time.Now().Add(time.Hour)}})
		time.Sleep(30 * time.Second)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		const want = "something\n" +
			"  actor    claude (opus) at work for 59.0 s: runs make test\n" +
			"  actor    claude (opus) at work for 1m 29s: runs make test\n" +
			"  actor    waiting 59:31 for an overloaded service"
		if got := out.text(); got != want {
			t.Errorf("got\n%s", got)
		}
	})
}

// TestFewLines: where there is no room for all lines, the keys are left out first.
func TestFewLines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out, to := &fakeTerminal{}, &steers{}
		s := newScreen(Options{
			Terminal: Terminal{Out: out, Size: func() (int, int) { return 24, 5 }}, Now: time.Now, Asked: to.Asked, Keys: true,
		})
		r := &shownRun{Screen: s, t: t}
		r.atWork()
		r.does(loop.NoticeCommand, "make")
		time.Sleep(time.Second)
		synctest.Wait()
		if text := ansi.Strip(out.text()); !strings.Contains(text, "make") || !strings.HasSuffix(text, "  ? help") || strings.Contains(text, "p pause") {
			t.Error(text)
		}
		_ = r.Close()
	})
}

// brokenTerminal is a terminal whose writes fail.
type brokenTerminal struct{}

func (brokenTerminal) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestTerminalGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(Options{Terminal: Terminal{Out: brokenTerminal{}, Size: func() (int, int) { return 80, 24 }}, Now: time.Now})
		_, _ = s.Write([]byte("x\n"))
		synctest.Wait()
		if _, err := s.Write([]byte("y\n")); err == nil {
			t.Error("no error")
		}
		if err := s.Handle(loop.Stamp{}, loop.Started{}); err == nil {
			t.Error("the run gets no error")
		}
		if s.Close() == nil {
			t.Error("no error at the end")
		}
	})
}

// blockedTerminal is a terminal whose writes block until it is released.
type blockedTerminal struct {
	fakeTerminal
	let chan struct{}
}

func (s *blockedTerminal) Write(text []byte) (int, error) {
	<-s.let
	return s.fakeTerminal.Write(text)
}

// TestNobodyReads: a terminal that hangs delays only large outputs, until the run is over. Once it
// is read again, all output is there, followed by the result.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &blockedTerminal{let: make(chan struct{})}
		s := newScreen(Options{Terminal: Terminal{Out: out, Size: func() (int, int) { return 80, 24 }}, Now: time.Now})
		r := &shownRun{Screen: s, t: t}
		_, _ = s.Write([]byte("a line\n"))
		r.atWork()
		time.Sleep(time.Minute)
		_, _ = s.Write(bytes.Repeat([]byte("x"), mostPumped))
		written := make(chan struct{})
		go func() {
			_, _ = s.Write([]byte("much more"))
			close(written)
		}()
		time.Sleep(time.Minute)
		select {
		case <-written:
			t.Error("the buffer grows without limit")
		default:
		}
		began := time.Now()
		if s.Close() == nil || time.Since(began) > time.Minute {
			t.Errorf("the end took %s", time.Since(began))
		}
		<-written
		close(out.let)
		_, _ = s.SyncedWriter(out).Write([]byte("\nthe result\n"))
		if text := out.text(); !strings.HasPrefix(text, "a line\n") || !strings.HasSuffix(text, "xmuch more\nthe result") {
			t.Errorf("%.100q … %q", text, text[max(0, len(text)-100):])
		}
	})
}
