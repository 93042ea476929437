package config

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strconv"
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

// Rules returns the rules of a run in the order of the schema. It omits defaults, except
// for the profile. The definitions of the user's own agents that judge follow, then the
// trusted project file.
func (c *Config) Rules() []loop.Rule {
	var all []loop.Rule
	for _, e := range c.entries() {
		k, _ := find(split(e.Key))
		isRule := k.looser != "" && !k.named()
		if !isRule && !c.judges(e.Key) || isRule && e.Key != "profile" && reflect.DeepEqual(e.Value, fileForm(k.Default)) {
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
	if rest, ofRole := strings.CutPrefix(key, "strategy.roles."); ofRole {
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
	if k, ok := find(split(key)); ok && !k.named() {
		return loop.Rule{Key: key, Values: texts(key, fileForm(k.Default)), Origin: string(Default)}
	}
	return loop.Rule{}
}

func weaker(was, is loop.Rule) bool {
	k, _ := find(split(was.Key))
	before, ok := valueIn(was)
	after, readable := valueIn(is)
	if k.looser == "" || k.named() || !ok || !readable {
		return !slices.Equal(was.Values, is.Values)
	}
	return k.loosened(before, after)
}

// valueIn returns a rule's value in the type that [Config] holds.
func valueIn(r loop.Rule) (any, bool) {
	k, ok := find(split(r.Key))
	switch {
	case !ok, !k.isList() && len(r.Values) != 1:
		return nil, false
	case k.isList():
		return append([]string{}, r.Values...), true
	case isTemplate(r.Key):
		return r.Values[0], true
	}
	is, f := k.parse(r.Values)
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
	return tomlText(fileForm(is))
}

// loosened reports whether a value constrains a run less than an earlier one. Both have the types that
// [Config] holds. Keys without the tag "looser" affect neither whether work counts as done nor what it may cost.
func (k Key) loosened(was, is any) bool {
	switch k.looser {
	case "less": // a number that must be reached, a switch, or choices of which the loosest is the first
		return k.rank(is) < k.rank(was)
	case "more": // the contrary
		return k.rank(is) > k.rank(was)
	case "limit": // a number that may not be exceeded; 0 is no limit
		return number(was) > 0 && (number(is) == 0 || number(is) > number(was))
	case "quorum": // "all" is the highest; "majority" may be lower or higher than a number
		low, errLow := strconv.Atoi(fmt.Sprint(is))
		high, errHigh := strconv.Atoi(fmt.Sprint(was))
		return is != was && is != "all" && (errLow != nil || errHigh != nil || low < high)
	case "differs":
		return !reflect.DeepEqual(was, is)
	}
	if k.isList() {
		return k.loosenedList(was.([]string), is.([]string))
	}
	return was != k.looser && is == k.looser // the one choice that is looser than all others
}

func (k Key) loosenedList(was, is []string) bool {
	lacks := func(list, of []string) bool {
		return slices.ContainsFunc(of, func(s string) bool { return !slices.Contains(list, s) })
	}
	switch k.looser {
	case "exceptions": // what is exempt
		return lacks(was, is)
	case "allowed": // what is allowed; nothing is all
		return len(was) > 0 && (len(is) == 0 || lacks(was, is))
	case "panel": // those who judge; none is one critic
		return len(was) > 0 && !slices.Equal(was, is)
	}
	return lacks(is, was) // "lacks": all elements are constraints
}

// rank returns a value as a number, which for a choice is its place among them.
func (k Key) rank(is any) float64 {
	if s, ok := is.(string); ok {
		return float64(slices.Index(k.Choices, s))
	}
	return number(is)
}
