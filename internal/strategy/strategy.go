package strategy

import (
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

// A Kind is a way of driving agents, as a list of them shows it.
type Kind struct {
	Name  string
	About string // what it does, in a sentence
	When  string // when to use it, likewise
	Turns string // what turns a round has
	// Parameters are those that bear on it.
	Parameters []Parameter
	// Base is what it drives where nothing else is set; "": it drives nothing. Around says that
	// it drives any other strategy, and not those alone that drive nothing themselves.
	Base   string
	Around bool
	// Members: it plays with the roles that the user has named, beside its own. Those may write.
	Members bool
	// Roles are those of its own turns, each with what it may do to the work tree. Where there
	// are several of a kind, Seats says how many: "debater_N" are debater_1 and so on.
	Roles map[loop.Role]loop.Access
	Seats func(Values) int
	// Most is how many turns of agents there can be at most, with this many iterations; -1
	// where nothing bounds them.
	Most func(v Values, iterations int) int

	make func(Values) (loop.Strategy, error)
}

// All are the strategies, in the order in which they are listed.
func All() []Kind {
	return []Kind{actorCritic(), react(), selfRefine(), reflexion(), treeOfThoughts(), debate(), planAndExecute(), rewoo(), router(), supervisor(), swarm(), blackboard()}
}

// Names are those of all strategies.
func Names() (names []string) {
	for _, k := range All() {
		names = append(names, k.Name)
	}
	return names
}

// Find returns the strategy of a name; "" is the default.
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

// New makes the strategy that a session names. The lessons are for one that learns.
func New(ref loop.StrategyRef, lessons Lessons) (loop.Strategy, error) {
	k, values, err := Read(ref)
	if err != nil {
		return nil, err
	}
	values.lessons = lessons
	return k.make(values)
}

// has reports whether a parameter bears on the strategy.
func (k Kind) has(key string) bool {
	return slices.ContainsFunc(k.Parameters, func(p Parameter) bool { return p.Key == key })
}

// With completes values with what is the strategy's own default, where nothing else is set.
func (k Kind) With(v Values) Values {
	if v.given == nil {
		v.given = v.Set
	}
	v.Set = maps.Clone(v.given)
	if is, _ := v.Set[keyBase].(string); is == "" && k.nests() {
		v.Set[keyBase] = k.Base
	}
	for _, p := range k.Parameters {
		if n, ok := v.Set[p.Key].(int); ok && n < p.Least {
			v.Set[p.Key] = p.Default
		}
	}
	return v
}

// numbered ends the name of a role that several have, each with its number.
const numbered = "_N"

// Cast returns all roles beside actor and critic that turns have, each with what it may do to
// the work tree: the strategy's own, those of its base, and those that the user has named.
func (k Kind) Cast(v Values) map[loop.Role]loop.Access {
	all := map[loop.Role]loop.Access{}
	for role, access := range k.Roles {
		kind, several := strings.CutSuffix(string(role), numbered)
		if !several {
			all[role] = access
			continue
		}
		for i := range k.Seats(v) {
			all[loop.Role(fmt.Sprintf("%s_%d", kind, i+1))] = access
		}
	}
	if k.nests() {
		maps.Copy(all, v.base().Cast(v.ofBase()))
	}
	if k.Members {
		for _, m := range v.Members {
			all[m.Role] = loop.Write
			if of, ok := Find(m.Strategy); ok {
				maps.Copy(all, of.Roles)
			}
		}
	}
	return all
}

// HasRole reports whether any strategy has a role of that name.
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

// fewer is the lower of two limits, of which 0 is none.
func fewer(n, most int) int {
	if n <= 0 || most > 0 && most < n {
		n = most
	}
	return times(n, 1)
}

// failing names the checks that have not passed.
func failing(checks []loop.CheckResult) (commands []string) {
	for _, c := range checks {
		if !c.Passed() {
			commands = append(commands, c.Command)
		}
	}
	return commands
}
