package eval

import (
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Table is a part of a report, for people.
type Table struct {
	Title string
	Note  string // above the rows; "" is none
	Head  []string
	Rows  [][]string
	Works map[string]string // what the names in front of rows stand for; only a page has it
}

// Tables returns the report for people.
func (r Report) Tables() []Table {
	known := Table{Title: "What is known", Note: fmt.Sprintf("%d cases: %d good, %d bad, %d of which nothing is known.", r.Cases, r.Good, r.Bad, r.Unknown), Head: []string{"source", "cases"}}
	if r.Contested > 0 {
		known.Note += fmt.Sprintf(" On %d of them the sources contradict each other; they count as bad.", r.Contested)
	}
	for _, s := range Sources() {
		if n, said := r.Sources[s]; said {
			known.Rows = append(known.Rows, []string{s, strconv.Itoa(n)})
		}
	}
	critics := Table{Title: "Critics", Note: r.Few(), Head: []string{"critic", "judged", "misses", "false alarms", "agreement", "cost/case", "s/case", "cost/caught", "s/caught"}}
	for _, k := range r.Critics {
		judged := strconv.Itoa(k.Judged)
		if k.None > 0 {
			judged += fmt.Sprintf(", %d unusable", k.None)
		}
		critics.Rows = append(critics.Rows, []string{
			k.Name, judged, k.Misses.String(), k.FalseAlarms.String(), k.Agreement.String(),
			Dollars(k.PerCase), seconds(&k.SecsEach), Dollars(k.PerCaught), seconds(k.SecsCatch),
		})
	}
	rounds := Table{Title: "Rounds, as recorded", Head: []string{"round", "judged", "rejected", "found something real", "unknown"}}
	for _, n := range r.Rounds {
		rounds.Rows = append(rounds.Rows, []string{strconv.Itoa(n.N), strconv.Itoa(n.Judged), strconv.Itoa(n.Rejected), n.Real.String(), strconv.Itoa(n.Unknown)})
	}
	cheap := Table{Title: "The cheapest that would have caught the same"}
	switch c := r.Cheapest; {
	case c == nil:
		cheap.Note = "It cannot be said: nothing was caught, or no cost is known."
	case c.Name == c.Like:
		cheap.Note = fmt.Sprintf("%s, at %s a case: no cheaper one caught the same %d.", c.Name, Dollars(&c.PerCase), c.Caught)
	default:
		cheap.Note = fmt.Sprintf("%s, at %s a case: it caught the same %d as the most watchful, %s.", c.Name, Dollars(&c.PerCase), c.Caught, c.Like)
	}
	return append([]Table{known, critics, rounds, cheap}, r.differences()...)
}

// differences is nothing if no other critic was asked.
func (r Report) differences() []Table {
	if len(r.Critics) < 2 {
		return nil
	}
	t := Table{Title: "Where critics differ", Head: []string{"case", "truth"}, Works: map[string]string{}}
	for _, k := range r.Critics {
		t.Head = append(t.Head, k.Name)
	}
	t.Head = append(t.Head, "the work")
	for _, d := range r.Differ {
		row := []string{d.Case, string(d.Truth)}
		for _, k := range r.Critics {
			row = append(row, d.Verdicts[k.Name])
		}
		t.Rows = append(t.Rows, append(row, d.Diff))
		if d.work != "" {
			t.Works[d.Case] = d.work
		}
	}
	if len(r.Differ) == 0 {
		t.Note, t.Head = "Nowhere.", nil
	}
	return []Table{t}
}

// Dollars is an amount for people; nil is not known.
func Dollars(f *float64) string {
	if f == nil {
		return "–"
	}
	return fmt.Sprintf("$%.4f", *f)
}

func seconds(f *float64) string {
	if f == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f", *f)
}

// Text writes tables for a terminal.
func Text(w io.Writer, tables []Table) error {
	var b strings.Builder
	for i, t := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(t.Title + "\n")
		if t.Note != "" {
			b.WriteString("  " + t.Note + "\n")
		}
		widths := make([]int, len(t.Head))
		for _, row := range t.rows() {
			for i, cell := range row {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
		for _, row := range t.rows() {
			for i, cell := range row {
				b.WriteString("  " + cell)
				if i < len(row)-1 {
					b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
				}
			}
			b.WriteString("\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rows are all rows, with the head; none without rows.
func (t Table) rows() [][]string {
	if len(t.Rows) == 0 {
		return nil
	}
	return append([][]string{t.Head}, t.Rows...)
}

// Markdown writes tables as Markdown.
func Markdown(w io.Writer, tables []Table) error {
	var b strings.Builder
	for i, t := range tables {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString("## " + t.Title + "\n")
		if t.Note != "" {
			b.WriteString("\n" + escape(t.Note) + "\n")
		}
		for i, row := range t.rows() {
			if i == 0 {
				b.WriteString("\n")
			}
			for _, cell := range row {
				b.WriteString("| " + escape(cell) + " ")
			}
			b.WriteString("|\n")
			if i == 0 {
				b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escape keeps what others wrote from being anything but text.
func escape(text string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "&", "&amp;", "`", "\\`", "[", "\\[", "*", "\\*", "_", "\\_").Replace(text)
}

// HTML writes tables as a page that loads nothing.
func HTML(w io.Writer, title string, tables []Table) error {
	return page().Execute(w, struct {
		Title  string
		Tables []Table
	}{title, tables})
}

var page = sync.OnceValue(func() *template.Template { //nolint:gochecknoglobals // parsed once
	return template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{{.Title}}</title>
<style>body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem;color-scheme:light dark}
table{border-collapse:collapse;display:block;overflow-x:auto}th,td{text-align:left;padding:.2rem .9rem .2rem 0;white-space:nowrap;border-bottom:1px solid #8884}pre{overflow-x:auto}</style>
<h1>{{.Title}}</h1>
{{range .Tables}}<h2>{{.Title}}</h2>
{{with .Note}}<p>{{.}}</p>
{{end}}{{if .Rows}}<table><thead><tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr></thead>
<tbody>{{$works := .Works}}{{range .Rows}}<tr>{{range .}}<td>{{if index $works .}}<a href="#{{.}}">{{.}}</a>{{else}}{{.}}{{end}}</td>{{end}}</tr>
{{end}}</tbody></table>
{{end}}{{range $name, $work := .Works}}<h3 id="{{$name}}">{{$name}}</h3>
<pre>{{$work}}</pre>
{{end}}{{end}}`))
})
