package export

import (
	"fmt"
	"io"
	"strings"

	"codeloops/internal/browse"
	"codeloops/internal/loop"
	"codeloops/internal/render"
)

// mostOfMarkdown bounds, in bytes, each text in a description of a pull request,
// of which GitHub takes 64 KiB.
const mostOfMarkdown = 4 << 10

// mostNamed bounds the files that are listed.
const mostNamed = 50

// markdown writes what belongs into the description of a pull request. The diff
// is none of it: it stands beside it.
type markdown struct {
	out  io.Writer
	opts Options
	*budget
	err error
}

func newMarkdown(w io.Writer, o Options) *markdown {
	b := newBudget(o.Session.ID)
	b.left = 40 << 10
	return &markdown{out: w, opts: o, budget: b}
}

func (m *markdown) sayf(format string, args ...any) {
	if m.err == nil {
		_, m.err = fmt.Fprintf(m.out, format+"\n", args...)
	}
}

// fence writes a text as a block of code, which nothing in it can end.
func (m *markdown) fence(said string) {
	body, note := m.take(strings.Trim(said, "\r\n"), mostOfMarkdown)
	if strings.TrimSpace(body) == "" {
		return
	}
	marks := strings.Repeat("`", max(3, longestRun(body)+1))
	m.sayf("\n%stext\n%s\n%s", marks, strings.Trim(body, "\n"), marks)
	if note != "" {
		m.sayf("\n%s", code(note))
	}
}

// longestRun counts the back-ticks of the longest run of them.
func longestRun(text string) (longest int) {
	run := 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// code writes a line as a span of code, which nothing in it can end (see
// CommonMark, code spans).
func code(said string) string {
	said = line(said)
	if said == "" {
		return ""
	}
	if !strings.Contains(said, "`") {
		return "`" + said + "`"
	}
	marks := strings.Repeat("`", longestRun(said)+1)
	return marks + " " + said + " " + marks
}

func (m *markdown) start(s loop.Session) error {
	m.sayf("### codeloops: %s", code(string(m.opts.Session.Status)))
	m.sayf("")
	for _, f := range facts(s, m.opts) {
		m.sayf("- %s: %s", f.Name, code(f.Value))
	}
	m.sayf("- Session: %s", code(m.opts.Session.ID))
	m.fold("Prompt")
	m.fence(s.Prompt)
	m.unfold()
	return m.err
}

// fold begins what is folded away; what follows an empty line is Markdown again.
func (m *markdown) fold(summary string) { m.sayf("\n<details><summary>%s</summary>", summary) }

func (m *markdown) unfold() { m.sayf("\n</details>") }

func (m *markdown) iteration(s step) error {
	decision := "?"
	switch s.Verdict.Decision {
	case loop.Done, loop.Continue, loop.Error:
		decision = string(s.Verdict.Decision)
	}
	m.fold(fmt.Sprintf("Iteration %d: %s, %s", s.Iteration, decision, render.Stat(s.own)))
	m.sayf("\nActor: %s", code(acted(s.Attempt)))
	m.fence(s.Attempt.Stdout.Text)
	m.notes(s.notes)
	if len(s.Checks) > 0 {
		m.sayf("")
	}
	for _, c := range s.Checks {
		result := "passed"
		if !c.Passed() {
			result = "**failed**"
		}
		m.sayf("- check %s %s", code(c.Command), result)
		for _, remark := range c.Remarks() {
			m.sayf("  - %s", code(remark))
		}
		if !c.Passed() {
			m.fence(c.Output.Text)
		}
	}
	m.sayf("\nCritic: %s", code(judged(s.Round)))
	m.fence(s.Verdict.Guidance())
	m.unfold()
	return m.err
}

func (m *markdown) notes(notes []string) {
	if len(notes) > 0 {
		m.sayf("")
	}
	for _, n := range notes {
		m.sayf("- %s", code(n))
	}
}

func (m *markdown) unfinished(n int, what string, notes []string) error {
	m.sayf("\nIteration %d %s", n, what)
	m.notes(notes)
	return m.err
}

func (m *markdown) resumed(e loop.Resumed) error {
	m.sayf("\nResumed after %s", render.Count(e.Iterations, "iteration", "iterations"))
	return m.err
}

func (m *markdown) end(e ending) error {
	m.sayf("\n#### Changes: %s\n", render.Stat(e.change))
	for i, f := range e.change.Files {
		if i == mostNamed {
			m.sayf("- … %d more", len(e.change.Files)-i)
			break
		}
		m.sayf("- %s %s %s", browse.Letter(f.Status), code(browse.Quoted(f.Path)), stat(f))
	}
	m.sayf("\n#### End\n")
	for _, f := range e.facts() {
		m.sayf("- %s: %s", f.Name, code(f.Value))
	}
	m.notes(e.notes)
	if e.outcome != nil {
		m.fence(e.outcome.Summary)
	}
	return m.err
}
