package source

import (
	"bytes"
	"math"
	"strings"

	"codeloops/internal/wording"
)

// A box is an item of a checklist, with its position in the file.
type box struct {
	at       int // offset of the character between its brackets
	line     int
	indent   int // column of its marker
	ticked   bool
	beside   bool // it is marked [P]
	title    string
	id       string // "" is none
	details  []string
	after    []string
	priority string // as written
}

var (
	boxForm       = wording.Pattern(`^([ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[)([ xX])\][ \t]+(\S.*)$`)
	titleForm     = wording.Pattern("^(\\[P\\][ \\t]+)?((?:[*_`]{0,3}([A-Z]{1,10}-?[0-9]{3,})\\b[*_`:.]{0,4}(?:[ \\t]+|$))?)(\\[P\\][ \\t]+)?(.*)$")
	idForm        = wording.Pattern("^[A-Z]{1,10}-?[0-9]{3,}$")
	directiveForm = wording.Pattern(`^(?:[-*+][ \t]+)?(after|priority):[ \t]*(\S.*)$`)
	fenceForm     = wording.Pattern("^(?:(`{3,})[^`]*|(~{3,}).*)$")
)

// findBoxes returns the boxes of a checklist that are items. What is indented below one belongs to it.
func findBoxes(text []byte) (found []*box) {
	var in *box // the item that a line may belong to
	fence, comment := "", false
	at := len(text) - len(bytes.TrimPrefix(text, []byte(mark)))
	for line := 1; at < len(text); line++ {
		whole, _, _ := bytes.Cut(text[at:], []byte("\n"))
		said := strings.TrimRight(string(whole), " \t\r")
		trimmed := strings.TrimLeft(said, " \t")
		if !comment && in.ended(said) {
			in, fence = nil, ""
		}
		opened := fenceForm().FindStringSubmatch(trimmed)
		form := boxForm().FindStringSubmatch(said)
		switch {
		case comment || fence == "" && strings.HasPrefix(trimmed, "<!--"):
			comment = !strings.Contains(trimmed, "-->")
		case fence != "":
			if in.add(said); strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
			}
		case opened != nil:
			fence = opened[1] + opened[2]
			in.add(said)
		case in != nil:
			if !in.directive(trimmed) {
				in.add(said)
			}
		case form != nil:
			about := titleForm().FindStringSubmatch(form[3])
			in = &box{
				at: at + len(form[1]), line: line, indent: wording.Indent(said), ticked: form[2] != " ",
				beside: about[1]+about[4] != "", title: about[2] + about[5], id: about[3],
			}
			found = append(found, in)
		}
		at += len(whole) + 1
	}
	return found
}

// ended reports whether a line is no longer the item's.
func (b *box) ended(text string) bool {
	return b != nil && text != "" && wording.Indent(text) < b.indent+2
}

// add adds a line to the details of an item; nil is none.
func (b *box) add(text string) {
	if b != nil {
		b.details = append(b.details, text)
	}
}

// directive parses a line that says how to schedule the item.
func (b *box) directive(text string) bool {
	form := directiveForm().FindStringSubmatch(text)
	if form == nil {
		return false
	}
	if form[1] == "priority" {
		b.priority = form[2]
		return true
	}
	for key := range strings.FieldsFuncSeq(form[2], func(r rune) bool { return strings.ContainsRune(", \t`\"'", r) }) {
		b.after = append(b.after, key)
	}
	return true
}

// prompt is the title, a blank line, and the details without their common indentation.
func (b *box) prompt() string {
	shared := math.MaxInt
	for _, line := range b.details {
		if line != "" {
			shared = min(shared, wording.Indent(line))
		}
	}
	var out strings.Builder
	for _, line := range b.details { // a tab that reaches further becomes blanks
		out.WriteString("\n" + strings.Repeat(" ", max(wording.Indent(line)-shared, 0)) + strings.TrimLeft(line, " \t"))
	}
	return strings.TrimRight(b.title+"\n\n"+strings.Trim(out.String(), "\n"), "\n")
}
