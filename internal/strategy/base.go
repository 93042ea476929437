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

// base returns the configured base.
func (v Values) base() Kind {
	k, _ := Find(v.word(keyBase))
	return k
}

// ofBase returns the values of the base. If that drives a strategy as well, it is its default.
func (v Values) ofBase() Values {
	set := maps.Clone(v.given)
	maps.Copy(set, v.inner)
	set[keyBase] = ""
	return v.base().With(Values{Set: set, Members: v.Members, lessons: v.lessons})
}

// newBase creates the base of a strategy.
func (v Values) newBase(k Kind) (loop.Strategy, error) {
	base := v.base()
	if base.build == nil || base.Name == k.Name || !base.plain() && !k.Around {
		return nil, hint.Errorf("it can be one of "+strings.Join(k.bases(), ", "), "the base of %s cannot be %q", k.Name, v.word(keyBase))
	}
	if base.Members {
		if err := v.checkRoleNames(k); err != nil {
			return nil, err
		}
	}
	return base.build(base, v.ofBase())
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

// bases returns the names of the strategies that it can drive.
func (k Kind) bases() []string {
	return named(func(other Kind) bool { return other.Name != k.Name && (k.Around || other.plain()) })
}

// mostOfBase is the largest number of turns of the base when it is driven this many times within
// the iterations of the run.
func (v Values) mostOfBase(times, iterations int) int {
	most := v.base().Most(v.ofBase(), iterations)
	if most < 0 {
		return most
	}
	return most + (times-1)*max(0, most-2*iterations)
}

// Chooses reports whether the strategy, or what it drives, uses the members that the user has
// named.
func (k Kind) Chooses(v Values) bool { return k.Members || k.nests() && v.base().Members }

// Plans reports whether the strategy, or what it drives, makes a plan, and whether the user is to
// approve it.
func (k Kind) Plans(v Values) (plans, asks bool) {
	if k.nests() && v.base().Name == NamePlan {
		k, v = v.base(), v.ofBase()
	}
	return k.Name == NamePlan, v.on(KeyApprove)
}

// Judged reports whether a critic is asked.
func (k Kind) Judged(v Values) bool {
	switch {
	case k.Name == NameReAct:
		return false
	case k.Name == NamePlan || !k.nests(): // a plan is judged as a whole
		return true
	}
	return v.base().Judged(v.ofBase())
}

// Refines reports whether the actor's agent has turns in which it looks at its own work.
func (k Kind) Refines(v Values) bool {
	return k.Name == NameSelfRefine || k.nests() && v.base().Name == NameSelfRefine
}
