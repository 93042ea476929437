package ci

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"codeloops/internal/loop"
)

// obeyed returns the commands that GitHub's runner finds in a log: "::" at the beginning of a line,
// after white space of any kind, and "##[" anywhere.
func obeyed(log string) (orders []string) {
	for line := range strings.FieldsFuncSeq(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if strings.HasPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::") || strings.Contains(line, "##[") {
			orders = append(orders, line)
		}
	}
	return orders
}

// says is a renderer that shows what agents print.
type says struct{ out *bytes.Buffer }

func (s says) Handle(_ loop.Stamp, e loop.Event) error {
	if a, ok := e.(loop.Activity); ok {
		_, err := s.out.WriteString(a.Text)
		return err
	}
	return nil
}

const hostile = "\r::add-mask::x\n::set-env name=x::y\n  ::error::no\n\u00a0\u3000\t::add-path::/tmp\nbuild ##[error]x\n:::group::\n###[group]\n::endgroup::\nfine a::b c:: ##\n[x]\n:\n:\n"

func events() []loop.Event {
	return []loop.Event{
		loop.Started{},
		loop.IterationStarted{Iteration: 1},
		loop.Activity{Notice: loop.Notice{Text: hostile}},
		loop.IterationFinished{},
		loop.IterationStarted{Iteration: 2},
		loop.Activity{Notice: loop.Notice{Text: "::endgroup::\n"}},
		loop.Finished{Outcome: loop.Outcome{Result: loop.MaxIterations, Reason: loop.StopMaxIterations, Summary: "100% of 2,\r\n::error::both: used"}},
	}
}

// shown returns the log of a job.
func shown(t *testing.T, s System) string {
	t.Helper()
	var log bytes.Buffer
	l := New(s)
	w := l.Writer(&log, false)
	inner := says{&bytes.Buffer{}}
	sink := l.Sink(w, inner, true)
	for _, e := range events() {
		inner.out.Reset()
		if err := sink.Handle(loop.Stamp{Time: time.Unix(1700000000, 0)}, e); err != nil {
			t.Fatal(err)
		}
		for _, b := range inner.out.Bytes() { // in pieces of any size
			if _, err := w.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return log.String()
}

// TestGitHub: iterations are groups, an end without success is an error, and the output of agents
// contains no commands.
func TestGitHub(t *testing.T) {
	t.Parallel()
	log := shown(t, GitHub)
	want := []string{
		"::group::Iteration 1", "::endgroup::", "::group::Iteration 2", "::endgroup::",
		"::error title=codeloops%3A limit reached%2C the iterations are used up::100%25 of 2,%0A::error::both: used",
	}
	if got := obeyed(log); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("orders %q", got)
	}
	for _, kept := range []string{"\n: :set-env name=x::y\n", "\nbuild ## [error]x\n", "\nfine a::b c:: ##\n[x]\n:\n:\n", "\n: ::group::\n"} {
		if !strings.Contains(log, kept) {
			t.Errorf("no %q in %q", kept, log)
		}
	}
	if strings.Contains(log, "\x00") {
		t.Error("the mark is shown")
	}
	done := &bytes.Buffer{}
	l := New(GitHub)
	end := loop.Finished{Outcome: loop.Outcome{Result: loop.Success, Reason: loop.StopDone}}
	if err := l.Sink(l.Writer(done, false), says{&bytes.Buffer{}}, true).Handle(loop.Stamp{}, end); err != nil || done.Len() > 0 {
		t.Errorf("%v, a success says %q", err, done)
	}
}

// TestRefused: a run that could not begin is an error, too.
func TestRefused(t *testing.T) {
	t.Parallel()
	for s, want := range map[System]string{None: "", GitLab: "", GitHub: "::error title=codeloops%3A could not begin::no agent:%0Ainstall one\n"} {
		var log bytes.Buffer
		New(s).Refused(&log, "no agent:\ninstall one")
		if log.String() != want {
			t.Errorf("%s: %q", s, log.String())
		}
	}
}

// TestGitLab: iterations are sections.
func TestGitLab(t *testing.T) {
	t.Parallel()
	want := []string{"start:1700000000:codeloops_1", "end:1700000000:codeloops_1", "start:1700000000:codeloops_2", "end:1700000000:codeloops_2"}
	got := regexp.MustCompile(`\x1b\[0Ksection_((?:start|end):\d+:\w+)\r\x1b\[0K`).FindAllStringSubmatch(shown(t, GitLab), -1)
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i, m := range got {
		if m[1] != want[i] {
			t.Errorf("%q, want %q", m[1], want[i])
		}
	}
}

// TestGitLabObeysNobodyElse: the output of agents begins no section.
func TestGitLabObeysNobodyElse(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	if _, err := New(GitLab).Writer(&log, false).Write([]byte("\x1b[0Ksection_start:1:x\r\x1b[0Kx\n")); err != nil || strings.Contains(log.String(), "\r") {
		t.Errorf("%v: %q", err, log.String())
	}
}

func TestNone(t *testing.T) {
	t.Parallel()
	if log := shown(t, None); log != hostile+"::endgroup::\n" {
		t.Errorf("%q", log)
	}
}

// TestJSON: JSON keeps its meaning and contains no commands.
func TestJSON(t *testing.T) {
	t.Parallel()
	line, err := json.Marshal(map[string]any{"text": hostile, "list": []string{"##[", "#"}})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if _, err := New(GitHub).Writer(&log, true).Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	var got struct{ Text string }
	if err := json.Unmarshal(log.Bytes(), &got); err != nil || got.Text != hostile || obeyed(log.String()) != nil {
		t.Errorf("%v: %q", err, log.String())
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	env := func(set string) func(string) string {
		return func(name string) string {
			if of, value, _ := strings.Cut(set, "="); of == name {
				return value
			}
			return ""
		}
	}
	for _, c := range []struct {
		setting, env string
		want         System
	}{
		{Auto, "", None},
		{Auto, "GITHUB_ACTIONS=true", GitHub},
		{Auto, "GITHUB_ACTIONS=false", None},
		{Auto, "GITLAB_CI=true", GitLab},
		{"none", "GITHUB_ACTIONS=true", None},
		{"gitlab", "GITHUB_ACTIONS=true", GitLab},
	} {
		if got := Of(c.setting, env(c.env)); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestGone(t *testing.T) {
	t.Parallel()
	l := New(GitHub)
	if l.Sink(l.Writer(gone{}, false), says{&bytes.Buffer{}}, true).Handle(loop.Stamp{}, loop.IterationStarted{Iteration: 1}) == nil {
		t.Error("no error")
	}
}

// FuzzWriter: no output is a command, however it is split into writes.
func FuzzWriter(f *testing.F) {
	f.Add(hostile, 3)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		var log bytes.Buffer
		w := New(GitHub).Writer(&log, false)
		at := max(0, min(cut, len(text)))
		for _, part := range []string{text[:at], text[at:]} {
			if _, err := w.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		if got := obeyed(log.String()); got != nil {
			t.Errorf("%q", got)
		}
	})
}
