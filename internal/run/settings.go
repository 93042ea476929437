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

// Defaults are the default values of settings, by flag, as a file would spell them. Settings that
// are off or empty are left out.
func Defaults() map[string]string {
	values := map[string]string{}
	cfg, err := config.Load(config.Options{})
	if err != nil {
		return values // cannot happen: nothing is read
	}
	for _, e := range cfg.Entries() {
		values[e.Key] = fmt.Sprint(e.Value)
	}
	said := map[string]string{}
	for _, row := range config.Flags() {
		if is, ok := values[row.Name]; ok && !slices.Contains([]string{"", "0", "0s", "false", "[]", "default"}, is) {
			said[row.Flag] = is
		}
	}
	return said
}

// Settings are the options given for a run. The zero value is none.
type Settings struct {
	flags  []loop.Flag
	values map[string]any // by configuration key
}

// NewSettings parses flags, which have the names of [config.Flags].
func NewSettings(flags []loop.Flag) (Settings, error) {
	s := Settings{flags: flags, values: map[string]any{}}
	for _, f := range flags {
		row, ok := config.FlagOf(f.Name)
		if !ok {
			return s, fmt.Errorf("there is no setting %q", f.Name)
		}
		value, err := valueOf(row, f.Values)
		if err != nil {
			return s, err
		}
		if row.Name != "" {
			s.values[row.Name] = value
		}
	}
	if err := s.bestOf(); err != nil {
		return s, err
	}
	if s.values["strategy.jobs"] == 0 {
		return s, hint.Errorf("leave it out for no limit", "--jobs cannot be 0")
	}
	if s.on("require-witness") {
		s.values["policy.witness"] = "require"
	}
	if !s.on("no-wait") {
		return s, nil
	}
	if wait, ok := s.values["max_wait"]; ok {
		return s, hint.Errorf("leave one of them out", "--no-wait and --max-wait %s contradict each other", wait)
	}
	s.values["max_wait"] = "0s"
	return s, nil
}

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

// bestOf expands --best-of.
func (s Settings) bestOf() error {
	if !s.has("best-of") {
		return nil
	}
	n, err := strconv.Atoi(s.text("best-of"))
	if err != nil || n < 1 || n > strategy.MostAtOnce {
		return hint.Errorf(fmt.Sprintf("give a number from 1 to %d", strategy.MostAtOnce), "--best-of is %q", s.text("best-of"))
	}
	if name, said := s.values["strategy.name"]; said && name != strategy.NameTree {
		return hint.Errorf("leave one of them out", "--best-of is of the strategy %s, and contradicts --strategy %s", strategy.NameTree, name)
	}
	s.values["strategy.name"], s.values["strategy.branch_factor"], s.values["strategy.max_depth"] = strategy.NameTree, n, 1
	return nil
}

// valueOf parses the words of a flag for the configuration.
func valueOf(k config.Key, words []string) (any, error) {
	if _, isList := k.Default.([]string); isList {
		return append([]string{}, words...), nil
	}
	if len(words) != 1 {
		return nil, fmt.Errorf("--%s takes one value, not %d", k.Flag, len(words))
	}
	switch k.Default.(type) {
	case int:
		n, err := strconv.Atoi(words[0])
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", words[0])
		}
		return n, nil
	case bool:
		on, err := strconv.ParseBool(words[0])
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", words[0])
		}
		return on, nil
	}
	return words[0], nil
}

// has reports whether a setting was given.
func (s Settings) has(flag string) bool {
	return slices.ContainsFunc(s.flags, func(f loop.Flag) bool { return f.Name == flag })
}

// text returns the value of a setting, "" if it was not given.
func (s Settings) text(flag string) string {
	for _, f := range s.flags {
		if f.Name == flag && len(f.Values) == 1 {
			return f.Values[0]
		}
	}
	return ""
}

// on reports whether a switch is set.
func (s Settings) on(flag string) bool {
	on, err := strconv.ParseBool(s.text(flag))
	return err == nil && on
}

// Trusts reports whether the project's file is trusted for this run.
func (s Settings) Trusts() bool { return s.on("trust-project") }

// Values returns the settings that are keys of the configuration, by key.
func (s Settings) Values() map[string]any { return maps.Clone(s.values) }

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
		case !known || row.Resume != config.Logged || s.has(f.Name) || s.contradicts(f.Name):
		case f.Hidden:
			hidden = append(hidden, "--"+f.Name)
		case !trusted:
			doubtful = append(doubtful, "--"+f.Name)
		default:
			if _, err := valueOf(row, f.Values); err != nil {
				return s, hint.Errorf("give it again: codeloops resume --"+f.Name, "session %s has an invalid value of --%s: %v", was.ID, f.Name, err)
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

// contradicts reports whether a setting contradicts one that was given.
func (s Settings) contradicts(flag string) bool {
	return flag == "no-wait" && s.has("max-wait") || flag == "max-wait" && s.has("no-wait")
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
		s.values[role.name+".agent"] = role.ref.Agent
		if !s.isSet(role.name, "model") {
			s.values[role.name+".model"] = role.ref.Model
		}
	}
	if _, ok := s.values["max_iterations"]; !ok {
		s.values["max_iterations"] = was.MaxIterations
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
