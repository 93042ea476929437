package verdict

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// An Order is a reply's instruction for what happens next: a word, a name and the text below.
//
//	DELEGATE: tester
//	Write a test for the empty file.
type Order struct{ Word, Name, Text string }

// A Form is a form that an order may have.
type Form struct {
	Word  string
	Names []string // the names it may have; none: the word stands alone
	Text  bool     // a text follows, to the end of the reply; otherwise nothing does
	Bare  bool     // the text may be missing
}

// Ordered reads the order at the end of a reply. The problem is a sentence that says why
// there is none. shown are the texts of others in the prompt: an order that occurs in them
// word for word is a quotation, and does not count, unless it has no text and is all that
// the reply says.
func Ordered(reply string, shown []string, forms ...Form) (o Order, problem string) {
	s := scannerOf(reply)
	text := s.text
	last, problem := s.order(forms)
	switch o = last.Order; {
	case problem != "":
	case s.torn:
		problem = "it repeats a part of the prompt without both of its boundary lines"
	case o.Word == "":
		problem = "it has no order in the form that was asked for"
	case last.form.Text && (o.Text == "" && !last.form.Bare || isPlaceholder(o.Text)):
		problem = fmt.Sprintf("nothing stands below %s: %s", o.Word, o.Name)
	case !last.form.Text && o.Text != "":
		problem = "something stands behind " + o.Word
	case (last.form.Text || text[:last.at] != "") && repeated(text[last.at:], shown):
		problem = "its order stands word for word in what others wrote"
	default:
		return o, ""
	}
	return Order{}, problem
}

// placed is an order with its form and position.
type placed struct {
	Order

	form Form
	at   int // the offset of its line
}

// order returns the last order. All orders must be the same.
func (s *scanner) order(forms []Form) (last placed, problem string) {
	for l := range s.lines() {
		f, name, ok := ordering(l, forms)
		switch {
		case !ok:
			continue
		case len(f.Names) > 0 && name == "":
			return last, fmt.Sprintf("%s: names nobody of %s", f.Word, strings.Join(f.Names, ", "))
		case last.Word != "" && (f.Word != last.Word || name != last.Name):
			return last, "it gives two orders that differ"
		}
		last = placed{Order{f.Word, name, strings.TrimSpace(s.text[min(l.end+1, len(s.text)):])}, f, l.start}
	}
	return last, ""
}

// ordering reads a line as one of the forms. name is "" if it is none of the form's names.
func ordering(l line, forms []Form) (f Form, name string, ok bool) {
	if !l.own || wording.Indent(l.text) > maxIndent {
		return f, "", false
	}
	for _, f := range forms {
		if len(f.Names) > 0 {
			if said, ok := labelled(l.text, f.Word); ok {
				return f, among(said, f.Names), true
			}
		} else if rest, _ := skipMarkup(l.text); strings.EqualFold(strings.TrimRight(strings.TrimFunc(rest, blank), ".!:*_`"), f.Word) {
			return f, "", true
		}
	}
	return f, "", false
}

// among returns the name that a text is, "" for none.
func among(text string, names []string) string {
	text = strings.Trim(strings.TrimFunc(text, blank), "*_`\"'.!<>")
	if i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, text) }); i >= 0 {
		return names[i]
	}
	return ""
}

// promptPart matches a boundary line of a prompt.
var promptPart = wording.Pattern(`\[([0-9a-f]{24}) (begin|end): `)

// scannerOf returns the scanner of a reply, which may repeat a part of its prompt.
func scannerOf(reply string) *scanner {
	s := &scanner{text: clean(reply)}
	if at := promptPart().FindStringSubmatch(s.text); at != nil {
		s.boundary = prompt.Boundary(at[1])
	}
	return s
}

// repeated reports whether an order occurs in one of the texts.
func repeated(order string, texts []string) bool {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = spelled(wording.Clean(t))
	}
	return stands(order, all)
}

// Route reads which of the names a reply chooses, and its confidence from 0 to 1.
func Route(reply string, names []string) (name string, confidence float64, problem string) {
	said, ok := Said(reply, "route", false)
	if !ok {
		return "", 0, "it has no line route: NAME, or two that differ"
	}
	if name = among(said, names); name == "" {
		return "", 0, "route: names nobody of " + strings.Join(names, ", ")
	}
	said, ok = Said(reply, "confidence", false)
	n := fraction(said)
	if !ok || n == nil {
		return "", 0, "it has no line confidence: with a number from 0 to 1, or two that differ"
	}
	return name, *n, ""
}

// Entries returns the texts of a reply that begin with a word and a colon, such as
// "POST: the parser is done", each up to the next one, and the text above the first.
// Quotations do not count.
func Entries(reply string, words ...string) (above string, all []Order) {
	s := scannerOf(reply)
	above = s.text
	begun := 0 // the end of the last entry's first line
	for l := range s.lines() {
		word, said := entry(l, words)
		switch n := len(all); {
		case word == "":
			continue
		case n == 0:
			above = strings.TrimSpace(s.text[:l.start])
		default:
			all[n-1].Text += s.text[begun:l.start]
		}
		all, begun = append(all, Order{Word: word, Text: said}), l.end
	}
	if n := len(all); n > 0 {
		all[n-1].Text += s.text[begun:]
	}
	for i := range all {
		all[i].Text = strings.TrimSpace(all[i].Text)
	}
	return above, all
}

// entry reads the first line of an entry; word is "" for any other line.
func entry(l line, words []string) (word, said string) {
	if !l.own || wording.Indent(l.text) > maxIndent {
		return "", ""
	}
	for _, w := range words {
		if said, ok := labelled(l.text, w); ok {
			return w, said
		}
	}
	return "", ""
}

// Unfenced returns the content of a code fence if the text is nothing else.
func Unfenced(text string) string {
	s := scanner{text: text}
	for range s.lines() {
	}
	if inner, ok := s.finalFence(); ok && s.fence.at == 0 {
		return strings.TrimSpace(inner)
	}
	return text
}
