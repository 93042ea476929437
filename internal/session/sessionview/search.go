package sessionview

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"codeloops/internal/screen/term"
	"codeloops/internal/session"
)

const wideExcerpt = 120

// A FoundRow is a session that a search has found, for a program.
type FoundRow struct {
	Row

	Matches []MatchRow `json:"matches"`
}

// A MatchRow is a text that matches.
type MatchRow struct {
	Iteration *int          `json:"iteration"` // null: the whole session
	In        session.Place `json:"in"`
	Excerpt   string        `json:"excerpt"`
}

// FoundRows returns the rows of found sessions.
func FoundRows(found []session.Found) []FoundRow {
	return each(found, func(one session.Found) FoundRow {
		return FoundRow{NewRow(one.Overview), each(one.Matches, func(m session.Match) MatchRow {
			row := MatchRow{In: m.Place, Excerpt: excerpt(m, wideExcerpt)}
			if m.Iteration > 0 {
				row.Iteration = &m.Iteration
			}
			return row
		})}
	})
}

// FoundTabs writes a line of tab-separated fields for each match: id, iteration ("" for the whole
// session), place, excerpt.
func FoundTabs(w io.Writer, found []session.Found) error {
	for _, one := range found {
		for _, m := range one.Matches {
			fields := []string{term.Line(one.ID), matchIteration(m), string(m.Place), excerpt(m, wideExcerpt)}
			if _, err := fmt.Fprintln(w, strings.Join(fields, "\t")); err != nil {
				return err
			}
		}
	}
	return nil
}

// Found writes each session with its project and outcome, and its matches below it.
func (s Screen) Found(w io.Writer, found []session.Found) error {
	for _, one := range found {
		var b strings.Builder
		head := []string{term.Line(one.ID), project(one.Session.WorkingDir), shortOutcome(string(one.Status))}
		fmt.Fprintln(&b, term.Fit(strings.Join(head, gap), s.Width))
		for _, m := range one.Matches {
			label := fmt.Sprintf("  %3s  %-8s  ", matchIteration(m), m.Place)
			fmt.Fprintln(&b, s.faint(label)+excerpt(m, max(leastPrompt, s.Width-len(label))))
		}
		if _, err := io.WriteString(w, s.own(b.String())); err != nil {
			return err
		}
	}
	return nil
}

func matchIteration(m session.Match) string {
	if m.Iteration <= 0 {
		return ""
	}
	return strconv.Itoa(m.Iteration)
}

// excerpt returns a match and the words around it, on one line of the given width.
func excerpt(m session.Match, width int) string {
	const around = 30 // bytes before the match
	from, before := max(0, m.Begin-min(around, width/3)), ""
	if from > 0 {
		for from < m.Begin && !utf8.RuneStart(m.Text[from]) {
			from++
		}
		if gap := strings.IndexAny(m.Text[from:m.Begin], " \t\n"); gap >= 0 {
			from += gap // begin with a whole word
		}
		before = "…"
	}
	return before + term.Fit(beginning(m.Text[from:], width), width-len([]rune(before)))
}
