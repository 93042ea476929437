package verdict

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"codeloops/internal/loop"
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
	o, form, at, problem := s.order(forms)
	switch {
	case problem != "":
	case s.torn:
		problem = "it repeats a part of the prompt without both of its boundary lines"
	case o.Word == "":
		problem = "it has no order in the form that was asked for"
	case form.Text && (o.Text == "" && !form.Bare || isPlaceholder(o.Text)):
		problem = fmt.Sprintf("nothing stands below %s: %s", o.Word, o.Name)
	case !form.Text && o.Text != "":
		problem = "something stands behind " + o.Word
	case (form.Text || at > 0) && repeated(s.text[at:], shown):
		problem = "its order stands word for word in what others wrote"
	default:
		return o, ""
	}
	return Order{}, problem
}

// order returns the last order, with its form and the offset of its line. All orders must be the same.
func (s *scanner) order(forms []Form) (o Order, form Form, at int, problem string) {
	for l := range s.lines() {
		f, next := ordering(l, forms)
		switch {
		case next.Word == "":
			continue
		case len(f.Names) > 0 && next.Name == "":
			return o, form, at, fmt.Sprintf("%s: names nobody of %s", f.Word, strings.Join(f.Names, ", "))
		case o.Word != "" && (next.Word != o.Word || next.Name != o.Name):
			return o, form, at, "it gives two orders that differ"
		}
		next.Text = strings.TrimSpace(s.text[min(l.end+1, len(s.text)):])
		o, form, at = next, f, l.start
	}
	return o, form, at, ""
}

// ordering reads a line as one of the forms. The order has no name if it is none of the form's.
func ordering(l line, forms []Form) (Form, Order) {
	for _, f := range forms {
		alone := strings.TrimRight(strings.TrimFunc(skipMarkup(l.text), blank), ".!:*_`")
		switch word, said := labelled(l.text, f.Word); {
		case !l.own || wording.Indent(l.text) > maxIndent:
		case len(f.Names) > 0 && word != "":
			return f, Order{Word: word, Name: among(said, f.Names)}
		case len(f.Names) == 0 && strings.EqualFold(alone, f.Word):
			return f, Order{Word: f.Word}
		}
	}
	return Form{}, Order{}
}

// among returns the name that a text is, "" for none.
func among(text string, names []string) string {
	text = strings.Trim(strings.TrimFunc(text, blank), "*_`\"'.!<>")
	if i := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, text) }); i >= 0 {
		return names[i]
	}
	return ""
}

// repeated reports whether an order occurs in one of the texts.
func repeated(order string, texts []string) bool { return stands(order, spelledAll(texts)) }

// An entry is a line in the writer's own words that begins with a label.
type entry struct {
	line
	word, said string
}

func (s *scanner) entries(words ...string) (all []entry) {
	for l := range s.lines() {
		if word, said := labelled(l.text, words...); l.own && word != "" {
			all = append(all, entry{l, word, said})
		}
	}
	return all
}

// Entries returns the texts of a reply that begin with a word and a colon, such as
// "POST: the parser is done", each up to the next one, and the text above the first.
// Quotations do not count.
func Entries(reply string, words ...string) (above string, all []Order) {
	s := scannerOf(reply)
	found, end := s.entries(words...), len(s.text)
	for _, e := range slices.Backward(found) {
		all = append(all, Order{Word: e.word, Text: strings.TrimSpace(e.said + s.text[e.end:end])})
		end = e.start
	}
	slices.Reverse(all)
	return strings.TrimSpace(s.text[:end]), all
}

// ownWords returns the writer's own words of a reply, line by line, and the content of a fence at its end.
func ownWords(reply string) (own, block string) {
	s := scannerOf(reply)
	var b strings.Builder
	for l := range s.lines() {
		if l.own {
			b.WriteString(l.text + "\n")
		}
	}
	block, _ = s.finalFence()
	return b.String(), block
}

// Unfenced returns the content of a code fence if the text is nothing else.
func Unfenced(text string) string {
	if own, block := ownWords(text); strings.TrimSpace(own) == "" && block != "" {
		return strings.TrimSpace(block)
	}
	return text
}

// value returns what a label in the writer's own words says: "0.8" from the line "**score:** 0.8". Two that differ are
// none. A reply may have to begin with it: further down, it may be from a file that the reply shows.
func value(reply, label string, begins bool) (said string) {
	s := scannerOf(reply)
	for i, e := range s.entries(label) {
		above, _ := ownWords(s.text[:e.start])
		if i > 0 && e.said != said || i == 0 && begins && strings.TrimFunc(above, blank) != "" {
			return ""
		}
		said = e.said
	}
	return said
}

// Route reads which of the names a reply chooses, and its confidence from 0 to 1.
func Route(reply string, names []string) (name string, confidence float64, problem string) {
	name = among(value(reply, "route", false), names)
	sure := fraction(value(reply, "confidence", false))
	switch {
	case name == "":
		return "", 0, "it has no line route: with one of " + strings.Join(names, ", ") + ", or two that differ"
	case sure == nil:
		return "", 0, "it has no line confidence: with a number from 0 to 1, or two that differ"
	}
	return name, *sure, ""
}

// Score returns the score from 0 to 1 that a reply begins with; ok is false if there is none,
// or if there are two.
func Score(reply string) (score float64, ok bool) {
	text := value(reply, "score", true)
	n := fraction(text)
	if n == nil || strings.ContainsFunc(text, unicode.IsLetter) { // words may be a condition
		return 0, false
	}
	return *n, true
}

// Choice returns which of the names follows the label that a reply begins with, in any case; "" if it is none of them,
// or if there are two.
func Choice(reply, label string, of ...string) string { return among(value(reply, label, true), of) }

// EndsWithPhrase reports whether a reply ends with a phrase, in the writer's own words and alone in
// its line, and whether it says nothing else.
func EndsWithPhrase(reply, phrase string) (ends, bare bool) {
	last, lines := "", 0
	s := scanner{text: reply}
	for l := range s.lines() {
		if strings.TrimFunc(l.text, blank) == "" {
			continue
		}
		lines++
		if last = ""; l.own {
			last = skipMarkup(l.text)
		}
	}
	last = strings.TrimRight(strings.TrimFunc(last, blank), ".!*_`")
	ends = phrase != "" && strings.EqualFold(last, phrase)
	return ends, ends && lines == 1
}

// ReadActor reads an actor's decision about its own work, by the rules for a critic's reply; ok is
// false if there is none.
func ReadActor(reply string) (v loop.Verdict, ok bool) {
	v, _, _, problem := Parser{}.read(reply)
	return v, problem == ""
}
