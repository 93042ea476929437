package term

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const (
	gap      = "  " // between two columns
	leastCut = 4    // narrower cells say nothing
)

// A Table lays out cells in columns that fit a terminal.
type Table struct {
	Rows   [][]string // the first one holds the headings
	Right  []int      // columns that are aligned to the right
	Drop   []int      // columns to leave out, in this order, until the last column has room
	Cut    []int      // columns to cut, in this order, if that is not enough
	Least  int        // how wide the last column has to be to be useful
	Sparse bool       // leave out columns in which every entry is empty or "-"
	ASCII  bool       // the terminal can show no other characters
	Style  func(row, column int, cell string) string
}

// Lines returns a line for each row.
func (t *Table) Lines(width int) []string {
	if t.ASCII {
		for _, row := range t.Rows {
			for c := range row {
				row[c] = Narrow(row[c])
			}
		}
	}
	widths := t.widths(width)
	lines := make([]string, len(t.Rows))
	for r, row := range t.Rows {
		var cells []string
		for c, w := range widths {
			if w == 0 {
				continue
			}
			cell := Fit(row[c], w)
			if t.ASCII {
				cell = Narrow(cell)
			}
			blank := strings.Repeat(" ", max(0, w-ansi.StringWidth(cell)))
			if cell = t.Style(r, c, cell); slices.Contains(t.Right, c) {
				cell = blank + cell
			} else {
				cell += blank
			}
			cells = append(cells, cell)
		}
		lines[r] = strings.TrimRight(strings.Join(cells, gap), " ")
	}
	return lines
}

// widths returns the width of each column, 0 for those that are left out.
func (t *Table) widths(width int) []int {
	last := len(t.Rows[0]) - 1
	widths := make([]int, last+1)
	for c := range widths {
		empty := t.Sparse
		for r, row := range t.Rows {
			widths[c] = max(widths[c], ansi.StringWidth(row[c]))
			empty = empty && (r == 0 || row[c] == "" || row[c] == "-")
		}
		if empty {
			widths[c] = 0
		}
	}
	room := func() int { // for the last column
		left := width
		for _, w := range widths[:last] {
			if w > 0 {
				left -= w + len(gap)
			}
		}
		return left
	}
	for _, c := range t.Drop {
		if room() < min(t.Least, widths[last]) {
			widths[c] = 0
		}
	}
	if room() < min(t.Least/2, widths[last]) {
		widths[last] = 0 // a few letters say nothing
	}
	widths[last] = max(0, min(widths[last], room()))
	for _, c := range t.Cut {
		if over := -room() - len(gap); over > 0 {
			if widths[c] -= over; widths[c] < leastCut {
				widths[c] = 0
			}
		}
	}
	return widths
}
