package config

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
)

// A Strategy is how the agents are driven.
type Strategy struct {
	Name   string `key:"name"`
	Jobs   int    `key:"jobs"` // 0: no limit
	values values // of the whole configuration: the parameters of all strategies, and the roles
}

const roleKeys = "strategy.roles."

// below returns the values of a table, by the rest of their keys.
func (s *Strategy) below(table string) map[string]any {
	all := map[string]any{}
	for key, v := range s.values {
		if rest, ok := strings.CutPrefix(key, table); ok {
			all[rest] = v.is
		}
	}
	return all
}

// role returns the settings of a role other than actor and critic, by key.
func (s *Strategy) role(name string) map[string]any { return s.below(roleKeys + name + ".") }

// Roles returns the roles that have settings of their own, sorted.
func (s *Strategy) Roles() (names []string) {
	for key := range s.below(roleKeys) {
		name, _, _ := strings.Cut(key, ".")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Values returns the parameters of all strategies, and the roles that have a description.
func (s *Strategy) Values() strategy.Values {
	all := strategy.Values{Set: s.below("strategy.")}
	for _, name := range s.Roles() {
		own := s.role(name)
		word := func(key string) string { is, _ := own[key].(string); return is }
		if about := word("about"); about != "" {
			all.Members = append(all.Members, strategy.Member{
				Role: loop.Role(name), About: about,
				Instructions: word("instructions"), Strategy: word("strategy"), Accepts: word("accepts"),
			})
		}
	}
	return all
}

// Names reports whether a role has an agent, a model or a fallback of its own.
func (s *Strategy) Names(role string) bool {
	own := s.role(role)
	return own["agent"] != nil || own["model"] != nil || own["fallback"] != nil
}

// Role returns how a role of a strategy is played: like another role, except for its own
// settings. With an agent of its own it does not get the other role's model and fallback.
func (s *Strategy) Role(name string, like Role) Role {
	own := s.role(name)
	if _, set := own["agent"]; set {
		like.Player, like.PriceInput, like.PriceOutput = Player{}, 0, 0
	}
	if len(own) > 0 {
		like.Budget = Budget{}
	}
	walk(reflect.ValueOf(&like).Elem(), "", func(key string, field reflect.Value) {
		if is, ok := own[key]; ok {
			field.Set(reflect.ValueOf(is))
		}
	})
	return like
}

// unknownRoles reports roles that no strategy has, for example misspelled ones.
func (c *Config) unknownRoles() (problems Errors) {
	for _, name := range c.Strategy.Roles() {
		own := c.Strategy.role(name)
		if own["about"] != nil || strategy.HasRole(loop.Role(name)) {
			continue
		}
		first := slices.Sorted(maps.Keys(own))[0]
		problems = append(problems, c.contradiction(roleKeys+name+"."+first, "is for a role that no strategy has",
			"`codeloops strategies` lists the roles; a role of your own needs the key about, which says what it is for")...)
	}
	return problems
}

// strategySchema are the strategies, their parameters and their roles. They need trust,
// because some strategies ask no critic.
func strategySchema() schema {
	s := schema{{key: "strategy.name", value: choice(strategy.Names()...), byDefault: strategy.NameActorCritic, flag: "--strategy"}}
	for _, p := range strategy.AllParameters() {
		s = append(s, setting{key: "strategy." + p.Key, value: valueOf(p), byDefault: p.Default, flag: p.Flag})
	}
	s = append(s, schema{
		{key: "strategy.jobs", value: count(0), byDefault: 0, flag: "--jobs"},
		{key: roleKeys + "*.about", value: text(notBlank), byDefault: "writes the tests"},
		{key: roleKeys + "*.instructions", value: text(notBlank), byDefault: "Write tests, and nothing else."},
		{key: roleKeys + "*.strategy", value: choice(strategy.Loops()...), byDefault: strategy.NameActorCritic},
		{key: roleKeys + "*.accepts", value: text(jsonSchema), byDefault: `{"type": "object", "required": ["files"]}`},
	}...)
	for _, of := range roleSchema(roleKeys+"*", "") {
		of.flag, of.loosens = "", nil
		s = append(s, of)
	}
	return s.guard()
}

// valueOf returns the kind of a parameter.
func valueOf(p strategy.Parameter) kind {
	switch p.Default.(type) {
	case int:
		return countTo(p.Least, cmp.Or(p.Most, math.MaxInt32))
	case float64:
		return fraction()
	case bool:
		return toggle
	case []string:
		return list(notBlank)
	}
	switch {
	case p.Scheme != "":
		return text(addressOr(p.Scheme, p.OneOf))
	case len(p.OneOf) > 0:
		return choice(p.OneOf...)
	}
	if p.Default == "" {
		return text(orEmpty(notBlank))
	}
	return text(notBlank)
}

// jsonSchema rejects a text that is not a valid JSON schema.
func jsonSchema(s string) *fault {
	if _, err := strategy.ReadSchema(s); err != nil {
		return &fault{problem: "is not a JSON schema: " + err.Error(), hint: "write it as JSON, as in accepts = '{\"type\": \"object\"}'"}
	}
	return nil
}

// roleSchema are the keys of a role's player and limits.
func roleSchema(table, flag string) schema {
	return schema{
		{key: table + ".agent", value: text(orEmpty(agentAndModel)), byDefault: "", flag: flag + "agent"},
		{key: table + ".model", value: text(modelName), byDefault: "", flag: flag + "model"},
		{key: table + ".fallback", value: list(agentAndModel), byDefault: []string{}},
		{key: table + ".timeout", value: duration, byDefault: time.Hour, flag: flag + "timeout"},
		{key: table + ".idle_timeout", value: duration, byDefault: 15 * time.Minute},
		{key: table + ".max_cost", value: dollars(), byDefault: 0.0, loosens: moreThanLimit},
		{key: table + ".max_tokens", value: count(0), byDefault: 0, loosens: moreThanLimit},
		{key: table + ".price_input", value: dollars(), byDefault: 0.0},
		{key: table + ".price_output", value: dollars(), byDefault: 0.0},
	}
}
