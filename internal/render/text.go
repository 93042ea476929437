package render

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/term"
)

// span writes a duration as a person would say it, in at most two units.
func span(d time.Duration) string {
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

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func stat(c loop.Change) string {
	if c.Empty() {
		return "no changes"
	}
	return fmt.Sprintf("%s, +%d -%d", count(c.Shape().Files, "file", "files"), c.Insertions, c.Deletions)
}

// cost is what the turns have cost, and how good the figure is.
func cost(s loop.Spent) string { return fmt.Sprintf("$%.2f, %s", s.CostUSD, told(s.CostBasis)) }

func told(b loop.Basis) string {
	switch b {
	case loop.Estimated:
		return "by estimate"
	case loop.Unknown:
		return "and what the agents do not report"
	case loop.Reported, loop.NoBasis:
	}
	return "as the agents report it"
}

// fate says how a turn ended, in a word or two.
func fate(t loop.Turn) string {
	switch t.Ending {
	case loop.EndTimedOut:
		return "stopped at its time limit"
	case loop.EndIdle:
		return "stopped: no output for too long"
	case loop.EndOutputLimit:
		return "stopped: too much output"
	case loop.EndInterrupted:
		return "interrupted"
	case loop.EndEmpty:
		return "exit 0, but no answer"
	case loop.EndAuth:
		return "not signed in"
	case loop.EndRateLimited:
		return "rate limited"
	case loop.EndOverloaded:
		return "the model's service is overloaded"
	case loop.EndContextTooLong:
		return "the prompt is too long for the model"
	case loop.EndPermissionDenied:
		return "not allowed to work"
	case loop.EndCompleted, loop.EndFailed:
	}
	switch {
	case t.ExitCode < 0:
		return "killed by a signal"
	case t.ExitCode == 0 && t.Ending == loop.EndFailed: // its exit code says nothing
		return "failed"
	}
	return fmt.Sprintf("exit %d", t.ExitCode)
}

// excerpt returns the first lines of a text, each cut to width columns, with a
// line that counts the rest.
func excerpt(text string, most, width int) []string {
	all := strings.Split(strings.TrimSpace(term.Clean(text)), "\n")
	if len(all) == 1 && all[0] == "" {
		return nil
	}
	var lines []string
	for i, line := range all {
		if i == most && len(all) > most+1 {
			return append(lines, fmt.Sprintf("… %d more lines", len(all)-most))
		}
		lines = append(lines, cut(strings.TrimRight(line, " \t"), width))
	}
	return lines
}

// tail returns the last lines of a text, where tools say what it comes to, each cut
// to width columns, with a line that counts those before.
func tail(text string, most, width int) []string {
	all := strings.Split(strings.TrimSpace(term.Clean(text)), "\n")
	if len(all) == 1 && all[0] == "" {
		return nil
	}
	var lines []string
	if left := len(all) - most; left > 1 {
		lines, all = append(lines, fmt.Sprintf("… %d lines before", left)), all[left:]
	}
	for _, line := range all {
		lines = append(lines, cut(strings.TrimRight(line, " \t"), width))
	}
	return lines
}

// went says how a turn ended, in the agent's own words where it did not end well and
// has any.
func went(t loop.Turn) string {
	what := fate(t)
	if why := t.Complaint(); why != "" && why != fmt.Sprintf("it ended with exit code %d", t.ExitCode) {
		what += ": " + term.Line(why)
	}
	return what
}

// cut shortens a line to width columns.
func cut(line string, width int) string {
	return ansi.Truncate(strings.ReplaceAll(line, "\t", "    "), max(width, 20), "…")
}

func who(a loop.AgentRef) string {
	name := term.Line(a.Agent)
	if a.Model != "" {
		name += " (" + term.Line(a.Model) + ")"
	}
	return name
}

// templates names the texts of the user's own in which agents are asked, and
// what tells one from another.
func templates(s loop.Session) []string {
	lines := make([]string, len(s.Templates))
	for i, t := range s.Templates {
		lines[i] = fmt.Sprintf("%s of %s (sha256 %.12s)", term.Line(t.Key), term.Line(t.Origin), term.Line(t.SHA256))
	}
	return lines
}

// rejudged stands in the place of a turn of the actor that was not played.
const rejudged = "not asked: its last work is judged again"

// by names who played a turn, where it was not the one who was to.
func by(expected loop.AgentRef, t loop.Turn) string {
	if t.Agent.Agent == "" || t.Agent == expected {
		return ""
	}
	return " by " + who(t.Agent)
}

// instead is by, with what was in the way of whoever was to play.
func instead(expected loop.AgentRef, t loop.Turn) string {
	why := make([]string, 0, len(t.Misses))
	for _, m := range t.Misses {
		reason := term.Line(m.Agent.Agent)
		if m.Resumed {
			reason += " could not carry on its conversation"
		} else {
			reason += ": " + fate(loop.Turn{Ending: m.Ending, ExitCode: 1})
		}
		why = append(why, reason)
	}
	if len(why) == 0 {
		return by(expected, t)
	}
	return by(expected, t) + " (" + strings.Join(why, ", ") + ")"
}

// misses says, a line each, which tries at a turn came to nothing.
func misses(t loop.Turn) []string {
	lines := make([]string, 0, len(t.Misses))
	for _, m := range t.Misses {
		what := "could not play this turn"
		if m.Resumed {
			what = "could not carry on its conversation"
		}
		line := fmt.Sprintf("%s %s: %s", who(m.Agent), what, fate(loop.Turn{Ending: m.Ending, ExitCode: 1}))
		if m.Reason != "" {
			line += " (" + term.Line(m.Reason) + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func leftovers(ps []loop.Process) string {
	names := make([]string, 0, len(ps))
	for _, p := range ps {
		names = append(names, cut(term.Line(p.Command), 60))
	}
	return fmt.Sprintf("ended %s that it left running: %s",
		count(len(ps), "process", "processes"), strings.Join(names, "; "))
}
