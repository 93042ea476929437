package verdict

import (
	"fmt"
	"regexp"
	"strings"

	"codeloops/internal/role/prompt"
	"codeloops/internal/wording"
)

// An Order is what a reply says shall happen next: a word, whom it names, and the text below.
//
//	DELEGATE: tester
//	Write a test for the empty file.
type Order struct{ Word, Name, Text string }

// A Form is how an order may look.
type Form struct {
	Word  string
	Names []string // whom it can name; none: the word stands alone
	Text  bool     // a text follows, to the end of the reply; else nothing does
}

// Ordered reads the order with which a reply ends. The problem is a sentence that says why
// there is none. Shown are the texts of others in the prompt. What they hold is a quotation,
// whatever it looks like: an order with a text counts only if it is not in there word for
// word, and one without only if it is not, or is all that the reply says.
func Ordered(reply string, shown []string, forms ...Form) (o Order, problem string) {
	text := clean(reply)
	lines := scanner{text: text, boundary: anyBoundary(text)}
	last, problem := lines.order(forms)
	switch o = last.Order; {
	case problem != "":
	case lines.torn:
		problem = "it repeats a part of the prompt without both of its boundary lines"
	case o.Word == "":
		problem = "it has no order in the form that was asked for"
	case last.form.Text && (o.Text == "" || isPlaceholder(o.Text)):
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

// A placed order is one where it stands.
type placed struct {
	Order

	form Form
	at   int // where its line begins
}

// order returns the last order of all, which have to be the same.
func (s *scanner) order(forms []Form) (last placed, problem string) {
	for l, more := s.next(); more; l, more = s.next() {
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

// ordering reads a line as one of the forms. The name is "" where it is none of those that the
// form has.
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

// among returns the one of the names that a text is, "" for none.
func among(text string, names []string) string {
	text = strings.Trim(strings.TrimFunc(text, blank), "*_`\"'.<>")
	for _, name := range names {
		if strings.EqualFold(name, text) {
			return name
		}
	}
	return ""
}

// anyBoundary is the boundary of a prompt of which a reply repeats a part; "" where it repeats
// none.
func anyBoundary(text string) prompt.Boundary {
	at := regexp.MustCompile(`\[([0-9a-f]{24}) (begin|end): `).FindStringSubmatch(text)
	if at == nil {
		return ""
	}
	return prompt.Boundary(at[1])
}

// repeated reports whether one of the texts has the words of an order.
func repeated(order string, texts []string) bool {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = spelled(fold(wording.Clean(t)))
	}
	return stands(fold(order), all)
}

// Route reads which of some names a reply chooses, and how sure it is of that, from 0 to 1.
func Route(reply string, names []string) (name string, confidence float64, problem string) {
	said, ok := Said(reply, "route")
	if !ok {
		return "", 0, "it has no line route: NAME, or two that differ"
	}
	if name = among(said, names); name == "" {
		return "", 0, "route: names nobody of " + strings.Join(names, ", ")
	}
	said, ok = Said(reply, "confidence")
	n := fraction(said)
	if !ok || n == nil {
		return "", 0, "it has no line confidence: with a number from 0 to 1, or two that differ"
	}
	return name, *n, ""
}

// Entries are the texts of a reply that begin with a word and a colon, each up to the next
// one: "POST: the parser is done". Quotations begin none.
func Entries(reply string, words ...string) (all []Order) {
	text := clean(reply)
	lines := scanner{text: text, boundary: anyBoundary(text)}
	begun := -1
	for l, more := lines.next(); more; l, more = lines.next() {
		word, said := entry(l, words)
		if word == "" {
			continue
		}
		if begun >= 0 {
			all[len(all)-1].Text += strings.TrimRight(text[begun:l.start], "\n")
		}
		all, begun = append(all, Order{Word: word, Text: said}), l.end
	}
	if begun >= 0 {
		all[len(all)-1].Text += text[begun:]
	}
	for i := range all {
		all[i].Text = strings.TrimSpace(all[i].Text)
	}
	return all
}

// entry reads a line that begins an entry; word is "" where it begins none.
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

// Above is what a reply says above the first line in its writer's own words that begins with a
// word and a colon; ok is false where there is none.
func Above(reply, word string) (text string, ok bool) {
	text = clean(reply)
	lines := scanner{text: text, boundary: anyBoundary(text)}
	for l, more := lines.next(); more; l, more = lines.next() {
		if found, _ := entry(l, []string{word}); found != "" {
			return strings.TrimSpace(text[:l.start]), true
		}
	}
	return text, false
}

// Unfenced is what stands in a code fence, if that is all of a text.
func Unfenced(text string) string {
	lines := scanner{text: text}
	for _, more := lines.next(); more; _, more = lines.next() {
	}
	if inner, ok := lines.finalFence(); ok && lines.fence.at == 0 {
		return strings.TrimSpace(inner)
	}
	return text
}
