package live

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
)

// TestSeen: files that change during a turn are shown next to the agent's activity, each once, with
// the number of lines.
func TestSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out, to := &fakeTerminal{}, &steers{}
		r := newTold(t, out, 100, to)
		defer r.Close()
		r.atWork()
		shows := func(what string, want ...string) {
			t.Helper()
			time.Sleep(time.Second)
			synctest.Wait()
			var got []string
			for line := range strings.Lines(ansi.Strip(out.text())) {
				line = strings.TrimLeft(strings.TrimSpace(line), "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ")
				if parts := strings.Split(line, " · "); strings.HasPrefix(line, "actor") {
					got = append(got, parts[len(parts)-1])
				} else if line != "" && !strings.Contains(line, " · ") {
					got = append(got, line)
				}
			}
			if text := strings.Join(got, "\n"); text != strings.Join(want, "\n") {
				t.Errorf("%s:\n%s\nwant\n%s", what, text, strings.Join(want, "\n"))
			}
		}
		looks := func(files, added, removed int, seen ...loop.Seen) {
			r.notes(loop.Notice{Kind: loop.NoticeLook, Look: &loop.Look{Files: files, Added: added, Removed: removed, New: seen}})
		}
		file := func(path string, added, removed int) loop.Seen {
			return loop.Seen{Path: path, Status: loop.FileModified, Added: added, Removed: removed}
		}
		looks(2, 3, 1, file("a\x1b[2J.go", 2, 1), loop.Seen{Path: "b", Status: loop.FileAdded, Binary: true, Size: 3 << 20})
		shows("an agent that says nothing", "2 files changed +3 −1", "edits a.go +2 −1", "edits b binary, 3.0 MiB", "no word from it yet")
		r.does(loop.NoticeOutput, "some line\n")
		r.does(loop.NoticeCommand, "go test")
		looks(2, 4, 1, file("a.go", 3, 1))
		shows("it runs something meanwhile", "2 files changed +4 −1", "edits a.go +3 −1", "edits b binary, 3.0 MiB", "runs  go test")
		r.notes(loop.Notice{Kind: loop.NoticeEdit, Text: "/home/u/project/a.go", Added: 1})
		shows("it tells of an edit that was seen", "2 files changed +4 −1", "edits b binary, 3.0 MiB", "runs  go test", "edits a.go +3 −1")
		r.notes(loop.Notice{Kind: loop.NoticeEdit, Text: "sub/c.go", Added: 7, Removed: 7})
		looks(3, 6, 1, file("a.go", 4, 1), loop.Seen{Path: "b"}, file("deep/sub/c.go", 1, 0))
		shows("and of one before it is seen", "3 files changed +6 −1", "runs  go test", "edits a.go +4 −1", "edits sub/c.go +1 −0")
		looks(4, 16, 3, file("d", 10, 0), loop.Seen{Path: "e", Status: loop.FileDeleted, Removed: 2})
		shows("others come", "4 files changed +16 −3", "edits a.go +4 −1", "edits d +10 −0", "edits e deleted +0 −2", "edits sub/c.go +1 −0")
		looks(0, 0, 0, loop.Seen{Path: "a.go"}, loop.Seen{Path: "d"}, loop.Seen{Path: "deep/sub/c.go"}, loop.Seen{Path: "e"})
		shows("all is as it was", "0:06 of 1h", "edits a.go as it was", "edits sub/c.go as it was")
	})
}

// TestDiffNow: d shows the current diff, or the last captured one if the work tree cannot be looked
// at. Only one look runs at a time, and none is shown after the run.
func TestDiffNow(t *testing.T) {
	t.Parallel()
	out, to := &fakeTerminal{}, &steers{}
	r := newTold(t, out, 100, to)
	defer r.Close()
	type look struct {
		text string
		err  error
	}
	asked, answer, paged := make(chan bool), make(chan look), make(chan string)
	r.Diff = func() (string, error) {
		asked <- true
		l := <-answer
		return l.text, l.err
	}
	press := func() { r.Press("d", to, func(text string) { paged <- text }) }
	is := func(l look, want string) {
		t.Helper()
		press()
		<-asked
		press() // a look is already running
		answer <- l
		if got := <-paged; got != want {
			t.Errorf("it shows %q, not %q", got, want)
		}
	}
	r.atWork()
	is(look{text: "now\n"}, "now\n")
	r.tell("1.actor", loop.ActorFinished{Iteration: 1})
	r.tell("1.capture", loop.PhaseEntered{Iteration: 1, State: loop.CapturingDiff}, loop.DiffCaptured{Iteration: 1, Change: loop.Change{
		Files: []loop.FileChange{{Path: "a", Patch: "captured\n"}},
	}})
	is(look{err: errors.New("no tree")}, "captured\n")
	press()
	<-asked
	answer <- look{}
	for said := ""; said != "nothing has changed so far"; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		said = r.talk.notice
		r.mu.Unlock()
	}
	press()
	<-asked
	r.tell("", loop.Finished{Outcome: loop.Outcome{Result: loop.Interrupted, Reason: loop.StopInterrupted}})
	answer <- look{text: "late"}
	for looks := true; looks; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		looks = r.talk.looks
		r.mu.Unlock()
	}
	select {
	case text := <-paged:
		t.Errorf("after the end it shows %q", text)
	default:
	}
}
