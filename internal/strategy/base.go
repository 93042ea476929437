package strategy

import (
	"maps"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording/hint"
)

// What strategies that drive another one, their base, have in common.

// nests reports whether the strategy drives another one.
func (k Kind) nests() bool { return k.Base != "" }

// plain reports whether any other strategy, and any member, can drive it.
func (k Kind) plain() bool { return !k.nests() && !k.Members }

// base returns the configured base. If that drives a strategy as well, it is its default.
func (c Choice) base() Choice {
	k, _ := Find(c.word(keyBase))
	set := maps.Clone(c.given)
	maps.Copy(set, c.inner)
	set[keyBase] = ""
	return k.With(Values{Set: set, Members: c.Members})
}

// newBase creates the base of a strategy.
func (c Choice) newBase() (loop.Strategy, error) {
	k, base := c.Kind, c.base()
	if base.Kind.build == nil || base.Kind.Name == k.Name || !base.Kind.plain() && !k.Around {
		return nil, hint.Errorf("it can be one of "+strings.Join(k.Bases(), ", "), "the base of %s cannot be %q", k.Name, c.word(keyBase))
	}
	if base.Kind.Members {
		if err := c.checkRoleNames(); err != nil {
			return nil, err
		}
	}
	return base.New(c.lessons)
}

// judging returns the strategy that judges a base's work again and continues from there, without
// the base's preparations.
func judging(base loop.Strategy) loop.Strategy {
	switch base := base.(type) {
	case ReAct:
		return base
	case SelfRefine:
		base.Base = judging(base.Base)
		return base
	case Debate:
		return judging(base.Base)
	case ReWOO:
		return judging(base.Base)
	}
	return ActorCritic{}
}

// Bases returns the names of the strategies that it can drive.
func (k Kind) Bases() []string {
	return named(func(other Kind) bool { return other.Name != k.Name && (k.Around || other.plain()) })
}

// mostOfBase is the largest number of turns of the base when it is driven this many times within
// the iterations of the run.
func (c Choice) mostOfBase(times, iterations int) int {
	most := c.base().Most(iterations)
	if most < 0 {
		return most
	}
	return most + (times-1)*max(0, most-2*iterations)
}

// Chooses reports whether the strategy, or what it drives, uses the members that the user has
// named.
func (c Choice) Chooses() bool { return c.Kind.Members || c.Kind.nests() && c.base().Kind.Members }

// Plans reports whether the strategy, or what it drives, makes a plan, and whether the user is to
// approve it.
func (c Choice) Plans() (plans, asks bool) {
	if c.drives(NamePlan) {
		c = c.base()
	}
	return c.Kind.Name == NamePlan, c.on(keyApprove)
}

func (c Choice) drives(name string) bool { return c.Kind.nests() && c.base().Kind.Name == name }

// Judged reports whether a critic is asked.
func (c Choice) Judged() bool {
	switch k := c.Kind; {
	case k.Name == NameReAct:
		return false
	case k.Name == NamePlan || !k.nests(): // a plan is judged as a whole
		return true
	}
	return c.base().Judged()
}

// Unjudged names a part that asks no critic, so that no score can approve it; "" is none.
func (c Choice) Unjudged() string {
	if c.Kind.Name == NameReAct {
		return NameReAct
	}
	if c.Kind.Members {
		for _, m := range c.Members {
			if m.Strategy == NameReAct {
				return "the member " + string(m.Role)
			}
		}
	}
	if c.Kind.nests() {
		return c.base().Unjudged()
	}
	return ""
}

// Refines reports whether the actor's agent has turns in which it looks at its own work.
func (c Choice) Refines() bool { return c.Kind.Name == NameSelfRefine || c.drives(NameSelfRefine) }
