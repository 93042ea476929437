package render

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
	"codeloops/internal/session/standing"
)

// Span writes a duration in at most two units.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Count writes a number and the word for what it counts.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Stat writes the size of a change in a few words.
func Stat(s loop.Shape) string {
	if s.Files == 0 {
		return "no changes"
	}
	return fmt.Sprintf("%s, +%d -%d", Count(s.Files, "file", "files"), s.Insertions, s.Deletions)
}

// BasisNote says how reliable a figure is, at the end of the sentence that gives it.
func BasisNote(b loop.Basis) string {
	switch b {
	case loop.Estimated:
		return "by estimate"
	case loop.Unknown:
		return "and what the agents do not report"
	case loop.Reported, loop.NoBasis:
	}
	return "as the agents report it"
}

// Ending says how a turn ended, in a word or two.
func Ending(t loop.Turn) string { return endingName(t.Ending, t.ExitCode) }

func endingName(e loop.Ending, exit int) string {
	said, special := map[loop.Ending]string{
		loop.EndTimedOut:         "stopped at its time limit",
		loop.EndIdle:             "stopped: no output for too long",
		loop.EndSpinning:         "stopped: asking its model without end",
		loop.EndOutputLimit:      "stopped: too much output",
		loop.EndInterrupted:      "interrupted",
		loop.EndEmpty:            "exit 0, but no answer",
		loop.EndAuth:             "not signed in",
		loop.EndRateLimited:      "rate limited",
		loop.EndOutOfCredit:      "out of credit",
		loop.EndOverloaded:       "the model's service is overloaded",
		loop.EndContextTooLong:   "the prompt is too long for the model",
		loop.EndPermissionDenied: "not allowed to work",
	}[e]
	switch {
	case special:
		return said
	case exit < 0:
		return "killed by a signal"
	case exit == 0 && e == loop.EndFailed: // the exit code does not show it
		return "failed"
	}
	return fmt.Sprintf("exit %d", exit)
}

// Steered says in a sentence what the user asked for.
func Steered(e loop.Steered) string {
	switch e.Kind {
	case loop.SteerStop:
		return "the run stops here, as you asked"
	case loop.SteerPause:
		return "paused: no turn begins until you let the run go on"
	case loop.SteerGoOn:
		return "the run goes on"
	case loop.SteerSay:
		return "you tell the actor: " + term.Line(e.Text)
	case loop.SteerInterrupt:
		if e.Text == "" {
			return "you have interrupted the turn"
		}
		return "you have interrupted the turn, and tell the actor: " + term.Line(e.Text)
	}
	return term.Line(string(e.Kind) + " " + e.Text)
}

// Excerpt returns the first lines of a text, cleaned, cut to width columns, and followed by a count
// of the rest.
func Excerpt(text string, most, width int) []string {
	all := cleanLines(text)
	if left := len(all) - most; left > 1 {
		return append(cutTo(width, all[:most]), fmt.Sprintf("… %d more lines", left))
	}
	return cutTo(width, all)
}

// Paragraphs is Excerpt with lines that are wrapped instead of cut. Lines that are not shown are counted as they are in the
// text: to wrap a megabyte takes long.
func Paragraphs(text string, most, width int) (lines []string) {
	all := cleanLines(text)
	for i, line := range all {
		if left := len(lines) - most; left > 1 {
			return append(lines[:most:most], fmt.Sprintf("… %d more lines", left+len(all)-i))
		}
		line = strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), " ")
		lines = append(lines, wrapped(line, len(hanging().FindString(line)), max(width, 20))...)
	}
	if left := len(lines) - most; left > 1 {
		return append(lines[:most:most], fmt.Sprintf("… %d more lines", left))
	}
	return lines
}

// Tail returns the last lines of a text, cut to width columns, and preceded by a count of the
// others.
func Tail(text string, most, width int) []string {
	all := cleanLines(text)
	if left := len(all) - most; left > 1 {
		return append([]string{fmt.Sprintf("… %d lines before", left)}, cutTo(width, all[left:])...)
	}
	return cutTo(width, all)
}

func cleanLines(text string) []string {
	if text = strings.TrimSpace(term.Clean(text)); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func cutTo(width int, lines []string) []string {
	for i, line := range lines {
		lines[i] = Cut(strings.TrimRight(line, " \t"), width)
	}
	return lines
}

// endingOf says how a turn ended; if not well, in the agent's own words where there are any.
func endingOf(t loop.Turn) string {
	what := Ending(t)
	if why := t.Complaint(); why != "" && why != fmt.Sprintf("it ended with exit code %d", t.ExitCode) {
		what += ": " + term.Line(why)
	}
	return what
}

// Cut shortens a line to width columns.
func Cut(line string, width int) string {
	return ansi.Truncate(strings.ReplaceAll(line, "\t", "    "), max(width, 20), "…")
}

// Who names an agent, and its model if one was set.
func Who(a loop.AgentRef) string {
	name := term.Line(a.Agent)
	if a.Model != "" {
		name += " (" + term.Line(a.Model) + ")"
	}
	return name
}

// Judges names who judges in a session, and the role: "critic claude".
func Judges(critic loop.AgentRef, p *loop.PanelPolicy) (role, who string) {
	if p == nil {
		return "critic", Who(critic)
	}
	var names []string
	for _, m := range p.Members {
		names = append(names, Who(m))
	}
	return "panel", fmt.Sprintf("%s (%d of %d)", strings.Join(names, ", "), p.Quorum, len(p.Members))
}

// Decided says what a panel member decided in its turn, after two spaces; "" for any other turn.
func Decided(e loop.TurnFinished) string {
	switch {
	case e.Review == nil:
		return ""
	case e.Review.Problem != "":
		return "  no verdict: " + term.Line(e.Review.Problem)
	}
	return "  " + term.Line(e.Review.Verdict.Word())
}

// Poll counts the votes of a panel; "" if there are none.
func Poll(votes []loop.Vote) string {
	n := 0
	for _, v := range votes {
		if v.Decision == loop.Done {
			n++
		}
	}
	if len(votes) == 0 {
		return ""
	}
	return fmt.Sprintf("  %d of %d say DONE", n, len(votes))
}

// Task is what a session is to do, on one line.
func Task(s loop.Session) string { return term.Line(standing.Title(s.Prompt)) }

// dirty says that there are changes of the user's own.
func (p *page) dirty(s loop.Session) {
	if s.Dirty > 0 {
		said := fmt.Sprintf("you have changes of your own here (%s); codeloops diff, accept and undo leave them alone", Count(s.Dirty, "file", "files"))
		p.sayf("%s", strings.Join(wrapped(said, 2, p.Width), "\n"))
	}
}

// Checks lists the check commands of a session; "" if there are none, or the log does not say.
func Checks(s loop.Session) string {
	i := slices.IndexFunc(s.Rules, func(r loop.Rule) bool { return r.Key == "checks" })
	if i < 0 {
		return ""
	}
	return term.Line(strings.Join(s.Rules[i].Values, ", "))
}

// Templates lists the user's own prompt templates, one line each.
func Templates(s loop.Session) []string {
	lines := make([]string, len(s.Templates))
	for i, t := range s.Templates {
		lines[i] = fmt.Sprintf("%s of %s (sha256 %.12s)", term.Line(t.Key), term.Line(t.Origin), term.Line(t.SHA256))
	}
	return lines
}

// rejudged replaces a turn of the actor that was not needed.
const rejudged = "not asked: the work is judged as it stands"

// PlayedBy names who played a turn, if it was not the expected agent, as an addition to Ending.
func PlayedBy(expected loop.AgentRef, t loop.Turn) string {
	if t.Agent.Agent == "" || t.Agent == expected {
		return ""
	}
	return " by " + Who(t.Agent)
}

// byInstead is PlayedBy with the reasons why the expected agent did not play.
func byInstead(expected loop.AgentRef, t loop.Turn) string {
	why := make([]string, 0, len(t.Misses))
	for _, m := range t.Misses {
		reason := term.Line(m.Agent.Agent)
		if m.Resumed {
			reason += " could not carry on its conversation"
		} else {
			reason += ": " + endingName(m.Ending, 1)
		}
		why = append(why, reason)
	}
	if len(why) == 0 {
		return PlayedBy(expected, t)
	}
	return PlayedBy(expected, t) + " (" + strings.Join(why, ", ") + ")"
}

// FailedTries lists the failed tries at a turn, one line each.
func FailedTries(t loop.Turn) []string {
	lines := make([]string, 0, len(t.Misses))
	for _, m := range t.Misses {
		what := "could not play this turn"
		if m.Resumed {
			what = "could not carry on its conversation"
		}
		line := fmt.Sprintf("%s %s: %s", Who(m.Agent), what, endingName(m.Ending, 1))
		if m.Reason != "" {
			line += " (" + term.Line(m.Reason) + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// leftovers names, on one line, the processes that a turn left running.
func leftovers(ps []loop.Process) []string {
	if len(ps) == 0 {
		return nil
	}
	names := make([]string, 0, len(ps))
	for _, p := range ps {
		names = append(names, Cut(term.Line(p.Command), 60))
	}
	return []string{fmt.Sprintf("ended %s that it left running: %s",
		Count(len(ps), "process", "processes"), strings.Join(names, "; "))}
}

// Failures says in one line which of a turn's commands failed, and what was not allowed.
func Failures(e loop.Execution) []string {
	all := e.Failures
	if e.Futile && len(all) == 0 {
		return []string{"everything that it tried failed"}
	}
	if len(all) == 0 {
		return nil
	}
	const most = 4
	var parts []string
	for _, f := range all[:min(most, len(all))] {
		parts = append(parts, Cut(term.Line(f.String()), 80))
	}
	text := "failed: " + strings.Join(parts, "; ")
	if e.Futile {
		text = "everything that it tried " + text
	}
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	if e.Futile && e.Denied() != "" {
		text += loop.AllowIt
	}
	return []string{text}
}

// Failure says in a word or two how a check failed.
func Failure(c loop.CheckResult) string {
	if c.Ending == loop.EndCompleted && c.ExitCode == 0 {
		return "failed, although exit 0"
	}
	return "failed, " + endingName(c.Ending, c.ExitCode)
}

// ActorSummary says how a turn of the actor went: how long it took, how it ended, who played it.
func ActorSummary(expected loop.AgentRef, a loop.Attempt) string {
	if a.Rejudged {
		return rejudged
	}
	return Span(a.Duration) + "  " + endingOf(a.Turn) + PlayedBy(expected, a.Turn)
}

// Quoted returns a path as git prints it: one with special characters as a C string. Letters of any
// language are not special.
func Quoted(path string) string {
	odd := func(r rune) bool { return r == '"' || r == '\\' || r == utf8.RuneError || !unicode.IsPrint(r) }
	if !strings.ContainsFunc(path, odd) {
		return path
	}
	var b strings.Builder
	for len(path) > 0 {
		r, n := utf8.DecodeRuneInString(path)
		switch at := strings.IndexRune("\"\\\n\t\r", r); {
		case at >= 0:
			b.WriteString(`\` + `"\ntr`[at:at+1])
		case odd(r):
			for i := range n {
				fmt.Fprintf(&b, `\%03o`, path[i])
			}
		default:
			b.WriteString(path[:n])
		}
		path = path[n:]
	}
	return `"` + b.String() + `"`
}
