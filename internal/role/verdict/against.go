package verdict

import (
	"slices"
	"strings"

	"codeloops/internal/wording"
)

// Expressions for the names and values of an approval's members, in lower case and with
// one blank between words.
var (
	namesFaults  = wording.Pattern(`\b(?:fail\w*|errors?|problems?|bugs?|block\w*|faults?|missing|todos?|remaining|open|unresolved|next steps|must \w+|broken|conditions?|needs? \w+|requires? \w+|needed|required|requested|next|issues|concerns|defects|violations|vulnerabilit\w*|unmet|gaps|to fix|action items?)\b`)
	namesRepairs = wording.Pattern(`\b(?:fixed|resolved|settled|closed|handl\w*|previous\w*|before|old|solved|messages?|minor|optional)\b`)
	namesSuccess = wording.Pattern(`\b(?:done|approved?|pass\w*|success\w*|complete\w*|finished|final|ready|ok|status|result|outcome|verdict|state|met|satisfied|implemented|correct|verified|works?|compiles)\b`)
	namesHalves  = wording.Pattern(`\b(?:draft|dry run|truncated|partial|provisional|tentative|preliminary|wip|example|template|aborted|incomplete|cut off)\b`)
	namesStop    = wording.Pattern(`^(?:stop|finish) reason$`)
	isNo         = wording.Pattern(`^(?:false|no|none|0|error|partial\w*|pending|unknown)$`)
	isBad        = wording.Pattern(`^(?:fail\w*|broken|red|incomplete|reject\w*|not \w+|continue|revise)$`)
	isEnd        = wording.Pattern(`^(?:stop|end turn|completed?|done|end)$`)
	parts        = wording.Pattern(`[\s_.-]+`)
	humps        = wording.Pattern(`([\p{Ll}\d])(\p{Lu})`)
)

// against returns the name of a member that contradicts an approval: it names a fault or
// an open point, or denies success. The members of a verdict are checked elsewhere.
func (o object) against() string {
	for _, m := range o {
		switch m.key {
		case "decision", "type", "summary", "feedback", "recovery", "issues", "remaining_issues", "required_changes", "findings", "confidence", "score", "seal",
			"analysis", "severity":
			continue
		}
		if m.key == "risks" && o.grave(m.key) || speaksAgainst(m.name, m.value, false) {
			return m.key
		}
	}
	return ""
}

// speaksAgainst reports whether a member, or one within it, contradicts an approval.
// faults is set within a list of faults.
func speaksAgainst(name string, value any, faults bool) bool {
	key := parts().ReplaceAllString(fold(humps().ReplaceAllString(name, "$1 $2")), " ")
	faults = faults || namesFaults().MatchString(key) && !namesRepairs().MatchString(key)
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if speaksAgainst(name, inner, faults) {
				return true
			}
		}
		return false
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return speaksAgainst(name, item, faults) })
	}
	text := textOf(value)
	said := parts().ReplaceAllString(fold(text), " ")
	if key == "decision" { // contradicted reports it
		return false
	}
	if said == "" || isBad().MatchString(said) || admission(text) != "" {
		return said != ""
	}
	no := isNo().MatchString(said)
	switch {
	case namesStop().MatchString(key):
		return !isEnd().MatchString(said)
	case faults, namesHalves().MatchString(key):
		return !no && !nothing(text)
	}
	return no && namesSuccess().MatchString(key)
}

// grave reports whether one of the risks is high.
func (o object) grave(key string) bool {
	items, _ := o.value(key).([]any)
	return slices.ContainsFunc(items, func(item any) bool {
		m, _ := item.(map[string]any)
		return grave(textOf(m["level"])) || grave(textOf(m["severity"]))
	})
}

func grave(level string) bool {
	return slices.Contains([]string{"high", "critical", "severe", "blocker", "blocking", "fatal"}, strings.ToLower(strings.TrimSpace(level)))
}
