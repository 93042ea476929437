package export

import (
	"strconv"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/words"
)

// Limits of a pull request's description, of which GitHub takes 64 KiB: the bytes of all
// texts, and of each.
const (
	markdownSize   = 40 << 10
	mostOfMarkdown = 4 << 10
)

// A markdown writes the description of a pull request, without the diff, which is shown beside
// it. Strings reach the file only through in and text, as code that they cannot end.
type markdown struct{ sheet }

func (m *markdown) head(s loop.Session) {
	m.in("### codeloops: ", words.Outcome(string(m.opts.Session.Status)), "\n\n")
	m.facts(facts(s, m.opts))
	m.in("- Session: ", m.id, "\n\n<details><summary>Prompt</summary>\n")
	m.text(m.words("", s.Prompt))
	m.put("\n</details>\n")
}

func (m *markdown) text(t text) {
	if t.Body == "" {
		return
	}
	f := fence(t.Body)
	m.buf.WriteString("\n" + f + "text\n" + t.Body + "\n" + f + "\n")
	if t.Note != "" {
		m.in("\n", t.Note, "\n")
	}
}

func (m *markdown) notes(all []string) {
	if len(all) > 0 {
		m.put("\n")
	}
	for _, note := range all {
		m.in("- ", note, "\n")
	}
}

func (m *markdown) facts(all []fact) {
	for _, f := range all {
		m.in("- "+f.Name+": ", f.Value, "\n")
	}
}

func (m *markdown) alone(t turn) {
	m.in("\nTurn of ", t.Role, ": ")
	m.in("", t.What, "\n")
	m.text(m.words("", t.reply.Text))
	m.notes(t.Notes)
}

func (m *markdown) turns(all []turn) {
	for _, t := range all {
		m.alone(t)
	}
}

func (m *markdown) iteration(s iteration) {
	m.put("\n<details><summary>Iteration ", ours(strconv.Itoa(s.Iteration)), ": ", known(s.Verdict.Word()), ", ", ours(render.Stat(s.own.Shape())), "</summary>\n")
	m.turns(s.turns)
	said, guidance := m.essence(s.Round)
	m.in("\nActor: ", acted(s.Attempt), "\n")
	m.text(said)
	m.notes(s.notes)
	m.checks(s.Checks)
	m.in("\nCritic: ", judged(s.Round), "\n")
	m.text(guidance)
	m.put("\n</details>\n")
}

func (m *markdown) checks(all []loop.CheckResult) {
	if len(all) > 0 {
		m.put("\n")
	}
	for _, c := range all {
		came := ours(" passed\n")
		if !c.Passed() {
			came = " **failed**\n"
		}
		m.in("- check ", c.Command, came)
		for _, remark := range c.Remarks() {
			m.in("  - ", remark, "\n")
		}
		if !c.Passed() {
			m.text(m.output("output", c.Output))
		}
	}
}

func (m *markdown) unfinished(s iteration, what string) {
	m.put("\nIteration ", ours(strconv.Itoa(s.Iteration)), " ", ours(what), "\n")
	m.turns(s.turns)
	m.notes(s.notes)
}

func (m *markdown) resumed(r loop.Resumed) { m.put("\n", ours(after(r)), "\n") }

func (m *markdown) end(e ending) {
	m.put("\n#### Changes: ", ours(render.Stat(e.change.Shape())), "\n\n")
	files := e.change.Files
	for _, f := range files[:min(len(files), mostNamed)] {
		letter, path, stat := titled(f)
		m.in("- "+ours(letter)+" ", path, " "+ours(stat)+"\n")
	}
	if more := len(files) - mostNamed; more > 0 {
		m.put("- … ", ours(strconv.Itoa(more)), " more\n")
	}
	m.put("\n#### End\n\n")
	m.facts(e.facts())
	m.notes(e.notes)
	if e.outcome != nil {
		m.text(m.words("", e.outcome.Summary))
	}
}

// fence is the delimiter of a code block that nothing in it can end.
func fence(body string) string { return strings.Repeat("`", max(3, longestRun(body)+1)) }

// longestRun returns the length of the longest run of backticks.
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

// code returns a line as a code span, which nothing in it can end (see CommonMark, code
// spans).
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

// known returns a decision for use outside of code.
func known(decision string) ours {
	switch loop.Decision(decision) {
	case loop.Done, loop.Continue, loop.Error, loop.Escalate:
		return ours(decision)
	}
	return "?"
}
