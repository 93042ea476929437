package critic

import (
	"regexp"
	"slices"
	"strings"
)

// What the members of an approval may be called, in lower case and with one blank
// between words.
var (
	namesFaults  = regexp.MustCompile(`\b(?:fail\w*|errors?|problems?|bugs?|block\w*|faults?|missing|todos?|remaining|open|unresolved|next steps|must \w+|broken|conditions?)\b`)
	namesRepairs = regexp.MustCompile(`\b(?:fixed|resolved|settled|closed|handl\w*|previous\w*|before|old|solved|messages?)\b`)
	namesSuccess = regexp.MustCompile(`\b(?:done|approved?|pass\w*|success\w*|complete\w*|finished|final|ready|ok|status|result|outcome|verdict|state)\b`)
	namesHalves  = regexp.MustCompile(`\b(?:draft|dry run|truncated|partial|provisional|tentative|preliminary|wip|example|template|aborted|incomplete|cut off)\b`)
	namesStop    = regexp.MustCompile(`^(?:stop|finish) reason$`)
	isNo         = regexp.MustCompile(`^(?:false|no|0|fail\w*|errors?|incomplete|partial\w*|reject\w*|not \w+|pending|continue|revise|unknown)$`)
	isEnd        = regexp.MustCompile(`^(?:stop|end turn|completed?|done|end)$`)
	parts        = regexp.MustCompile(`[\s_.-]+`)
	humps        = regexp.MustCompile(`([\p{Ll}\d])(\p{Lu})`)
)

// against returns a member that an approval cannot have: one that names what is
// wrong or open, or says that something is not so. The members of a verdict are
// read on their own.
func (o object) against() string {
	for _, m := range o {
		key := parts.ReplaceAllString(fold(humps.ReplaceAllString(m.name, "$1 $2")), " ")
		said := parts.ReplaceAllString(strings.TrimSpace(fold(o.text(m.key))), " ")
		no := isNo.MatchString(said)
		var is bool
		switch key {
		case "decision", "type", "summary", "feedback", "recovery", "issues", "remaining issues", "findings", "confidence", "score", "seal", "analysis", "reason", "severity":
			continue
		}
		switch {
		case key == "risks":
			is = o.grave(m.key)
		case namesStop.MatchString(key):
			is = said != "" && !isEnd.MatchString(said)
		case namesSuccess.MatchString(key) && !namesFaults.MatchString(key):
			is = no
		case namesHalves.MatchString(key):
			is = said != "" && !no && !nothing(said)
		case namesFaults.MatchString(key) && !namesRepairs.MatchString(key):
			is = !m.empty() && !no && !o.clean(m.key)
		}
		if is || admission(o.text(m.key)) != "" {
			return m.key
		}
	}
	return ""
}

// grave reports whether a risk is said to be high.
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

// clean reports whether all that a member lists says that there is nothing.
func (o object) clean(key string) bool {
	for _, item := range o.list(key) {
		if !nothing(item) {
			return false
		}
	}
	return true
}
