package run

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/strategy"
	"codeloops/internal/wording/hint"
)

// Settings are the options given for a run. The zero value is none.
type Settings struct {
	flags  []loop.Flag
	values map[string][]string // as typed, by configuration key
}

// NewSettings takes flags, which have the names of [config.Flags]. It rejects those that contradict each other; the
// configuration checks their values.
func NewSettings(flags []loop.Flag) (Settings, error) {
	s := Settings{flags: flags, values: map[string][]string{}}
	by := map[string]loop.Flag{} // what has set a key
	for _, f := range flags {
		k, ok := config.FlagOf(f.Name)
		if !ok {
			return s, fmt.Errorf("there is no setting %q", f.Name)
		}
		set, err := k.Given(f.Values)
		if err != nil {
			return s, err
		}
		for key, words := range set {
			if before, ok := s.values[key]; ok && !slices.Equal(before, words) && by[key].Name != f.Name { // of one flag, the last counts
				return s, hint.Errorf("leave one of them out", "%s and %s contradict each other", spelled(by[key]), spelled(f))
			}
			s.values[key], by[key] = words, f
		}
	}
	return s, nil
}

func spelled(f loop.Flag) string { return strings.Join(Spelled([]loop.Flag{f}), " ") }

// FromAnywhere makes the paths in flags absolute by calling path, so that they mean the same in
// any directory.
func FromAnywhere(flags []loop.Flag, path func(string) string) []loop.Flag {
	flags = slices.Clone(flags)
	for i, f := range flags {
		if row, _ := config.FlagOf(f.Name); row.Directory && len(f.Values) == 1 && f.Values[0] != "" {
			flags[i].Values = []string{path(f.Values[0])}
		}
	}
	return flags
}

// has reports whether a setting was given.
func (s Settings) has(flag string) bool {
	return slices.ContainsFunc(s.flags, func(f loop.Flag) bool { return f.Name == flag })
}

// Said returns the value of a setting, and whether it was given.
func (s Settings) Said(flag string) (text string, ok bool) {
	i := slices.IndexFunc(s.flags, func(f loop.Flag) bool { return f.Name == flag && len(f.Values) == 1 })
	if i < 0 {
		return "", false
	}
	return s.flags[i].Values[0], true
}

// on reports whether a switch is set.
func (s Settings) on(flag string) bool {
	text, _ := s.Said(flag)
	on, err := strconv.ParseBool(text)
	return err == nil && on
}

// Trusts reports whether the project's file is trusted for this run.
func (s Settings) Trusts() bool { return s.on("trust-project") }

// Values returns the settings that are keys of the configuration, as typed, by key.
func (s Settings) Values() map[string][]string { return s.values }

// logged returns the settings that the log keeps.
func (s Settings) logged() (flags []loop.Flag) {
	for _, f := range s.flags {
		if row, _ := config.FlagOf(f.Name); row.Resume == config.Logged {
			flags = append(flags, f)
		}
	}
	return flags
}

// again adds the settings that a session was begun with, unless they are given now. From an
// untrusted log none is taken, because a log says what commands are run. Those settings have to
// be repeated, like the ones that the log does not keep: without them, work could count as done
// that should not.
func (s Settings) again(was loop.Session, trusted bool) (Settings, error) {
	var hidden, doubtful []string
	flags := slices.Clone(s.flags)
	for _, f := range was.Flags {
		row, known := config.FlagOf(f.Name)
		switch {
		case !known || row.Resume != config.Logged || s.decides(row):
		case f.Hidden:
			hidden = append(hidden, "--"+f.Name)
		case !trusted:
			doubtful = append(doubtful, "--"+f.Name)
		default:
			if err := row.Check(f.Values); err != nil {
				return s, hint.Errorf("give it again: codeloops resume --"+f.Name, "session %s has an invalid value: %v", was.ID, err)
			}
			flags = append(flags, f)
		}
	}
	if err := mustRepeat(was.ID, hidden, doubtful); err != nil {
		return s, err
	}
	return NewSettings(flags)
}

// mustRepeat is the error for settings that have to be repeated; nil if there are none.
func mustRepeat(id string, hidden, doubtful []string) error {
	const again = "give it again, or another value: codeloops resume "
	switch {
	case hidden != nil:
		return hint.Errorf(again+strings.Join(hidden, " "), "session %s was given a secret with %s, which its log does not keep", id, strings.Join(hidden, ", "))
	case doubtful != nil:
		return hint.Errorf(again+strings.Join(doubtful, " "),
			"session %s was given %s, but others may have written to its log", id, strings.Join(doubtful, ", "))
	}
	return nil
}

// checkStrategy rejects the strategy of an untrusted log unless it is given again. No command is run
// because of such a log.
func (s Settings) checkStrategy(began loop.Session, trusted bool) error {
	switch {
	case trusted || began.Strategy.Name == "":
		return nil
	case !s.has("strategy"):
		return mustRepeat(began.ID, nil, []string{"--strategy"})
	case strategy.RunsCommands(began.Strategy):
		return hint.Errorf("begin a new session", "session %s runs commands of its own, but others may have written to its log", began.ID)
	}
	return nil
}

// decides reports whether the settings have a flag, or set what it sets.
func (s Settings) decides(k config.Key) bool {
	set, _ := k.Given(nil) // the keys do not depend on the value
	return s.has(k.Flag) || slices.ContainsFunc(slices.Collect(maps.Keys(set)), func(key string) bool { return s.values[key] != nil })
}

// inherit takes the agents and the iteration limit over from a session, unless others are given.
func (s Settings) inherit(was loop.Session) {
	for _, role := range []struct {
		name     string
		ref      loop.AgentRef
		fallback []loop.AgentRef
	}{{"actor", was.Actor, was.ActorFallback}, {"critic", was.Critic, was.CriticFallback}} {
		// In a log without rules, an empty list may mean that the log is too old.
		if !s.isSet(role.name, "fallback") && (len(role.fallback) > 0 || len(was.Rules) > 0) {
			s.values[role.name+".fallback"] = spellAgents(role.fallback)
		}
		if s.isSet(role.name, "agent") {
			continue
		}
		s.values[role.name+".agent"] = []string{role.ref.Agent}
		if !s.isSet(role.name, "model") {
			s.values[role.name+".model"] = []string{role.ref.Model}
		}
	}
	if _, ok := s.values["max_iterations"]; !ok {
		s.values["max_iterations"] = []string{strconv.Itoa(was.MaxIterations)}
	}
}

// isSet reports whether something was given for a role, or for both roles.
func (s Settings) isSet(role, what string) bool {
	_, general := s.values[what]
	_, own := s.values[role+"."+what]
	return general || own
}

// spellAgents spells agents as the configuration does.
func spellAgents(refs []loop.AgentRef) []string {
	list := []string{}
	for _, r := range refs {
		list = append(list, r.String())
	}
	return list
}
