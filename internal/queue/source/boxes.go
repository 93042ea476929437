package source

import (
	"bytes"
	"strings"

	"codeloops/internal/wording"
)

// A box is an item of a checklist, with its position in the file.
type box struct {
	at       int // offset of the character between its brackets
	line     int
	ticked   bool
	beside   bool // it is marked [P]
	title    string
	id       string // "" is none
	details  []string
	after    []string
	touches  []string
	priority string // as written
}

// A list is an enclosing list item, with or without a box.
type list struct {
	indent  int // column of its marker
	content int // column of its text
	box     *box
}

// boxes parses Markdown line by line.
type boxes struct {
	found     []*box
	lists     []list // enclosing list items, outermost first
	fence     string // opening fence of a code block around the line
	comment   bool   // the line is in a comment
	depth     int    // list items around the code or comment
	paragraph bool   // the last line was text that this one may continue
}

var (
	markerForm    = wording.Pattern(`^(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)`)
	boxForm       = wording.Pattern(`^\[([ xX])\][ \t]+(\S.*)$`)
	idForm        = wording.Pattern("^[*_`]{0,3}([A-Z]{1,10}-?[0-9]{3,})\\b[*_`:.]{0,4}(?:[ \t]+|$)")
	besideForm    = wording.Pattern(`^\[P\](?:[ \t]+|$)`)
	directiveForm = wording.Pattern(`^(after|touches|priority):[ \t]*(\S.*)$`)
	blockForm     = wording.Pattern("^(?:#{1,6}(?:[ \t]|$)|>|<|```|~~~)")
	fenceForm     = wording.Pattern("^(?:(`{3,})[^`]*|(~{3,}).*)$")
	ruleForm      = wording.Pattern(`^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$`)
)

// findBoxes returns the boxes of a checklist that are items.
func findBoxes(text []byte) []*box {
	var b boxes
	at := len(text) - len(bytes.TrimPrefix(text, []byte(mark)))
	for line := 1; at < len(text); line++ {
		whole := text[at:]
		if end := bytes.IndexByte(whole, '\n'); end >= 0 {
			whole = whole[:end+1]
		}
		b.read(strings.TrimRight(string(whole), "\r\n"), at, line)
		at += len(whole)
	}
	return b.found
}

// read reads a line at an offset.
func (b *boxes) read(text string, at, line int) {
	trimmed, indent := strings.TrimSpace(text), wording.Indent(text)
	if trimmed == "" {
		b.paragraph = false
		b.add(text)
		return
	}
	if b.leave(indent, trimmed); b.inside(text, trimmed) {
		return
	}
	content := 0
	if n := len(b.lists); n > 0 {
		content = b.lists[n-1].content
	}
	switch fence := fenceForm().FindStringSubmatch(trimmed); {
	case indent >= content+4: // code, or a continued paragraph
		if owner := b.owner(); !b.paragraph || owner == nil || !owner.directive(trimmed) {
			b.add(text)
		}
	case strings.HasPrefix(trimmed, "<!--"):
		b.comment, b.depth = !strings.Contains(trimmed, "-->"), len(b.lists)
		b.paragraph = false
	case fence != nil:
		b.fence, b.depth = fence[1]+fence[2], len(b.lists)
		b.paragraph = false
		b.add(text)
	default:
		b.readText(text, trimmed, at, line)
	}
}

// readText reads a line that is neither code nor comment.
func (b *boxes) readText(text, trimmed string, at, line int) {
	rest := trimmed
	if marker := markerForm().FindString(trimmed); marker != "" && !ruleForm().MatchString(trimmed) {
		rest = trimmed[len(marker):]
		b.enter(marker, rest, wording.Indent(text), at+strings.Index(text, trimmed)+len(marker), line)
	}
	b.paragraph = rest != "" && !blockForm().MatchString(rest) && !ruleForm().MatchString(rest)
	if owner := b.owner(); owner != nil && owner.line != line && !owner.directive(rest) {
		b.add(text)
	}
}

// leave closes the list items that have ended before a line. A line that continues a paragraph needs no
// indentation.
func (b *boxes) leave(indent int, trimmed string) {
	if b.paragraph && !blockForm().MatchString(trimmed) && !markerForm().MatchString(trimmed) && !ruleForm().MatchString(trimmed) {
		return
	}
	n := len(b.lists)
	for n > 0 && indent < b.lists[n-1].indent+2 {
		n--
	}
	if b.lists = b.lists[:n]; n < b.depth {
		b.fence, b.comment, b.depth = "", false, 0
	}
}

// inside reports whether a line is in a code block or comment, and notes its end.
func (b *boxes) inside(text, trimmed string) bool {
	switch {
	case b.comment:
		b.comment = !strings.Contains(trimmed, "-->")
		return true
	case b.fence != "":
		b.add(text)
		if strings.HasPrefix(trimmed, b.fence) && strings.Trim(trimmed, b.fence[:1]) == "" {
			b.fence = ""
		}
		return true
	}
	return false
}

// enter begins a list item. A box inside another's item belongs to its text.
func (b *boxes) enter(marker, rest string, indent, at, line int) {
	sign := strings.TrimRight(marker, " \t")
	item := list{indent: indent, content: wording.Indent(strings.Repeat(" ", indent+len(sign)) + marker[len(sign):])}
	if most := indent + len(sign) + 4; item.content > most { // its text is code
		item.content = most - 3
	}
	if form := boxForm().FindStringSubmatch(rest); form != nil && b.owner() == nil {
		item.box = newBox(form[2])
		item.box.at, item.box.line, item.box.ticked = at+1, line, form[1] != " "
		b.found = append(b.found, item.box)
	}
	b.lists = append(b.lists, item)
}

// newBox parses the first line of an item.
func newBox(title string) *box {
	b := &box{title: title}
	b.mark("")
	if form := idForm().FindStringSubmatch(b.title); form != nil {
		b.id = form[1]
		b.mark(form[0])
	}
	return b
}

// mark removes a [P] at the start of the title, after a prefix.
func (b *box) mark(behind string) {
	rest := b.title[len(behind):]
	if p := besideForm().FindString(rest); p != "" && len(p) < len(rest) {
		b.beside, b.title = true, behind+rest[len(p):]
	}
}

// owner is the item that the line belongs to.
func (b *boxes) owner() *box {
	for _, l := range b.lists {
		if l.box != nil {
			return l.box
		}
	}
	return nil
}

// add adds a line to the details of its item.
func (b *boxes) add(text string) {
	if owner := b.owner(); owner != nil {
		owner.details = append(owner.details, text)
	}
}

// directive parses a line that says how to schedule the item.
func (b *box) directive(text string) bool {
	form := directiveForm().FindStringSubmatch(text)
	if form == nil {
		return false
	}
	split := func(r rune) bool { return r == ',' || form[1] == "after" && (r == ' ' || r == '\t') }
	for value := range strings.FieldsFuncSeq(form[2], split) {
		value = strings.Trim(value, " \t`\"'")
		switch {
		case value == "":
		case form[1] == "after":
			b.after = append(b.after, value)
		case form[1] == "touches":
			b.touches = append(b.touches, value)
		default:
			b.priority = value
		}
	}
	return true
}

// prompt is the title, a blank line, and the details without their common indentation.
func (b *box) prompt() string {
	shared := -1
	for _, line := range b.details {
		if indent := wording.Indent(line); strings.TrimSpace(line) != "" && indent > 0 && (shared < 0 || indent < shared) {
			shared = indent
		}
	}
	var out strings.Builder
	for _, line := range b.details {
		out.WriteString("\n" + strings.TrimRight(cut(line, shared), " \t"))
	}
	return strings.TrimRight(b.title+"\n\n"+strings.Trim(out.String(), "\n"), "\n")
}

// cut removes columns of indentation from a line. A tab that reaches further becomes blanks.
func cut(line string, columns int) string {
	indent := wording.Indent(line)
	if columns <= 0 || indent == 0 {
		return line
	}
	return strings.Repeat(" ", max(indent-columns, 0)) + strings.TrimLeft(line, " \t")
}
