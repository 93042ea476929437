package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
)

// Span writes a duration as a person would say it, in at most two units.
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

// Count writes a number with the word for what it counts.
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

// Told is how good a figure is, for a sentence that has told it.
func Told(b loop.Basis) string {
	switch b {
	case loop.Estimated:
		return "by estimate"
	case loop.Unknown:
		return "and what the agents do not report"
	case loop.Reported, loop.NoBasis:
	}
	return "as the agents report it"
}

// Fate says how a turn ended, in a word or two.
func Fate(t loop.Turn) string { return fate(t.Ending, t.ExitCode) }

func fate(e loop.Ending, exit int) string {
	said, special := map[loop.Ending]string{
		loop.EndTimedOut:         "stopped at its time limit",
		loop.EndIdle:             "stopped: no output for too long",
		loop.EndOutputLimit:      "stopped: too much output",
		loop.EndInterrupted:      "interrupted",
		loop.EndEmpty:            "exit 0, but no answer",
		loop.EndAuth:             "not signed in",
		loop.EndRateLimited:      "rate limited",
		loop.EndOverloaded:       "the model's service is overloaded",
		loop.EndContextTooLong:   "the prompt is too long for the model",
		loop.EndPermissionDenied: "not allowed to work",
	}[e]
	switch {
	case special:
		return said
	case exit < 0:
		return "killed by a signal"
	case exit == 0 && e == loop.EndFailed: // its exit code says nothing
		return "failed"
	}
	return fmt.Sprintf("exit %d", exit)
}

// Steered says what the user has asked for, as a sentence.
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

// Excerpt returns the first lines of a text, cleaned and each cut to width
// columns, with a line that counts the rest.
func Excerpt(text string, most, width int) []string {
	all := cleanLines(text)
	if left := len(all) - most; left > 1 {
		return append(cutTo(width, all[:most]), fmt.Sprintf("… %d more lines", left))
	}
	return cutTo(width, all)
}

// Tail returns the last lines of a text, each cut to width columns, with a line that
// counts those before.
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

// went says how a turn ended, in the agent's own words where it did not end well and
// has any.
func went(t loop.Turn) string {
	what := Fate(t)
	if why := t.Complaint(); why != "" && why != fmt.Sprintf("it ended with exit code %d", t.ExitCode) {
		what += ": " + term.Line(why)
	}
	return what
}

// Cut shortens a line to width columns.
func Cut(line string, width int) string {
	return ansi.Truncate(strings.ReplaceAll(line, "\t", "    "), max(width, 20), "…")
}

// Who names an agent, with its model when one was asked for.
func Who(a loop.AgentRef) string {
	name := term.Line(a.Agent)
	if a.Model != "" {
		name += " (" + term.Line(a.Model) + ")"
	}
	return name
}

// Judges names who judges in a session, with its role: "critic claude".
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

// Decided is what the turn of a panel's member decided, behind two blanks; "" for any other turn.
func Decided(e loop.TurnFinished) string {
	switch {
	case e.Review == nil:
		return ""
	case e.Review.Problem != "":
		return "  no verdict: " + term.Line(e.Review.Problem)
	}
	return "  " + term.Line(e.Review.Verdict.Word())
}

// Poll counts the votes of a panel; "" where there was none.
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

// Templates names, a line each, the texts of the user's own in which agents are
// asked.
func Templates(s loop.Session) []string {
	lines := make([]string, len(s.Templates))
	for i, t := range s.Templates {
		lines[i] = fmt.Sprintf("%s of %s (sha256 %.12s)", term.Line(t.Key), term.Line(t.Origin), term.Line(t.SHA256))
	}
	return lines
}

// rejudged stands in the place of a turn of the actor that was not played.
const rejudged = "not asked: the work is judged as it stands"

// By names who played a turn, as an addition to its fate, where it was not the
// one who was to.
func By(expected loop.AgentRef, t loop.Turn) string {
	if t.Agent.Agent == "" || t.Agent == expected {
		return ""
	}
	return " by " + Who(t.Agent)
}

// instead is by, with what was in the way of whoever was to play.
func instead(expected loop.AgentRef, t loop.Turn) string {
	why := make([]string, 0, len(t.Misses))
	for _, m := range t.Misses {
		reason := term.Line(m.Agent.Agent)
		if m.Resumed {
			reason += " could not carry on its conversation"
		} else {
			reason += ": " + fate(m.Ending, 1)
		}
		why = append(why, reason)
	}
	if len(why) == 0 {
		return By(expected, t)
	}
	return By(expected, t) + " (" + strings.Join(why, ", ") + ")"
}

// Misses says, a line each, which tries at a turn came to nothing.
func Misses(t loop.Turn) []string {
	lines := make([]string, 0, len(t.Misses))
	for _, m := range t.Misses {
		what := "could not play this turn"
		if m.Resumed {
			what = "could not carry on its conversation"
		}
		line := fmt.Sprintf("%s %s: %s", Who(m.Agent), what, fate(m.Ending, 1))
		if m.Reason != "" {
			line += " (" + term.Line(m.Reason) + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// leftovers names, in one line, the processes that a turn has left; none where there are
// none.
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

// Failure says how a check came to fail, in a word or two.
func Failure(c loop.CheckResult) string {
	if c.Ending == loop.EndCompleted && c.ExitCode == 0 {
		return "failed, although exit 0"
	}
	return "failed, " + fate(c.Ending, c.ExitCode)
}

// Acted says how a turn of the actor went, in a few words: how long it took, how
// it ended and by whom it was played.
func Acted(expected loop.AgentRef, a loop.Attempt) string {
	if a.Rejudged {
		return rejudged
	}
	return Span(a.Duration) + "  " + went(a.Turn) + By(expected, a.Turn)
}
