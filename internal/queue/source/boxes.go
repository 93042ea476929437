package source

import (
	"bytes"
	"strings"

	"codeloops/internal/wording"
)

// A box is an item of a checklist where its file has it.
type box struct {
	at       int // offset of what stands between its brackets
	line     int
	ticked   bool
	beside   bool // it may run beside others
	title    string
	id       string // "": it has none
	details  []string
	after    []string
	touches  []string
	priority string // as it is written
}

// A list is an item of a list that a line may be in, with a box or without.
type list struct {
	indent  int // columns before its marker
	content int // columns before its text
	box     *box
}

// boxes are read line by line, as Markdown is.
type boxes struct {
	found     []*box
	lists     []list // that the line is in, from the outside
	fence     string // what opened the code that the line is in
	comment   bool   // the line is in a comment
	depth     int    // how many lists the code or the comment is in
	paragraph bool   // the line before is text, which this one may go on with
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

// findBoxes returns the boxes of a checklist that are items of it.
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

// read reads a line, which begins at an offset.
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
	case indent >= content+4: // code, or a paragraph that goes on
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

// readText reads a line that is neither code nor a comment.
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

// leave drops the lists that a line is not in any more. A line that only goes on with the
// paragraph before needs no indentation.
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

// inside reports whether a line is within a fence or a comment, and whether that ends.
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

// enter begins an item of a list. A box within that of another is a part of its text.
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

// newBox takes the first line of an item apart.
func newBox(title string) *box {
	b := &box{title: title}
	b.mark("")
	if form := idForm().FindStringSubmatch(b.title); form != nil {
		b.id = form[1]
		b.mark(form[0])
	}
	return b
}

// mark takes a [P] that stands behind the beginning of the title out of it.
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

// directive takes up a line that says how the item is to be worked on.
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

// prompt is the title and, below a blank line, the details without the indentation that they
// share.
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

// cut takes columns of indentation off a line. Of a tab that reaches further, blanks stay.
func cut(line string, columns int) string {
	indent := wording.Indent(line)
	if columns <= 0 || indent == 0 {
		return line
	}
	return strings.Repeat(" ", max(indent-columns, 0)) + strings.TrimLeft(line, " \t")
}
