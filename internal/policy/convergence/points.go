package convergence

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// points returns the faults that a round finds, one per line and without duplicates: the
// critic's issues, required changes and feedback, and the list of a rule that overruled the
// critic.
func points(r loop.Round) (all []string) {
	v := r.Review.Verdict
	if r.Verdict.Decision == loop.Done && v.Decision == loop.Done {
		for _, p := range verdict.Mays(v.Summary) {
			all = append(all, "MAY: "+p)
		}
		return few(all)
	}
	if r.Verdict.Decision != loop.Continue {
		return nil
	}
	if r.Review.Problem != "" { // a rule made the verdict from an unreadable reply
		v = loop.Verdict{Issues: r.Verdict.Issues}
	}
	all = slices.Concat(v.RequiredChanges, v.Issues)
	var listed []point
	for _, p := range all {
		listed = append(listed, pointOf(p))
	}
	said := v.Feedback
	if v.Decision == loop.Continue {
		said = v.Guidance() // as the actor sees it
	}
	for _, p := range prose(said) {
		if !slices.ContainsFunc(listed, pointOf(p).restates) {
			all = append(all, p)
		}
	}
	for _, b := range blocks(r.Verdict.Feedback) {
		if b.item && r.Rule != "" {
			all = append(all, b.text)
		}
	}
	return few(all)
}

// A point is one point as it is compared with others.
type point struct {
	line string
	text text
}

func pointOf(p string) point { return point{line(p), read(p)} }

// restates reports whether a point only repeats another.
func (p point) restates(other point) bool {
	return p.line == other.line || p.text.repeats(other.text, defaultSimilarity)
}

// few puts each point on a line, without duplicates, and counts those beyond the limit.
func few(points []string) []string {
	var lines []string
	for _, p := range points {
		if p = line(p); p != "" && !slices.Contains(lines, p) {
			lines = append(lines, p)
		}
	}
	if rest := len(lines) - maxRaised; rest > 0 {
		return append(lines[:maxRaised], fmt.Sprintf("%d more points, in the review of that iteration", rest))
	}
	return lines
}

// prose returns the points of a text: the items of its lists, and the sentences of its
// paragraphs. Introductions do not count, unless there is nothing else: all that stands before
// a list whose items are marked is one.
func prose(text string) []string {
	var points []string
	all := blocks(strings.ToValidUTF8(text, "\uFFFD"))
	first := slices.IndexFunc(all, func(b block) bool { return b.item })
	for i, b := range all {
		if b.item {
			points = append(points, b.text)
			continue
		}
		if i < first {
			if w, _ := verdict.Mark(all[first].text); w != verdict.Unmarked {
				continue
			}
		}
		for _, s := range sentences(b.text) {
			if !framing(s) {
				points = append(points, s)
			}
		}
	}
	if len(points) == 0 {
		return []string{text}
	}
	return points
}

// A block is an item of a list, or a paragraph.
type block struct {
	text string
	item bool
}

// blocks splits a text. Quotations, in fences or after ">", are left out.
func blocks(text string) []block {
	var all []block
	open := false // the last block continues
	for l := range strings.SplitSeq(fenced().ReplaceAllString(text, ""), "\n") {
		body := strings.TrimSpace(l)
		mark := bullet().FindString(body)
		rest, is := body[len(mark):], mark != ""
		if w, _ := verdict.Mark(rest); w != verdict.Unmarked {
			is = true
		}
		switch {
		case body == "" || body[0] == '>':
			open = false
		case is:
			all, open = append(all, block{rest, true}), true
		case open || len(all) > 0 && all[len(all)-1].item && strings.TrimLeft(l, " \t") != l:
			all[len(all)-1].text += " " + body
		default:
			all, open = append(all, block{text: body}), true
		}
	}
	return all
}

// fenced matches a fence. One that is never closed does not count.
var fenced = wording.Pattern("(?ms)^[ \\t]*```[^\n]*\n.*?^[ \\t]*```[^\n]*$|^[ \\t]*~~~[^\n]*\n.*?^[ \\t]*~~~[^\n]*$")

// bullet matches the bullet or the number of a list item.
var bullet = wording.Pattern(`^(?:[-*+•]|[0-9]+[.)]) `)

// sentences splits a paragraph. A sentence that makes no sense without the one before it
// stays with it, if both fit on a line.
func sentences(text string) []string {
	var all []string
	for text != "" {
		n := sentence(text)
		s := strings.TrimSpace(text[:n])
		text = text[n:]
		switch last := len(all) - 1; {
		case s == "":
		case last >= 0 && leans(s) && len(all[last])+len(s) < maxLine:
			all[last] += " " + s
		default:
			all = append(all, s)
		}
	}
	return all
}

// sentence returns the length of the first sentence of a text. Text in back-ticks or
// quotation marks counts as one word.
func sentence(text string) int {
	skip := 0
	for i, r := range text {
		if i < skip {
			continue
		}
		end := i + len(string(r))
		if r == '`' || r == '"' {
			skip = end + strings.IndexRune(text[end:], r) + 1
			continue
		}
		rest := strings.TrimLeft(text[end:], `*_"'”’)`)
		switch {
		case strings.ContainsRune("。！？", r):
			return len(text) - len(rest)
		case rest != "" && rest[0] != ' ' || !strings.ContainsRune(".!?:", r):
		case r == ':' && framing(text[:i]), r != ':' && !abbreviated(text[:i]):
			return len(text) - len(rest)
		}
	}
	return len(text)
}

// abbreviated reports whether a full stop after a text ends an abbreviation, an initial or
// a number, and not a sentence.
func abbreviated(text string) bool {
	word := strings.TrimLeft(text[strings.LastIndexByte(text, ' ')+1:], `("'`)
	switch strings.ToLower(word) {
	case "e.g", "i.e", "etc", "vs", "cf", "resp", "approx", "incl", "no", "fig", "sec", "ca":
		return true
	}
	return len([]rune(word)) < 2
}

// leans reports whether a sentence refers to the one before it.
func leans(s string) bool {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	for i, w := range words {
		switch w {
		case "it", "they", "them", "this", "that", "these", "those":
			if i == 0 || len(words) <= 5 {
				return true
			}
		case "its", "their", "see", "otherwise", "because", "hence", "thus":
			if i == 0 {
				return true
			}
		}
	}
	return false
}

// framing reports whether a sentence only introduces others, and asks for nothing itself.
func framing(s string) bool {
	for _, w := range strings.FieldsFunc(strings.ToLower(s), apart) {
		switch w = strings.Trim(w, "._-/"); w {
		case "not", "yet", "almost", "nearly", "close", "done", "finished", "complete", "ready", "good", "better", "nice", "great",
			"ok", "okay", "well", "thanks", "progress", "work", "task", "start", "so", "far", "now", "but", "however", "only", "just",
			"more", "most", "some", "few", "all", "one", "two", "three", "four", "five", "six", "several", "things", "thing", "points", "point",
			"problems", "problem", "issues", "issue", "findings", "finding", "remain", "remains", "remaining", "left", "open",
			"following", "below", "here", "has", "have", "before", "can", "no", "what", "list", "much", "very":
		default:
			if w != "" && !filler(w) {
				return false
			}
		}
	}
	return true
}

// maxLine bounds a point, in characters.
const maxLine = 300

// line puts a text on one line, of bounded length.
func line(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if r := []rune(s); len(r) > maxLine {
		return string(r[:maxLine]) + "…"
	}
	return s
}
