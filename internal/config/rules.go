package config

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// TrustRule is the key of the rule for the trusted project file: its value is the
// content's SHA-256, its origin the file.
const TrustRule = "trust"

// A Loosening is a rule that is weaker than before.
type Loosening struct {
	Key    string
	Origin string // where it was set
	said   string
}

// String returns it as the end of a sentence.
func (l Loosening) String() string { return l.said }

// A looser reports whether a value constrains a run less than an earlier one. Both have
// the types that [Config] holds. Keys without one affect neither whether work counts as
// done nor what it may cost.
type looser func(was, is any) bool

// Rules returns the rules of a run in the order of the schema. It omits defaults, except
// for the profile. The definitions of the user's own agents that judge follow, then the
// trusted project file.
func (c *Config) Rules() []loop.Rule {
	keys := newSchema()
	var all []loop.Rule
	for _, e := range c.entries() {
		s, _ := keys.find(strings.Split(e.Key, "."))
		if s.looser == nil && (!c.judges(e.Key) || e.Origin.Layer == Default) ||
			s.looser != nil && e.Key != "profile" && reflect.DeepEqual(e.Value, fileForm(s.Default)) {
			continue
		}
		all = append(all, loop.Rule{Key: e.Key, Values: texts(e.Key, e.Value), Origin: e.Origin.String()})
	}
	if c.trusted != "" {
		all = append(all, loop.Rule{Key: TrustRule, Values: []string{c.trusted}, Origin: c.paths.Project})
	}
	return all
}

// judges reports whether a key says what a role is told, which may be one that judges, or defines one
// of the user's own agents that may play the critic. Environment values are excluded: they stay out
// of every log.
func (c *Config) judges(key string) bool {
	if rest, ofRole := strings.CutPrefix(key, roleKeys); ofRole {
		return strings.HasSuffix(rest, ".instructions") || isTemplate(rest)
	}
	for _, entry := range slices.Concat([]string{c.Critic.Agent}, c.Critic.Fallback, c.Critic.Members) {
		name := loop.ParseAgent(entry).Agent
		if strings.HasPrefix(key, "agents."+name+".") && !strings.HasPrefix(key, "agents."+name+".env.") && key != "agents."+name+".install" {
			return true
		}
	}
	return false
}

func isTemplate(key string) bool { return strings.HasSuffix(key, "template") }

// texts formats a value for a log. A template is replaced by its digest.
func texts(key string, is any) []string {
	switch v := is.(type) {
	case []string:
		return v
	case string:
		if isTemplate(key) && v != "" {
			return []string{fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(v)))}
		}
		return []string{v}
	}
	return []string{fmt.Sprint(is)}
}

// Loosened compares the rules of two runs and returns those that are weaker in the second
// one.
func Loosened(was, now []loop.Rule) (all []Loosening) {
	seen := map[string]bool{}
	for _, r := range slices.Concat(was, now) {
		then, is := ruleOf(was, r.Key), ruleOf(now, r.Key)
		switch {
		case seen[r.Key]:
		case r.Key == TrustRule:
			if is.Key != "" && !slices.Equal(then.Values, is.Values) {
				all = append(all, Loosening{r.Key, is.Origin, is.Origin + " was not trusted as it is now"})
			}
		case weaker(then, is):
			origin := cmp.Or(then.Origin, is.Origin)
			all = append(all, Loosening{r.Key, origin, fmt.Sprintf("%s = %s (%s) is %s now", r.Key, tomlOf(then, "none"), origin, tomlOf(is, "gone"))})
		}
		seen[r.Key] = true
	}
	return all
}

// ruleOf returns the rule for a key, or that for its default value. The zero value is neither, as for an agent or a
// key of another version of codeloops.
func ruleOf(rules []loop.Rule, key string) loop.Rule {
	if i := slices.IndexFunc(rules, func(r loop.Rule) bool { return r.Key == key }); i >= 0 {
		return rules[i]
	}
	if v, ok := newSchema().defaults().values[key]; ok {
		return loop.Rule{Key: key, Values: texts(key, fileForm(v.is)), Origin: v.origin.String()}
	}
	return loop.Rule{}
}

func weaker(was, is loop.Rule) bool {
	s, _ := newSchema().find(strings.Split(was.Key, "."))
	before, ok := valueIn(was)
	after, readable := valueIn(is)
	if s.looser == nil || !ok || !readable {
		return !slices.Equal(was.Values, is.Values)
	}
	return s.looser(before, after)
}

// valueIn returns a rule's value in the type that [Config] holds.
func valueIn(r loop.Rule) (any, bool) {
	s, ok := newSchema().find(strings.Split(r.Key, "."))
	if !ok {
		return nil, false
	}
	if _, isList := s.Default.([]string); isList {
		return r.Values, true
	}
	if len(r.Values) != 1 {
		return nil, false
	}
	if isTemplate(r.Key) {
		return r.Values[0], true
	}
	is, f := s.read(word(r.Values[0]))
	return is, f == nil
}

// tomlOf returns a rule's value as TOML, or otherwise if there is no rule.
func tomlOf(r loop.Rule, otherwise string) string {
	is, ok := valueIn(r)
	switch {
	case r.Key == "":
		return otherwise
	case !ok:
		return tomlText(r.Values)
	}
	if list, isList := is.([]string); isList && list == nil {
		is = []string{}
	}
	return tomlText(fileForm(is))
}

// loosers are the comparisons by their names in the tag "looser". Choices are those of the
// key, in the order in which they are declared.
func loosers(choices []string) map[string]looser {
	ordered := make([]any, len(choices))
	for i, c := range choices {
		ordered[i] = c
	}
	reversed := slices.Clone(ordered)
	slices.Reverse(reversed)
	return map[string]looser{
		"ordered": lower(ordered...), "reversed": lower(reversed...), "tree": becomes("tree"),
		"switch": lower(false, true), "unset": lower(true, false), "limit": moreThanLimit, "less": lessOf,
		"differs": differs, "lacks": lacks, "exceptions": adds, "allowed": allowsMore,
		"panel": otherPanel, "quorum": lowerQuorum,
	}
}

func differs(was, is any) bool { return !reflect.DeepEqual(was, is) }

// lower is for ordered choices, the loosest first.
func lower(order ...any) looser {
	return func(was, is any) bool { return slices.Index(order, is) < slices.Index(order, was) }
}

// becomes is for a choice with one value that is weaker than all others.
func becomes(loosest string) looser {
	return func(was, is any) bool { return was != loosest && is == loosest }
}

// lacks is for a list whose elements are all constraints.
func lacks(was, is any) bool {
	before, _ := was.([]string)
	after, _ := is.([]string)
	return slices.ContainsFunc(before, func(s string) bool { return !slices.Contains(after, s) })
}

// adds is for a list of exceptions.
func adds(was, is any) bool { return lacks(is, was) }

// allowsMore is for a list of what is allowed; an empty one allows everything.
func allowsMore(was, is any) bool {
	before, _ := was.([]string)
	after, _ := is.([]string)
	return len(before) > 0 && (len(after) == 0 || adds(was, is))
}

// lessOf is for a number that must be reached.
func lessOf(was, is any) bool { return number(is) < number(was) }

// moreThanLimit is for a number that may not be exceeded; 0 is no limit.
func moreThanLimit(was, is any) bool {
	before, after := number(was), number(is)
	return before > 0 && (after == 0 || after > before)
}

func number(is any) float64 {
	switch v := reflect.ValueOf(is); {
	case v.CanInt():
		return float64(v.Int())
	case v.CanFloat():
		return v.Float()
	}
	return 0
}
