package run

import (
	"cmp"
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

// A Kind says what values a setting takes.
type Kind int

// The kinds of values that settings take.
const (
	Text   Kind = iota
	File        // a path, relative to the working directory
	Number      // an integer
	Switch      // on or off
	List        // repeatable; a value may hold several, separated by commas
	Lines       // repeatable; each value is taken as it is
)

// A Setting is an option of a run besides its prompt and its directory. This table is the only
// place that defines them.
type Setting struct {
	Flag  string // its name on the command line and in a log
	Short string // one-letter form; "": none
	Key   string // in the configuration; "": none
	Kind  Kind
	Kept  Keeping
	Group Group
	Usage string // for people; the part in back-quotes names the value, or lists all valid ones
	Brief bool   // even the shortest help lists it
}

// A Group is what a setting is about.
type Group string

// The groups of settings.
const (
	AboutTask     Group = "Task"
	AboutAgents   Group = "Agents"
	AboutStrategy Group = "Strategy"
	AboutLimits   Group = "Limits"
	AboutChecks   Group = "Checks and verdicts"
	AboutOutput   Group = "Output"
	AboutSession  Group = "Session"
	// AboutFile: it is usually set in a file once, and no help lists its flag.
	AboutFile Group = "Files"
)

// A Keeping says what happens to a setting when the session is resumed.
type Keeping int

// What happens to a setting.
const (
	// Logged: the log keeps it, and a resumed run uses that.
	Logged Keeping = iota
	// Inherited: the log has a field of its own for the value at the session's start.
	Inherited
	// Said: it applies to one run, and has to be repeated.
	Said
	// Shown: it only affects what is displayed.
	Shown
)

// Table lists all settings in the order of the help text: those that are keys of the configuration,
// and a few that are not.
func Table() []Setting {
	rows := []Setting{
		{Flag: "script", Kind: File, Group: AboutAgents, Usage: "scenario `file` of the built-in agent scripted"},
		{Flag: "best-of", Kind: Number, Kept: Inherited, Group: AboutStrategy, Usage: "let `n` candidates work at the same time, each in a copy, and continue with the best (tree-of-thoughts)"},
		{Flag: "no-wait", Kind: Switch, Group: AboutLimits, Usage: "end the run at a rate limit, instead of waiting"},
		{Flag: "trust-project", Kind: Switch, Kept: Said, Group: AboutSession, Usage: "trust the project's codeloops.toml, which may run commands, for this run"},
	}
	kept := map[string]Keeping{"inherited": Inherited, "said": Said, "shown": Shown}
	keys := config.Keys()
	for _, key := range slices.Backward(keys) {
		if k := key; k.Flag != "" && !strings.HasPrefix(k.Name, "queue.") {
			rows = slices.Insert(rows, 0, Setting{k.Flag, k.Short, k.Name, kindOf(k), kept[k.Resume], groupOf(k), k.Usage(), k.Brief})
		}
	}
	order := []Group{AboutTask, AboutAgents, AboutStrategy, AboutLimits, AboutChecks, AboutOutput, AboutSession}
	slices.SortStableFunc(rows, func(a, b Setting) int {
		return cmp.Compare(slices.Index(order, a.Group), slices.Index(order, b.Group))
	})
	return rows
}

func groupOf(k config.Key) Group {
	if k.Unlisted {
		return AboutFile
	}
	return Group(k.Topic)
}

// kindOf returns what values the flag of a key takes.
func kindOf(k config.Key) Kind {
	switch k.Default.(type) {
	case int:
		return Number
	case bool:
		return Switch
	case []string:
		if k.Agents {
			return List
		}
		return Lines
	}
	if k.Directory {
		return File
	}
	return Text
}

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
	for _, row := range Table() {
		if is, ok := values[row.Key]; ok && !slices.Contains([]string{"", "0", "0s", "false", "[]", "default"}, is) {
			said[row.Flag] = is
		}
	}
	return said
}

func find(flag string) (row Setting, ok bool) {
	rows := Table()
	i := slices.IndexFunc(rows, func(s Setting) bool { return s.Flag == flag })
	if i < 0 {
		return row, false
	}
	return rows[i], true
}

// Settings are the options given for a run. The zero value is none.
type Settings struct {
	flags  []loop.Flag
	values map[string]any // by configuration key
}

// NewSettings parses flags, which have the names of [Table].
func NewSettings(flags []loop.Flag) (Settings, error) {
	s := Settings{flags: flags, values: map[string]any{}}
	for _, f := range flags {
		row, ok := find(f.Name)
		if !ok {
			return s, fmt.Errorf("there is no setting %q", f.Name)
		}
		value, err := row.value(f.Values)
		if err != nil {
			return s, err
		}
		if row.Key != "" {
			s.values[row.Key] = value
		}
	}
	if err := s.bestOf(); err != nil {
		return s, err
	}
	if s.values["strategy.jobs"] == 0 {
		return s, hint.Errorf("leave it out for no limit", "--jobs cannot be 0")
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
		if row, _ := find(f.Name); row.Kind == File && len(f.Values) == 1 && f.Values[0] != "" {
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

// value parses a setting for the configuration.
func (s Setting) value(words []string) (any, error) {
	if s.Kind == List || s.Kind == Lines {
		return append([]string{}, words...), nil
	}
	if len(words) != 1 {
		return nil, fmt.Errorf("--%s takes one value, not %d", s.Flag, len(words))
	}
	switch s.Kind {
	case Number:
		n, err := strconv.Atoi(words[0])
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", words[0])
		}
		return n, nil
	case Switch:
		on, err := strconv.ParseBool(words[0])
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", words[0])
		}
		return on, nil
	case Text, File, List, Lines:
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
		if row, _ := find(f.Name); row.Kept == Logged {
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
		row, known := find(f.Name)
		switch {
		case !known || row.Kept != Logged || s.has(f.Name) || s.contradicts(f.Name):
		case f.Hidden:
			hidden = append(hidden, "--"+f.Name)
		case !trusted:
			doubtful = append(doubtful, "--"+f.Name)
		default:
			if _, err := row.value(f.Values); err != nil {
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
