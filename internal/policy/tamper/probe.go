package tamper

import (
	"regexp"
	"strings"

	"codeloops/internal/wording"
)

// A probe is a regular expression that is compiled on first use, as a run needs few of
// them. A nil probe matches nothing, and no probe matches an empty text.
type probe struct{ expression func() *regexp.Regexp }

// UnmarshalText reads an expression, which may span several lines.
func (p *probe) UnmarshalText(text []byte) error {
	var all strings.Builder
	for line := range strings.Lines(string(text)) {
		all.WriteString(strings.TrimSpace(line))
	}
	p.expression = wording.Pattern(all.String())
	return nil
}

func (p *probe) match(s string) bool { return p.groups(s) != nil }

// find returns the first match, "" for none.
func (p *probe) find(s string) string {
	if m := p.groups(s); m != nil {
		return m[0]
	}
	return ""
}

// groups returns the first match and its groups, nil for none.
func (p *probe) groups(s string) []string {
	if p == nil || s == "" {
		return nil
	}
	return p.expression().FindStringSubmatch(s)
}
