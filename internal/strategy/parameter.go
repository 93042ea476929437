package strategy

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// A Parameter is a setting of strategies in the table [strategy] of the configuration.
type Parameter struct {
	Key     string
	Default any      // an int, a float64 from 0 to 1, a bool, a string or a []string; all values have its type
	Least   int      // of an int
	Most    int      // of an int; 0: no limit of its own
	OneOf   []string // the valid strings; empty: any that is not blank
	Scheme  string   // scheme of URLs that are also valid; "": none
	Flag    string   // of the command line, without the dashes; "": none
	Help    string   // what it does
}

// MostAtOnce is how many agents a strategy may be told to let work at the same time.
const MostAtOnce = 1000

// read parses a logged value: a string as it is, anything else as JSON.
func (p Parameter) read(text string) (any, error) {
	if _, is := p.Default.(string); is {
		return text, nil
	}
	is := reflect.New(reflect.TypeOf(p.Default))
	if err := json.Unmarshal([]byte(text), is.Interface()); err != nil {
		return nil, fmt.Errorf("%s is %q: %w", p.Key, text, err)
	}
	return is.Elem().Interface(), nil
}

// text formats a value for the log.
func text(is any) string {
	if s, ok := is.(string); ok {
		return s
	}
	text, _ := json.Marshal(is) // all of them can be marshalled
	return string(text)
}

// Parameters of more than one strategy.
func baseOf() Parameter {
	return Parameter{Key: keyBase, Default: "", Help: "what a strategy drives: self-refine and reflexion any other one, debate, rewoo and plan-and-execute a loop. \"\" is react for the first two, else actor-critic"}
} // "": see [Kind.Base]

func maxTurns() Parameter {
	return Parameter{Key: keyMaxTurns, Default: 0, Help: "react: the most turns of the agent; 0 is no limit but max_iterations"}
}

// The parameters that limit how long a strategy goes on.
const (
	keyMaxTurns    = "max_turns"
	keyMaxAttempts = "max_attempts"
	keyMaxRounds   = "max_rounds"
	keyMaxReplans  = "max_replans"
	keyStepRounds  = "step_rounds"
)

// bounded is the end of a strategy at such a limit.
func bounded(key, why string) loop.Outcome {
	return loop.Outcome{Reason: loop.StopMaxIterations, Cause: key, Summary: why}
}

// undecided is the end of a strategy because a role gave no decision.
func undecided(role loop.Role, why string) loop.Outcome {
	return loop.Outcome{Reason: loop.StopNoDecision, Cause: string(role), Summary: why}
}

func maxSteps() Parameter {
	return Parameter{Key: "max_steps", Default: 8, Least: 1, Help: "plan-and-execute, rewoo: the most steps of a plan"}
} // of a plan

const (
	keyBase       = "base"
	helpMaxRounds = "self-refine: the most critiques; supervisor and blackboard: how often the coordinator is asked. 0 is 3 for self-refine, and 10 for the others"
)

// AllParameters returns those of all strategies, each once. A parameter whose default depends on
// the strategy has the default 0 here; see [Kind.With].
func AllParameters() (all []Parameter) {
	for _, k := range All() {
		for _, p := range k.Parameters {
			i := slices.IndexFunc(all, func(other Parameter) bool { return other.Key == p.Key })
			if i < 0 {
				all = append(all, p)
			} else if all[i].Default != p.Default {
				all[i].Default, all[i].Least = 0, 0
			}
		}
	}
	i := slices.IndexFunc(all, func(p Parameter) bool { return p.Key == keyBase })
	all[i].OneOf = append([]string{baseOf().Default.(string)}, Names()...)
	return all
}

// Loops returns the names of the strategies that a member can work with.
func Loops() []string { return named(Kind.plain) }

// A Member is a role that the user has named, for strategies that choose who works.
type Member struct {
	Role         loop.Role
	About        string // its purpose, in a few words
	Instructions string // for its agent, in addition to the task
	Strategy     string // the strategy it works with; "": a single turn
	Accepts      string // the JSON schema of handoffs to it; "": any object
	Passes       string // what it is shown of what was said: "none", "last" or "all"; "": see pass_full_history
}

// fields returns the logged fields of a member, by key.
func (m *Member) fields() map[string]*string {
	return map[string]*string{"about": &m.About, "instructions": &m.Instructions, "strategy": &m.Strategy, "accepts": &m.Accepts, "passes": &m.Passes}
}

// Values are the parameters of all strategies, by key.
type Values struct {
	Set     map[string]any
	Members []Member
}

func (v Values) count(key string) int        { return v.Set[key].(int) }
func (v Values) fraction(key string) float64 { return v.Set[key].(float64) }
func (v Values) on(key string) bool          { return v.Set[key].(bool) }
func (v Values) word(key string) string      { return v.Set[key].(string) }
func (v Values) words(key string) []string   { return v.Set[key].([]string) }

// The prefixes of parameters in a log that belong to members and to the base.
const (
	memberKeys = "roles."
	baseKeys   = "base."
)

// OfMember reports whether a logged parameter belongs to a member.
func OfMember(key string) bool { return strings.HasPrefix(key, memberKeys) }

// member sets a logged field of a member.
func (v *Values) member(key, is string) {
	name, field, _ := strings.Cut(key, ".")
	i := slices.IndexFunc(v.Members, func(m Member) bool { return m.Role == loop.Role(name) })
	if i < 0 {
		i, v.Members = len(v.Members), append(v.Members, Member{Role: loop.Role(name)})
	}
	if f := v.Members[i].fields()[field]; f != nil {
		*f = is
	}
}

// Ref returns the strategy and its parameters as they are logged; the default strategy is the
// zero value.
func (c Choice) Ref() (ref loop.StrategyRef) {
	if c.Kind.Name == NameActorCritic {
		return ref
	}
	ref.Name = c.Kind.Name
	for _, p := range c.Kind.Parameters {
		ref.Parameters = append(ref.Parameters, loop.Parameter{Key: p.Key, Value: text(c.Set[p.Key])})
	}
	if c.Kind.nests() {
		base := c.base()
		for _, p := range base.Kind.Parameters {
			is := text(base.Set[p.Key])
			if p.Key != keyBase && (!c.Kind.has(p.Key) || text(c.Set[p.Key]) != is) {
				ref.Parameters = append(ref.Parameters, loop.Parameter{Key: baseKeys + p.Key, Value: is})
			}
		}
	}
	if !c.Chooses() {
		return ref
	}
	for _, m := range c.Members {
		for _, key := range []string{"about", "instructions", "strategy", "accepts", "passes"} {
			if is := *m.fields()[key]; is != "" {
				ref.Parameters = append(ref.Parameters, loop.Parameter{Key: memberKeys + string(m.Role) + "." + key, Value: is})
			}
		}
	}
	return ref
}

// Read returns a session's strategy and its parameters. Missing parameters have their defaults;
// unknown ones, as from a later version, are ignored.
func Read(ref loop.StrategyRef) (c Choice, err error) {
	k, ok := Find(ref.Name)
	if !ok {
		return c, fmt.Errorf("there is no strategy %q", ref.Name)
	}
	known, values, inner := map[string]Parameter{}, Values{Set: map[string]any{}}, map[string]any{}
	for _, p := range AllParameters() {
		known[p.Key], values.Set[p.Key] = p, p.Default
	}
	for _, x := range ref.Parameters {
		set, of := values.Set, x.Key
		if key, ok := strings.CutPrefix(x.Key, baseKeys); ok {
			set, of = inner, key
		}
		if p, ok := known[of]; ok {
			if set[of], err = p.read(x.Value); err != nil {
				return c, fmt.Errorf("the strategy %s: %w", k.Name, err)
			}
		} else if key, ok := strings.CutPrefix(x.Key, memberKeys); ok {
			values.member(key, x.Value)
		}
	}
	c = k.With(values)
	c.inner = inner
	return c, nil
}
