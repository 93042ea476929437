package convergence

import (
	"fmt"
	"slices"
	"strings"

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
	said := v.Feedback
	if v.Decision == loop.Continue {
		said = v.Guidance() // as the actor sees it
	}
	all = append(all, prose(said)...) // few drops what an issue says as well
	for _, b := range blocks(r.Verdict.Feedback) {
		if b.item && r.Rule != "" {
			all = append(all, b.text)
		}
	}
	return few(all)
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

// prose returns the points of a text: the items of its lists, and its paragraphs. A paragraph that
// introduces a list is none: one that ends in a colon, stands before a list whose items are marked, or
// is the only one before a numbered list of several, and one sentence.
func prose(text string) []string {
	var points []string
	all := blocks(strings.ToValidUTF8(text, "\uFFFD"))
	first := slices.IndexFunc(all, func(b block) bool { return b.item })
	for i, b := range all {
		if i < first && introduces(b, all[first:], first) || !b.item && leads(b.text) && i+1 < len(all) && all[i+1].item {
			continue
		}
		points = append(points, b.text)
	}
	if len(points) == 0 {
		return []string{text}
	}
	return points
}

// introduces reports whether a paragraph introduces a list, before which there are so many.
func introduces(p block, list []block, before int) bool {
	marked, _ := verdict.Mark(list[0].text)
	several := list[0].numbered && len(list) > 1 && list[1].numbered
	return leads(p.text) || marked != verdict.Unmarked || before == 1 && several && !sentences().MatchString(strings.TrimRight(p.text, "*_ "))
}

// leads reports whether a text announces what follows it.
func leads(text string) bool { return strings.HasSuffix(strings.TrimRight(text, "*_ "), ":") }

// sentences matches a text of several.
var sentences = wording.Pattern(`[.!?]\s+\S|[。！？]\s*\S`)

// A block is an item of a list, or a paragraph.
type block struct {
	text           string
	item, numbered bool
}

// blocks splits a text. Quotations, in fences or after ">", are left out.
func blocks(text string) []block {
	var all []block
	open := false // the last block continues
	lines := strings.Split(fenced().ReplaceAllString(text, ""), "\n")
	for i, l := range lines {
		body := strings.TrimSpace(l)
		one, is := item(body)
		after := len(all) > 0 && all[len(all)-1].item
		open = open && !(after && heads(lines[i:]))
		switch {
		case body == "" || body[0] == '>':
			open = false
		case is:
			all, open = append(all, one), true
		case open || after && strings.TrimLeft(l, " \t") != l:
			all[len(all)-1].text += " " + body
		default:
			all, open = append(all, block{text: body}), true
		}
	}
	return all
}

// item reads a line as the beginning of an item: one with a bullet or a number, or a point with a mark.
func item(line string) (b block, is bool) {
	mark := bullet().FindString(line)
	rest := line[len(mark):]
	w, _ := verdict.Mark(rest)
	return block{rest, true, mark != "" && mark[0] >= '0' && mark[0] <= '9'}, mark != "" || w != verdict.Unmarked
}

// heads reports whether the first of some lines, which is not indented, introduces a list.
func heads(lines []string) bool {
	return len(lines) > 1 && leads(lines[0]) && strings.TrimSpace(lines[0]) == lines[0] && bullet().MatchString(lines[1])
}

// fenced matches a fence. One that is never closed does not count.
var fenced = wording.Pattern("(?ms)^[ \\t]*```[^\n]*\n.*?^[ \\t]*```[^\n]*$|^[ \\t]*~~~[^\n]*\n.*?^[ \\t]*~~~[^\n]*$")

// bullet matches the bullet or the number of a list item.
var bullet = wording.Pattern(`^(?:[-*+•]|[0-9]+[.)]) `)

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
