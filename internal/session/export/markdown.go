package export

import (
	"strconv"
	"strings"

	"codeloops/internal/loop"
)

// Limits of a pull request's description, of which GitHub takes 64 KiB: the bytes of all
// texts, and of each.
const (
	markdownSize   = 40 << 10
	mostOfMarkdown = 4 << 10
)

// A markdown writes the description of a pull request, without the diff, which is shown beside
// it. Strings reach the file only through say and text, as code that they cannot end.
type markdown struct{ sheet }

func (m *markdown) say(said string) { m.buf.WriteString(code(said)) }

// in writes a string between texts of ours.
func (m *markdown) in(before ours, said string, behind ours) {
	m.put(before)
	m.say(said)
	m.put(behind)
}

func (m *markdown) head(h head) {
	m.in("### codeloops: ", h.Outcome, "\n\n")
	m.facts(h.Facts)
	m.in("- Session: ", h.ID, "\n\n<details><summary>Prompt</summary>\n")
	m.text(h.Prompt)
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

func (m *markdown) alone(turns []shownTurn) {
	for _, t := range turns {
		m.in("\nTurn of ", t.Role, ": ")
		m.in("", t.What, "\n")
		m.text(t.Reply)
		m.notes(t.Notes)
	}
}

func (m *markdown) iteration(r round) {
	m.put("\n<details><summary>Iteration ", ours(strconv.Itoa(r.Number)), ": ", known(r.Decision), ", ", ours(r.Stat), "</summary>\n")
	m.alone(r.Turns)
	m.in("\nActor: ", r.Actor.What, "\n")
	m.text(r.Actor.Words)
	m.notes(r.Notes)
	m.checks(r.Checks)
	m.in("\nCritic: ", r.Critic.What, "\n")
	m.text(r.Critic.Words)
	m.put("\n</details>\n")
}

func (m *markdown) checks(all []check) {
	if len(all) > 0 {
		m.put("\n")
	}
	for _, c := range all {
		came := ours(" passed\n")
		if !c.Passed {
			came = " **failed**\n"
		}
		m.in("- check ", c.Command, came)
		for _, remark := range c.Remarks {
			m.in("  - ", remark, "\n")
		}
		if !c.Passed {
			m.text(c.Output())
		}
	}
}

func (m *markdown) unfinished(u unfinished) {
	m.put("\nIteration ", ours(strconv.Itoa(u.Number)), " ", ours(u.What), "\n")
	m.alone(u.Turns)
	m.notes(u.Notes)
}

func (m *markdown) resumed(r loop.Resumed) { m.put("\n", ours(after(r)), "\n") }

func (m *markdown) end(e end) {
	m.put("\n#### Changes: ", ours(e.Stat), "\n\n")
	for _, f := range e.Named {
		m.in("- "+ours(f.Letter)+" ", f.Path, " "+ours(f.Stat)+"\n")
	}
	if e.More > 0 {
		m.put("- … ", ours(strconv.Itoa(e.More)), " more\n")
	}
	m.put("\n#### End\n\n")
	m.facts(e.Facts)
	m.notes(e.Notes)
	m.text(e.Summary)
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
