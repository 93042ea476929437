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

// Totals shows stats to a person.
func Totals(st Stats, s Screen) string {
	c := &totals{screen: s, priced: st.Cost.Sessions > 0}
	c.whole(st)
	c.groups("Outcome", inWords(st.Outcomes, func(g Group) string { return words.Outcome(g.Name) }), true)
	c.groups("Why they ended", inWords(st.StopReasons, func(g Group) string {
		return words.End(loop.Outcome{Reason: loop.StopReason(g.Name), Cause: g.Cause})
	}), true)
	c.groups("Project", st.Projects, false)
	c.groups("Actor + critic", st.Agents, false)
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

type totals struct {
	b      strings.Builder
	screen Screen
	priced bool // the cost of some session is known
}

func (c *totals) sayf(format string, args ...any) { fmt.Fprintf(&c.b, format+"\n", args...) }

func (c *totals) heading(text string) { c.sayf("\n%s", c.screen.strong(text)) }

func (c *totals) whole(st Stats) {
	c.sayf("%s, %d of them ended; success %s", render.Count(st.Sessions, "session", "sessions"), st.Ended, percent(st.SuccessRate))
	if st.Ended == 0 {
		return
	}
	secs := func(s float64) string { return render.Span(seconds(s)) }
	c.sayf("first try   %s of them a success after one iteration", percent(st.FirstTry))
	c.sayf("approval    %s of all iterations, %s after a rejection", percent(st.Approval), percent(st.Answered))
	c.sayf("iterations  mean %.1f, median %.1f, p90 %.0f", st.Iterations.Mean, st.Iterations.Median, st.Iterations.P90)
	c.sayf("duration    mean %s, median %s, p90 %s", secs(st.Duration.Mean), secs(st.Duration.Median), secs(st.Duration.P90))
	if w := st.Waiting; w.Sessions > 0 {
		c.sayf("working     mean %s, median %s, p90 %s", secs(st.Working.Mean), secs(st.Working.Median), secs(st.Working.P90))
		c.sayf("waiting     %s for services, in %s", secs(w.Seconds), render.Count(w.Sessions, "session", "sessions"))
	}
	c.cost(st)
	c.waste(st.Waste)
}

func (c *totals) waste(w Waste) {
	if w.Sessions == 0 {
		return
	}
	cost := ""
	if w.CostUSD != nil {
		cost = ", " + render.Dollars(*w.CostUSD)
	}
	c.sayf("waste       %s%s, in %s without success", render.Span(seconds(w.Seconds)), cost, render.Count(w.Sessions, "session", "sessions"))
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (c *totals) cost(st Stats) {
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
	besideWords = 20 // columns beside a name in words
)

// groups shows how many sessions each group has. Names in words get no success rate: they say it
// themselves.
func (c *totals) groups(heading string, groups []Group, inWords bool) {
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
		c.sayf("%s", line)
	}
	if rest > 0 {
		c.sayf("  and %s in others", render.Count(rest, "session", "sessions"))
	}
}

// beside adds a cell to a line if there is room.
func (c *totals) beside(line, cell string) string {
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
