package source

import (
	"bytes"
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/wording"
)

// NewChecklist returns the source in a Markdown file. Each box in a list, at any heading, is an item:
//
//   - Text below a box that is indented more than its marker belongs to the item, and so do boxes
//     there: they are steps of one task. Boxes in fenced code, comments and quotations are no items.
//     Comments on lines of their own are left out of prompts.
//   - An item comes after all open items above it. One with [P] behind its box or its ID only comes
//     after the last open one above it without [P].
//   - "after: KEY…" and "priority: N" on lines of their own in the
//     indented text are read, and taken out of the prompt.
//   - The key of an item is the ID that its text begins with, such as T001: capitals, and at least
//     three digits. Without one it is a digest of its first line. Its place, its box, its [P] and
//     its details play no part.
//
// Done ticks the box: it changes one character.
func NewChecklist(path string) (*File, error) {
	path, err := filepath.Abs(path)
	return &File{path: path, kind: "checklist", parse: checklist, done: tick}, err
}

// tick ticks the box at an offset.
func tick(text []byte, at int) ([]byte, error) {
	return slices.Concat(text[:at], []byte("x"), text[at+1:]), nil
}

// A box is an item of a checklist.
type box struct {
	Item

	indent  int  // column of its marker
	beside  bool // it is marked [P]
	details []string
}

var (
	boxForm = wording.Pattern(`^([ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[)([ xX])\][ \t]+` +
		"(\\[P\\][ \\t]+)?((?:[*_`]{0,3}([A-Z]{1,10}-?[0-9]{3,})\\b[*_`:.]{0,4}(?:[ \\t]+|$))?)(\\[P\\][ \\t]+)?(.*)$")
	directiveForm = wording.Pattern(`^(?:[-*+][ \t]+)?(?:after:[ \t]*(\S.*)|priority:[ \t]*([+-]?[0-9]{1,9}))$`)
)

// checklist returns the items in a text.
func checklist(text []byte) (items []Item, err error) {
	var last, beside []string // the last open item without [P], and those with [P] after it
	for _, b := range boxes(text) {
		item := b.Item
		item.Prompt = b.prompt()
		before := last
		switch {
		case item.Done:
			before = nil
		case b.beside:
			beside = append(beside, item.Key)
		default:
			if len(beside) > 0 { // those come after the last one
				before = beside
			}
			last, beside = []string{item.Key}, nil
		}
		for _, key := range before {
			if !slices.Contains(item.After, key) {
				item.After = append(item.After, key)
			}
		}
		items = append(items, item)
	}
	return items, nil
}

// boxes returns the boxes that are items. What is indented below one belongs to it.
func boxes(text []byte) (found []*box) {
	var in *box // the item that a line may belong to
	fence, comment := "", false
	for next := 0; next < len(text); {
		at := next
		whole, _, _ := bytes.Cut(text[at:], []byte("\n"))
		next += len(whole) + 1
		said := strings.TrimRight(string(whole), " \t\r")
		trimmed := strings.TrimLeft(said, " \t")
		if !comment && in != nil && said != "" && wording.Indent(said) < in.indent+2 {
			in, fence = nil, ""
		}
		if comment || fence == "" && strings.HasPrefix(trimmed, "<!--") {
			comment = !strings.Contains(trimmed, "-->")
			continue
		}
		was := fence
		fence = fenced(fence, trimmed)
		form := boxForm().FindStringSubmatch(said)
		switch {
		case was+fence != "": // code
		case in != nil && in.directive(trimmed):
			continue
		case in == nil && form != nil:
			title := form[4] + form[7]
			in = &box{indent: wording.Indent(said), beside: form[3]+form[6] != ""}
			in.Item = Item{Key: cmp.Or(form[5], digest(title)), Prompt: title, Done: form[2] != " ", at: at + len(form[1])}
			found = append(found, in)
			continue
		}
		if in != nil {
			in.details = append(in.details, said)
		}
	}
	return found
}

// fenced returns the fence of the code that goes on after a line; "" is none.
func fenced(fence, line string) string {
	rest := strings.TrimLeft(line, "`~")
	marks := line[:len(line)-len(rest)]
	switch {
	case fence == "" && len(marks) >= 3 && !strings.Contains(rest, "`"):
		return marks
	case fence != "" && rest == "" && strings.HasPrefix(marks, fence):
		return ""
	}
	return fence
}

// directive parses a line that says how to schedule the item.
func (b *box) directive(text string) bool {
	form := directiveForm().FindStringSubmatch(text)
	if form == nil {
		return false
	}
	if form[2] != "" {
		b.Priority, _ = strconv.Atoi(form[2])
	}
	b.After = slices.AppendSeq(b.After, strings.FieldsFuncSeq(form[1], func(r rune) bool { return strings.ContainsRune(", \t`\"'", r) }))
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
	return strings.TrimRight(b.Prompt+"\n\n"+strings.Trim(out.String(), "\n"), "\n")
}
