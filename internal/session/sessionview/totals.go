package sessionview

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
)

// Totals shows stats to a person.
func Totals(st Stats, s Screen) string {
	var b strings.Builder
	for _, line := range whole(st) {
		fmt.Fprintln(&b, s.own(line))
	}
	plain := func(g Group) string { return g.Name }
	for _, part := range []struct {
		heading string
		groups  []Group
		name    func(Group) string
	}{
		{"OUTCOME", st.Outcomes, func(g Group) string { return words.Outcome(g.Name) }},
		{"WHY THEY ENDED", st.StopReasons, func(g Group) string { return words.End(loop.Outcome{Reason: loop.StopReason(g.Name), Cause: g.Cause}) }},
		{"PROJECT", st.Projects, plain},
		{"ACTOR + CRITIC", st.Agents, plain},
	} {
		if len(part.groups) == 0 {
			continue
		}
		t := term.Table{
			Rows: [][]string{{"SESSIONS", "SUCCESS", "COST", part.heading}}, Right: []int{0, 1, 2}, Drop: []int{1, 2}, Least: leastPrompt, Sparse: true, ASCII: s.ASCII,
			Style: func(row, _ int, cell string) string {
				if row == 0 {
					return s.Faint(cell)
				}
				return cell
			},
		}
		for _, g := range part.groups {
			cost := "-"
			if g.CostUSD != nil {
				cost = render.Dollars(*g.CostUSD)
			}
			t.Rows = append(t.Rows, []string{strconv.Itoa(g.Sessions), percent(g.SuccessRate), cost, term.Line(part.name(g))})
		}
		fmt.Fprintf(&b, "\n%s\n", strings.Join(t.Lines(s.Width), "\n"))
	}
	return b.String()
}

// whole sums up all sessions.
func whole(st Stats) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("%s, %d of them ended; success %s", render.Count(st.Sessions, "session", "sessions"), st.Ended, percent(st.SuccessRate))
	if st.Ended == 0 {
		return lines
	}
	secs := func(s float64) string { return render.Span(time.Duration(s * float64(time.Second))) }
	add("first try   %s of them a success after one iteration", percent(st.FirstTry))
	add("approval    %s of all iterations, %s after a rejection", percent(st.Approval), percent(st.Answered))
	add("iterations  mean %.1f, median %.1f, p90 %.0f", st.Iterations.Mean, st.Iterations.Median, st.Iterations.P90)
	add("duration    mean %s, median %s, p90 %s", secs(st.Duration.Mean), secs(st.Duration.Median), secs(st.Duration.P90))
	if w := st.Waiting; w.Sessions > 0 {
		add("waiting     %s for services, in %s", secs(w.Seconds), render.Count(w.Sessions, "session", "sessions"))
	}
	if text := costOf(st); text != "" {
		add("cost        %s", text)
	}
	if w := st.Waste; w.Sessions > 0 {
		cost := ""
		if w.CostUSD != nil {
			cost = ", " + render.Dollars(*w.CostUSD)
		}
		add("waste       %s%s, in %s without success", secs(w.Seconds), cost, render.Count(w.Sessions, "session", "sessions"))
	}
	return lines
}

// costOf says what all sessions have cost, "" if no agent has reported anything.
func costOf(st Stats) string {
	tokens := render.Tokens(st.Cost.Tokens) + " tokens"
	switch {
	case st.Cost.Sessions == 0 && st.Cost.Tokens == 0:
		return ""
	case st.Cost.Sessions == 0:
		return tokens
	}
	text := render.Dollars(st.Cost.USD) + ", " + tokens
	if st.Cost.Partly > 0 || st.Cost.Sessions < st.Sessions {
		text = "≥" + text
	}
	if st.Cost.PerDone > 0 {
		text += ", " + render.Dollars(st.Cost.PerDone) + " for each success"
	}
	return text
}

func percent(rate *float64) string {
	if rate == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", *rate*100)
}
