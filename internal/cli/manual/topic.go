package manual

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Markdown lays out a page of the documentation. It supports the headings, paragraphs, lists
// and tables that are used there.
func (s Screen) Markdown(page string) string {
	var b strings.Builder
	for _, part := range blocks(page) {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		first := part[0]
		switch {
		case strings.HasPrefix(first, "#"):
			for _, line := range wrap(plain(strings.TrimLeft(first, "# ")), s.width()) {
				b.WriteString(s.Heading(line) + "\n")
			}
		case strings.HasPrefix(first, "```"):
			for _, line := range part {
				if !strings.HasPrefix(line, "```") {
					b.WriteString("    " + line + "\n")
				}
			}
		case strings.HasPrefix(first, "    "):
			b.WriteString(strings.Join(part, "\n") + "\n")
		case len(part) > 1 && strings.Trim(part[1], "|-: ") == "" && strings.Contains(part[1], "-|-"):
			s.table(&b, part)
		default:
			s.items(&b, part)
		}
	}
	return b.String()
}

// blocks splits a page into blocks of lines. Each heading, each fenced block and each table is a block of
// its own.
func blocks(page string) (all [][]string) {
	block := regexp.MustCompile("(?m)^```.*\n(?:.*\n)*?```.*$|^#.*$|(?:^[|].*\n?)+|(?:^(?:[^\\s#|`]|`{1,2}[^`\n]|[ \t]+\\S).*\n?)+")
	for _, text := range block.FindAllString(strings.ReplaceAll(page, "\r\n", "\n"), -1) {
		all = append(all, strings.Split(strings.TrimRight(text, "\n"), "\n"))
	}
	return all
}

// items lays out a paragraph, or the items of a list.
func (s Screen) items(b *strings.Builder, lines []string) {
	item := regexp.MustCompile(`^ *(?:[-*]|\d+\.) `)
	var text, lead string
	flush := func() {
		if strings.TrimSpace(text) == "" {
			return
		}
		hang := strings.Repeat(" ", len(lead))
		for i, line := range wrap(plain(text), s.width()-len(lead)) {
			if i > 0 {
				lead = hang
			}
			b.WriteString(lead + line + "\n")
		}
	}
	for _, line := range lines {
		if mark := item.FindString(line); mark != "" {
			flush()
			text, lead = line[len(mark):], mark
			continue
		}
		text += " " + line
	}
	flush()
}

// narrowest is the minimum width of a column that is wrapped; no column is narrower than its
// longest word.
const narrowest = 14

// table lays out a table in columns, and narrows the widest ones to fit the screen. If they
// still do not fit, the cells of each row are written below each other.
func (s Screen) table(b *strings.Builder, lines []string) {
	var rows [][]string
	var widths, least []int
	for i, line := range lines {
		if i == 1 {
			continue // the rule below the header
		}
		row := cells(line)
		for j, is := range row {
			if j == len(widths) {
				widths, least = append(widths, 0), append(least, narrowest)
			}
			widths[j] = max(widths[j], utf8.RuneCountInString(is))
			for word := range strings.FieldsSeq(is) {
				least[j] = max(least[j], utf8.RuneCountInString(word))
			}
		}
		rows = append(rows, row)
	}
	divided, room := fit(widths, least, s.width())
	if !room {
		for _, row := range rows[1:] {
			s.below(b, rows[0], row)
		}
		return
	}
	for i, row := range rows {
		if divided && i > 0 {
			b.WriteString("\n")
		}
		beside(b, row, widths)
	}
}

// fit narrows columns as much as necessary, the widest first. divided reports whether some
// are wrapped now, room whether they fit.
func fit(widths, least []int, most int) (divided, room bool) {
	total := -2
	for _, w := range widths {
		total += w + 2
	}
	for ; total > most; total-- {
		widest := -1
		for j, w := range widths {
			if w > least[j] && (widest < 0 || w > widths[widest]) {
				widest = j
			}
		}
		if widest < 0 {
			return divided, false
		}
		widths[widest]--
		divided = true
	}
	return divided, true
}

// below writes the cells of a row below each other.
func (s Screen) below(b *strings.Builder, names, row []string) {
	for _, line := range wrap(row[0], s.width()) {
		b.WriteString(line + "\n")
	}
	for j, is := range row[1:] {
		if j+1 < len(names) && len(names) > 2 {
			is = names[j+1] + ": " + is
		}
		for i, line := range wrap(is, s.width()-6) {
			b.WriteString(strings.Repeat(" ", 4+2*min(i, 1)) + line + "\n")
		}
	}
}

// beside writes the cells of a row next to each other.
func beside(b *strings.Builder, row []string, widths []int) {
	var columns [][]string
	height := 0
	for j, is := range row {
		lines := wrap(is, widths[j])
		columns = append(columns, lines)
		height = max(height, len(lines))
	}
	for i := range height {
		var line strings.Builder
		for j, lines := range columns {
			is := ""
			if i < len(lines) {
				is = lines[i]
			}
			line.WriteString(is + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(is)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// cells returns the cells of a table row.
func cells(line string) (all []string) {
	const bar = "\x00"
	line = strings.Trim(strings.ReplaceAll(strings.TrimSpace(line), `\|`, bar), "|")
	for is := range strings.SplitSeq(line, "|") {
		all = append(all, plain(strings.TrimSpace(strings.ReplaceAll(is, bar, "|"))))
	}
	return all
}

// plain removes the markup of links, code and emphasis.
func plain(text string) string {
	links := regexp.MustCompile(`\[([^\]]+)\]\(([^)#]*)[^)]*\)`)
	text = links.ReplaceAllStringFunc(text, func(link string) string {
		m := links.FindStringSubmatch(link)
		if m[2] == "" || strings.Contains(m[1], m[2]) {
			return m[1]
		}
		return m[1] + " (" + m[2] + ")"
	})
	text = strings.NewReplacer("**", "", "`", "").Replace(text)
	return regexp.MustCompile(`\*(\w[^*]*)\*`).ReplaceAllString(text, "$1")
}
