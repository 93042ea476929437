package tamper

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"codeloops/internal/wording"
)

// A probe is a regular expression that is tried only on texts which hold a word
// that every match of it has: most lines hold none, and to look for words is some
// fifty times as fast. It is compiled when it is needed, as few are in a run. A nil
// probe matches nothing.
type probe struct {
	words      func() []string // one of them is in every match; none: it is always tried
	expression func() *regexp.Regexp
}

// UnmarshalText takes an expression, which may go on over several lines.
func (p *probe) UnmarshalText(text []byte) error {
	var all strings.Builder
	for line := range strings.Lines(string(text)) {
		all.WriteString(strings.TrimSpace(line))
	}
	*p = *re(all.String())
	return nil
}

func re(s string) *probe {
	return &probe{
		words: sync.OnceValue(func() []string {
			if tree, err := syntax.Parse(s, syntax.Perl); err == nil {
				if words, ok := required(tree); ok {
					return words
				}
			}
			return nil
		}),
		expression: wording.Pattern(s),
	}
}

func (p *probe) may(s string) bool {
	if p == nil || s == "" {
		return false
	}
	words := p.words()
	return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

func (p *probe) match(s string) bool { return p.may(s) && p.expression().MatchString(s) }

func (p *probe) find(s string) string {
	if !p.may(s) {
		return ""
	}
	return p.expression().FindString(s)
}

func (p *probe) groups(s string) []string {
	if !p.may(s) {
		return nil
	}
	return p.expression().FindStringSubmatch(s)
}

// required returns words of which every match of an expression holds one; ok is
// false when it does not know of any.
func required(r *syntax.Regexp) (words []string, ok bool) {
	if r.Op == syntax.OpLiteral {
		return []string{string(r.Rune)}, r.Flags&syntax.FoldCase == 0
	}
	if r.Op == syntax.OpCharClass {
		return class(r.Rune)
	}
	if r.Op == syntax.OpCapture || r.Op == syntax.OpPlus || r.Op == syntax.OpRepeat && r.Min > 0 {
		return required(r.Sub[0])
	}
	if r.Op == syntax.OpConcat {
		for _, sub := range r.Sub { // one of them is enough
			if more, known := required(sub); known && (!ok || shortest(more) > shortest(words)) {
				words, ok = more, true
			}
		}
		return words, ok
	}
	if r.Op != syntax.OpAlternate {
		return nil, false
	}
	for _, sub := range r.Sub {
		more, known := required(sub)
		if !known {
			return nil, false
		}
		words = append(words, more...)
	}
	return words, true
}

// class returns the members of a small class, given by its ranges.
func class(ranges []rune) (words []string, ok bool) {
	const most = 4
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] >= most || len(words) > most {
			return nil, false
		}
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			words = append(words, string(c))
		}
	}
	return words, len(words) > 0
}

func shortest(words []string) int {
	return len(slices.MinFunc(words, func(a, b string) int { return len(a) - len(b) }))
}
