package convergence

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
)

// points returns the faults that a round finds, one per line and without duplicates: the
// critic's issues, required changes and feedback, and the list of a rule that overruled the
// critic.
func points(r loop.Round) (all []string) {
	v := r.Review.Verdict
	switch {
	case r.Verdict.Decision == loop.Done && v.Decision == loop.Done:
		for _, p := range verdict.Mays(v.Summary) {
			all = append(all, "MAY: "+p)
		}
		return few(all)
	case r.Verdict.Decision != loop.Continue:
		return nil
	case r.Review.Problem != "": // a rule made the verdict from an unreadable reply
		v = loop.Verdict{Issues: r.Verdict.Issues}
	}
	all = slices.Concat(v.RequiredChanges, v.Issues)
	said := v.Feedback
	if v.Decision == loop.Continue {
		if len(all) > 0 {
			v.Summary = "" // it sums these up
		}
		said = v.Guidance() // as the actor sees it
	}
	all = append(all, prose(said)...) // few drops what an issue says as well
	for _, p := range verdict.Points(r.Verdict.Feedback) {
		if p.Item && r.Rule != "" {
			all = append(all, p.Text)
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

// prose returns the points of a text: the items of its lists, and its paragraphs, except those that introduce
// what follows: they end in a colon, or stand before a MUST or a MAY.
func prose(text string) (points []string) {
	all := slices.DeleteFunc(verdict.Points(strings.ToValidUTF8(text, "\uFFFD")), func(p verdict.Point) bool { return p.Text == "" })
	for i, p := range all {
		if !p.Item && i+1 < len(all) && (verdict.Leads(p.Text) || all[i+1].Weight != verdict.Unmarked) {
			continue
		}
		points = append(points, p.Text)
	}
	if len(points) == 0 {
		return []string{text}
	}
	return points
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
