package strategy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// The names of the strategies.
const (
	NameActorCritic = "actor-critic"
	NameReAct       = "react"
	NameSelfRefine  = "self-refine"
	NameReflexion   = "reflexion"
	NameTree        = "tree-of-thoughts"
	NameDebate      = "debate"
	NamePlan        = "plan-and-execute"
	NameReWOO       = "rewoo"
	NameRouter      = "router"
	NameSupervisor  = "supervisor"
	NameSwarm       = "swarm"
	NameBlackboard  = "blackboard"
)

// A Kind describes a strategy, as a list of strategies shows it.
type Kind struct {
	Name  string
	About string // what it does, in a sentence
	When  string // when to use it, in a sentence
	Turns string // the turns of a round
	// Parameters are those that it uses.
	Parameters []Parameter
	// Base is the default strategy that it drives; "": it drives none. Around: it can drive any
	// other strategy, not only those that drive none themselves.
	Base   string
	Around bool
	// Members: it uses the roles that the user has named in addition to its own. Those may write.
	Members bool
	// Roles are the roles of its own turns, with their access to the work tree. Seats says how many
	// play each: "debater_N" stands for debater_1 and so on.
	Roles map[loop.Role]loop.Access
	Seats func(Choice, loop.Role) int // 1 if nil

	most  func(c Choice, iterations int) int // see [Choice.Most]
	build func(Choice) (loop.Strategy, error)
}

// All returns the strategies in the order in which they are listed.
func All() []Kind {
	return []Kind{actorCritic(), react(), selfRefine(), reflexion(), treeOfThoughts(), debate(), planAndExecute(), rewoo(), router(), supervisor(), swarm(), blackboard()}
}

// Names returns the names of all strategies.
func Names() []string { return named(func(Kind) bool { return true }) }

// named returns the names of some strategies.
func named(which func(Kind) bool) (names []string) {
	for _, k := range All() {
		if which(k) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Find returns the strategy with a name; "" is the default.
func Find(name string) (Kind, bool) {
	all := All()
	if name == "" {
		return all[0], true
	}
	i := slices.IndexFunc(all, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return all[i], true
}

// has reports whether the strategy uses a parameter.
func (k Kind) has(key string) bool {
	return slices.ContainsFunc(k.Parameters, func(p Parameter) bool { return p.Key == key })
}

// A Choice is a strategy and the values of its parameters.
type Choice struct {
	Kind Kind
	Values

	given   map[string]any // Set without the strategy's own defaults
	inner   map[string]any // the values of the base, if a log has them
	lessons Lessons
}

// With returns the strategy with these values, and with its own defaults where nothing is set.
func (k Kind) With(v Values) Choice {
	c := Choice{Kind: k, Values: v, given: v.Set}
	c.Set = maps.Clone(v.Set)
	if is, _ := c.Set[keyBase].(string); is == "" && k.nests() {
		c.Set[keyBase] = k.Base
	}
	for _, p := range k.Parameters {
		if n, ok := c.Set[p.Key].(int); ok && n < p.Least {
			c.Set[p.Key] = p.Default
		}
	}
	return c
}

// as returns another strategy with the same values.
func (c Choice) as(k Kind) Choice { return k.With(Values{Set: c.given, Members: c.Members}) }

// New returns the strategy, ready to be run. Lessons are for one that learns.
func (c Choice) New(lessons Lessons) (loop.Strategy, error) {
	c.lessons = lessons
	return c.Kind.build(c)
}

// Drive returns the strategy of a whole run, which is not done while the user waits to be heard.
func (c Choice) Drive(lessons Lessons) (loop.Strategy, error) {
	s, err := c.New(lessons)
	if err != nil {
		return nil, err
	}
	h := hearing{Strategy: s, rest: judging(s)}
	if !c.Judged() {
		h.rest = ReAct{}
	}
	return h, nil
}

type hearing struct {
	loop.Strategy

	rest loop.Strategy // does what is said after that
}

// Run implements [loop.Strategy].
func (h hearing) Run(ctx context.Context, steps *loop.Steps) (loop.Outcome, error) {
	out, err := h.Strategy.Run(ctx, steps)
	for n := 1; err == nil && out.Reason == loop.StopDone; n++ {
		more, e := steps.Waits(ctx, n)
		if e != nil || !more {
			return out, e
		}
		leave := steps.Within(steps.Step("said_%d", n))
		out, err = h.rest.Run(ctx, steps)
		leave()
	}
	return out, err
}

// Most is the largest possible number of agent turns with this many iterations; -1 if there is no
// limit.
func (c Choice) Most(iterations int) int { return c.Kind.most(c, iterations) }

// numbered ends the names of roles that occur several times, each with a number.
const numbered = "_N"

// Cast returns all roles besides actor and critic, with their access to the work tree: the
// strategy's own, those of its base, and those that the user has named.
func (c Choice) Cast() map[loop.Role]loop.Access {
	all := map[loop.Role]loop.Access{}
	for role, access := range c.Kind.Roles {
		seats := 1
		if c.Kind.Seats != nil {
			seats = c.Kind.Seats(c, role)
		}
		kind, several := strings.CutSuffix(string(role), numbered)
		for i := range seats {
			if several {
				role = loop.Role(fmt.Sprintf("%s_%d", kind, i+1))
			}
			all[role] = access
		}
	}
	if c.Kind.nests() {
		maps.Copy(all, c.base().Cast())
	}
	if c.Kind.Members {
		for _, m := range c.Members {
			all[m.Role] = loop.Write
			if of, ok := Find(m.Strategy); ok {
				maps.Copy(all, of.Roles)
			}
		}
	}
	return all
}

// HasRole reports whether any strategy has a role with that name.
func HasRole(role loop.Role) bool {
	kind := strings.TrimRight(string(role), "0123456789")
	if kind != string(role) && strings.HasSuffix(kind, "_") {
		role = loop.Role(strings.TrimSuffix(kind, "_")) + numbered
	}
	return slices.ContainsFunc(All(), func(k Kind) bool {
		_, has := k.Roles[role]
		return has
	})
}

func times(n, turns int) int {
	if n <= 0 {
		return -1
	}
	return n * turns
}

func plus(n, turns int) int {
	if n < 0 {
		return -1
	}
	return n + turns
}

// fewer is the lower of two limits, where 0 is no limit.
func fewer(n, most int) int {
	if n <= 0 || most > 0 && most < n {
		n = most
	}
	return times(n, 1)
}

// failing returns the commands of the checks that have not passed.
func failing(checks []loop.CheckResult) (commands []string) {
	for _, c := range checks {
		if !c.Passed() {
			commands = append(commands, c.Command)
		}
	}
	return commands
}
