package sessionview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/screen/words"
)

// Charts shows stats to a person. With bars, it draws bars for the groups and a sparkline for the
// periods; without, or in ASCII, it writes numbers only.
func Charts(st Stats, s Screen, bars bool) string {
	c := &charts{screen: s, bars: bars && !s.ASCII, priced: st.Cost.Sessions > 0}
	c.totals(st)
	c.groups("Outcome", inWords(st.Outcomes, func(g Group) string { return words.Outcome(g.Name) }), true)
	c.groups("Why they ended", inWords(st.StopReasons, func(g Group) string {
		return words.End(loop.Outcome{Reason: loop.StopReason(g.Name), Cause: g.Cause})
	}), true)
	c.groups("Project", st.Projects, false)
	c.groups("Actor + critic", st.Agents, false)
	c.periods(st)
	c.confidence(st.Confidence)
	return s.own(c.b.String())
}

// inWords renames groups for people.
func inWords(groups []Group, name func(Group) string) []Group {
	groups = slices.Clone(groups)
	for i, g := range groups {
		groups[i].Name = name(g)
	}
	return groups
}

type charts struct {
	b      strings.Builder
	screen Screen
	bars   bool
	priced bool // the cost of some session is known
}

func (c *charts) sayf(format string, args ...any) { fmt.Fprintf(&c.b, format+"\n", args...) }

func (c *charts) heading(text string) { c.sayf("\n%s", c.screen.strong(text)) }

func (c *charts) totals(st Stats) {
	c.sayf("%s, %d of them ended; success %s", render.Count(st.Sessions, "session", "sessions"), st.Ended, percent(st.SuccessRate))
	if st.Ended == 0 {
		return
	}
	secs := func(s float64) string { return render.Span(seconds(s)) }
	c.sayf("iterations  mean %.1f, median %.1f, p90 %.0f", st.Iterations.Mean, st.Iterations.Median, st.Iterations.P90)
	c.sayf("duration    mean %s, median %s, p90 %s", secs(st.Duration.Mean), secs(st.Duration.Median), secs(st.Duration.P90))
	if w := st.Waiting; w.Sessions > 0 {
		c.sayf("working     mean %s, median %s, p90 %s", secs(st.Working.Mean), secs(st.Working.Median), secs(st.Working.P90))
		c.sayf("waiting     %s for services, in %s", secs(w.Seconds), render.Count(w.Sessions, "session", "sessions"))
	}
	c.cost(st)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (c *charts) cost(st Stats) {
	if st.Cost.Sessions == 0 {
		if st.Cost.Tokens > 0 {
			c.sayf("tokens      %s", render.Tokens(st.Cost.Tokens))
		}
		return
	}
	sum := render.Dollars(st.Cost.USD)
	if st.Cost.Partly > 0 || st.Cost.Sessions < st.Sessions {
		sum = "≥" + sum
	}
	line := fmt.Sprintf("cost        %s, %s tokens", sum, render.Tokens(st.Cost.Tokens))
	if st.Cost.PerDone > 0 {
		line += ", " + render.Dollars(st.Cost.PerDone) + " for each success"
	}
	if st.Cost.Sessions < st.Sessions {
		line += "; known of " + render.Count(st.Cost.Sessions, "session", "sessions")
	}
	c.sayf("%s", line)
}

func orUnknown(usd *float64) string {
	if usd == nil {
		return "-"
	}
	return render.Dollars(*usd)
}

func percent(rate *float64) string {
	if rate == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", *rate*100)
}

const (
	mostGroups  = 12
	widestGroup = 40
	leastGroup  = 8
	widestBar   = 30
	besideWords = 20 // columns beside a name in words, without the bar
)

// groups shows how many sessions each group has. Names in words get no success rate: they say it
// themselves.
func (c *charts) groups(heading string, groups []Group, inWords bool) {
	if len(groups) == 0 {
		return
	}
	c.heading(heading)
	rest := 0
	if len(groups) > mostGroups+1 {
		for _, g := range groups[mostGroups:] {
			rest += g.Sessions
		}
		groups = groups[:mostGroups]
	}
	room := min(widestGroup, max(leastGroup, c.screen.Width/3))
	if inWords {
		room = max(leastGroup, c.screen.Width-besideWords)
	}
	width := 0
	for _, g := range groups {
		width = max(width, min(room, ansi.StringWidth(term.Line(g.Name))))
	}
	for _, g := range groups {
		cut := leftCut
		if inWords {
			cut = term.Fit
		}
		name := cut(term.Line(g.Name), width)
		line := fmt.Sprintf("  %s%s  %5d", name, strings.Repeat(" ", max(0, width-ansi.StringWidth(name))), g.Sessions)
		if !inWords {
			line = c.beside(line, fmt.Sprintf("  %4s success", percent(g.SuccessRate)))
		}
		if c.priced {
			line = c.beside(line, fmt.Sprintf("  %8s", orUnknown(g.CostUSD)))
		}
		c.sayf("%s", strings.TrimRight(line+"  "+c.bar(g, groups[0].Sessions, ansi.StringWidth(line)), " "))
	}
	if rest > 0 {
		c.sayf("  and %s in others", render.Count(rest, "session", "sessions"))
	}
}

// beside adds a cell to a line if there is room.
func (c *charts) beside(line, cell string) string {
	if ansi.StringWidth(line+cell) > c.screen.Width {
		return line
	}
	return line + cell
}

// leftCut cuts the beginning of a path, as its end tells more.
func leftCut(path string, width int) string {
	if over := ansi.StringWidth(path) - width; over > 0 {
		return ansi.TruncateLeft(path, over+1, "…")
	}
	return path
}

// bar draws the size of a group relative to the largest, its successes in their colour.
func (c *charts) bar(g Group, most, used int) string {
	room := min(widestBar, c.screen.Width-used-3)
	if !c.bars || room < 4 || g.Sessions == 0 {
		return ""
	}
	length := max(1, g.Sessions*room/most)
	done := g.successes * length / g.Sessions
	return c.screen.inColourOf(string(loop.Success), strings.Repeat("█", done)) +
		c.screen.faint(strings.Repeat("█", length-done))
}

func (c *charts) periods(st Stats) {
	if len(st.Periods) < 2 {
		return
	}
	first, last := st.Periods[0], st.Periods[len(st.Periods)-1]
	c.heading("Sessions for each " + periodName(st.PeriodDays) + " from " + first.Begin + " to " + last.Begin)
	if c.bars {
		most := 0
		for _, p := range st.Periods {
			most = max(most, p.Sessions)
		}
		c.sayf("  sessions  %s  at most %d", spark(st.Periods, most, func(p Period) int { return p.Sessions }), most)
		c.sayf("  success   %s", c.screen.inColourOf(string(loop.Success),
			spark(st.Periods, most, func(p Period) int { return p.Successes })))
		return
	}
	for _, p := range st.Periods {
		line := fmt.Sprintf("  %s  %5d  %5d success", p.Begin, p.Sessions, p.Successes)
		if c.priced {
			line += fmt.Sprintf("  %8s", orUnknown(p.CostUSD))
		}
		c.sayf("%s", line)
	}
}

func periodName(days int) string {
	switch days {
	case 1:
		return "day"
	case 7:
		return "week"
	}
	return fmt.Sprintf("%d days", days)
}

func spark(periods []Period, most int, count func(Period) int) string {
	signs := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, p := range periods {
		n := count(p)
		if n == 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune(signs[(n*len(signs)-1)/most])
	}
	return b.String()
}

func (c *charts) confidence(rows []ConfidenceOf) {
	total := 0
	for _, r := range rows {
		total += r.Successes
	}
	if total == 0 {
		return
	}
	c.heading("Confidence against what came after")
	again := "same prompt run again, in the same directory"
	if c.screen.Width < 75 {
		again = "same prompt run again there"
	}
	c.sayf("  %-14s  %9s  %s", "confidence", "successes", again)
	for _, r := range rows {
		if r.Successes == 0 {
			continue
		}
		rate := float64(r.Followed) / float64(r.Successes)
		c.sayf("  %-14s  %9d  %d (%s)", r.Band, r.Successes, r.Followed, percent(&rate))
	}
}
