package ui

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/words"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
)

// A figure is a number with the sessions behind it.
type figure struct{ Name, Value, Query string }

// A table is what sessions have in common, the most frequent first.
type table struct {
	Name  string
	Rows  []tally
	Plain bool // without how many were done, and their cost
}

type tally struct {
	Name, Query, Share, Cost string
	Sessions                 int
}

// A day is a bar of the chart.
type day struct {
	X, Good, Other, Top int // in units of the drawing
	Query, Says         string
}

type statsPage struct {
	Query   string
	Older   int
	Figures []figure
	Days    []day
	Width   int
	First   string
	Last    string
	Tables  []table
}

// The drawing of the days.
const (
	mostDays = 60
	barWidth = 12
	tallest  = 100
)

// stats sums up the sessions that an address asks for.
func (s *Server) stats(w http.ResponseWriter, q *http.Request) {
	all, _, err := s.home.look(q.Context())
	if err != nil {
		s.refuse(w, http.StatusInternalServerError, s.clean(err.Error()))
		return
	}
	query := q.FormValue("q")
	picked := slices.DeleteFunc(slices.Clone(all), func(o session.Overview) bool { return o.Err != nil || !s.home.row(o).has(query) })
	sums := sessionview.NewStats(picked)
	p := statsPage{Query: query, Older: s.home.unread(), Figures: figures(sums)}
	p.days(picked, s.Now())
	p.Tables = []table{
		{Name: "Projects", Rows: s.tallies(sums.Projects, func(name string) (string, string) { base := filepath.Base(name); return base, base })},
		{Name: "Agents", Rows: s.tallies(sums.Agents, func(name string) (string, string) {
			actor, critic, _ := strings.Cut(name, " + ")
			return actor + " → " + critic, actor + " " + critic
		})},
		{Name: "Outcomes", Rows: s.tallies(sums.Outcomes, func(name string) (string, string) { word := words.Outcome(name); return word, word })},
		{Name: fmt.Sprintf("Most frequent findings, of the last %d sessions", min(len(picked), mostRead)), Rows: s.frequent(picked), Plain: true},
	}
	s.show(w, "stats", p)
}

func percent(share *float64) string {
	if share == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", *share*100)
}

func figures(s sessionview.Stats) []figure {
	span := func(seconds float64) string { return render.Span(time.Duration(seconds * float64(time.Second))) }
	all := []figure{
		{"sessions", strconv.Itoa(s.Sessions), ""},
		{"done", percent(s.SuccessRate), words.Outcome(string(loop.Success))},
		{"done at the first try", percent(s.FirstTry), words.Outcome(string(loop.Success))},
		{"rejections answered by the next iteration", percent(s.Answered), ""},
		{"iterations, median", fmt.Sprintf("%.3g", s.Iterations.Median), ""},
		{"duration, median", span(s.Duration.Median), ""},
		{"waited for services", span(s.Waiting.Seconds), ""},
		{"spent on what was not done", span(s.Waste.Seconds), ""},
	}
	if s.Cost.Sessions > 0 {
		all = append(all, figure{"cost", fmt.Sprintf("$%.2f", s.Cost.USD), ""}, figure{"cost of each that is done", fmt.Sprintf("$%.2f", s.Cost.PerDone), ""})
	}
	return all
}

// tallies are the rows of a table. named returns how a group is shown, and the words that find its sessions.
func (s *Server) tallies(groups []sessionview.Group, named func(string) (name, query string)) (rows []tally) {
	for _, g := range groups[:min(len(groups), 20)] {
		name, query := named(g.Name)
		row := tally{Name: s.clean(name), Query: s.clean(query), Sessions: g.Sessions, Share: percent(g.SuccessRate)}
		if g.CostUSD != nil {
			row.Cost = fmt.Sprintf("$%.2f", *g.CostUSD)
		}
		rows = append(rows, row)
	}
	return rows
}

// days draws how many sessions there were on each of the last days, and how many of them were done.
func (p *statsPage) days(all []session.Overview, now time.Time) {
	const format = "2006-01-02"
	sum, good, highest := map[string]int{}, map[string]int{}, 1
	for _, o := range all {
		on := o.Started.UTC().Format(format) // as in their ids
		sum[on]++
		highest = max(highest, sum[on])
		if o.Status == session.Status(loop.Success) {
			good[on]++
		}
	}
	begin := now.UTC().AddDate(0, 0, 1-mostDays)
	p.First, p.Last, p.Width = begin.Format(format), now.UTC().Format(format), mostDays*barWidth
	for n := range mostDays {
		on := begin.AddDate(0, 0, n).Format(format)
		if sum[on] == 0 {
			continue
		}
		d := day{X: n * barWidth, Good: good[on] * tallest / highest, Query: url.QueryEscape(on), Says: fmt.Sprintf("%s: %d of %d done", on, good[on], sum[on])}
		d.Other = max(1, sum[on]*tallest/highest) - d.Good
		d.Top = tallest - d.Good - d.Other
		p.Days = append(p.Days, d)
	}
}
