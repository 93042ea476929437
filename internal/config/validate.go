package config

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/strategy"
	"codeloops/internal/wording"
)

// validate checks the keys against each other.
func (c *Config) validate() error {
	var all Errors
	for _, rule := range []struct {
		broken             bool
		key, problem, hint string
	}{
		{
			!c.Policy.AutoRevise && c.Policy.OnViolation == "revise", "policy.on_violation",
			`is "revise", but policy.auto_revise lets nothing be revised`, `set policy.on_violation = "stop", or policy.auto_revise = true`,
		},
		{
			len(c.Critic.Members) > 0 && c.Critic.Needs() > len(c.Critic.Members), "critic.quorum",
			fmt.Sprintf("is %s, but the panel has %d members", c.Critic.Quorum, len(c.Critic.Members)), `set a lower one, or "all"`,
		},
		{
			0 < c.Convergence.StopAfter && c.Convergence.StopAfter <= c.Convergence.WarnAfter, "convergence.stop_after",
			fmt.Sprintf("is %d, but the agents are warned after %d only", c.Convergence.StopAfter, c.Convergence.WarnAfter),
			fmt.Sprintf("set it to at least %d, or convergence.warn_after = 0 to end without a warning", c.Convergence.WarnAfter+1),
		},
	} {
		if rule.broken {
			all = append(all, c.blame(rule.key, rule.problem, rule.hint))
		}
	}
	names := slices.Sorted(maps.Keys(c.Agents))
	line := func(name string) int { return c.Origin(c.values.first("agents." + name + ".")).Line }
	slices.SortStableFunc(names, func(a, b string) int { return line(a) - line(b) })
	for _, name := range names {
		all = append(all, c.checkAgent("agents."+name+".", c.Agents[name])...)
	}
	critic := c.Agents[c.Critic.Agent]
	key, args := ".command", critic.Command
	if len(critic.CriticCommand) > 0 {
		key, args = ".critic_command", critic.CriticCommand
	}
	return slices.Concat(
		all, c.lacksModel("actor", c.Actor.Role, ".command", c.Agents[c.Actor.Agent].Command), c.lacksModel("critic", c.Critic.Role, key, args), c.unknownRoles(),
	).orNil()
}

// blame reports a key that contradicts another one, at the place where it was set.
func (c *Config) blame(key, problem, hint string) *Error {
	return c.Origin(key).blame(key, key+" "+problem, hint)
}

// lacksModel reports a command that needs a model for a role that has none.
func (c *Config) lacksModel(name string, role Role, key string, command []string) Errors {
	if role.Model != "" || !slices.Contains(placeholders(command...), "{model}") {
		return nil
	}
	return Errors{c.blame("agents."+role.Agent+key, "holds {model}, but the "+name+" has no model",
		"set a model, or move the argument to model_args, which counts only with a model")}
}

// checkAgent checks the keys of one of the user's own agents against each other.
func (c *Config) checkAgent(table string, own CustomAgent) (all Errors) {
	// The way the prompt is passed decides which placeholder is required, and which would stay empty.
	way := cmp.Or(own.Prompt, "stdin")
	needs := map[string]string{"arg": "{prompt}", "file": "{prompt_file}"}[way]
	where := fmt.Sprintf(" with prompt = %q", way)
	if own.Command == nil {
		all = Errors{c.Origin(c.values.first(table)).blame(table+"command", strings.TrimSuffix(table, ".")+" has no command", `add command = ["program", "argument", …]`)}
	}
	all = append(all, c.checkCommand(table+"command", own.Command, needs, where)...)
	all = append(all, c.checkCommand(table+"critic_command", own.CriticCommand, needs, where)...)
	all = append(all, c.checkArguments(table+"model_args", own.ModelArgs, "{model}", "")...)
	all = append(all, c.checkArguments(table+"session_args", own.SessionArgs, "{session_id}", "")...)
	all = append(all, c.checkArguments(table+"resume_args", own.ResumeArgs, "{conversation}", "")...)
	for _, name := range slices.Sorted(maps.Keys(own.Env)) {
		if key := table + "env." + name; name == "" || strings.ContainsAny(name, "=\x00") {
			all = append(all, c.Origin(key).blame(key, quotedKey(key)+" cannot be the name of a variable", ""))
		}
	}
	return all
}

func (c *Config) checkCommand(key string, args []string, needs, where string) Errors {
	switch {
	case args == nil:
		return nil
	case len(args) == 0 || strings.TrimSpace(args[0]) == "":
		return Errors{c.blame(key, "names no program", `write it like ["program", "argument", …]`)}
	case len(placeholders(args[0])) > 0:
		return Errors{c.blame(key, fmt.Sprintf("must begin with a program, not with %q", short(args[0])), "")}
	}
	return c.checkArguments(key, args, needs, where, "{model}")
}

// checkArguments checks that arguments, if there are any, hold the placeholder that they need, and no
// others but those that they may hold.
func (c *Config) checkArguments(key string, args []string, needs, where string, may ...string) (all Errors) {
	used, valid := placeholders(args...), may
	if needs != "" {
		valid = append(valid, needs)
	}
	for _, name := range used {
		if slices.Contains(valid, name) {
			continue
		}
		hint := "valid here: " + strings.Join(valid, ", ")
		switch best, ok := wording.Nearest(name, append(valid, "{prompt}", "{prompt_file}")); {
		case ok && best != name:
			hint = didYouMean(best)
		case ok && where != "":
			hint = `{prompt} goes with prompt = "arg", {prompt_file} with prompt = "file"`
		}
		all = append(all, c.blame(key, "holds "+short(name)+", which stands for nothing"+where, hint))
	}
	if args != nil && needs != "" && !slices.Contains(used, needs) {
		all = append(all, c.blame(key, "must hold "+needs+where, fmt.Sprintf("add %q to the arguments", needs)))
	}
	return all
}

// placeholders returns the words in braces that args hold, each once. Braces
// around anything else, as in JSON, are ordinary text.
func placeholders(args ...string) []string {
	pattern := regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_]*\}`)
	names := pattern.FindAllString(strings.Join(args, "\n"), -1)
	slices.Sort(names)
	return slices.Compact(names)
}

// unknownRoles reports roles that no strategy has, for example misspelled ones.
func (c *Config) unknownRoles() (problems Errors) {
	for _, name := range slices.Sorted(maps.Keys(c.Strategy.set)) {
		own := c.Strategy.set[name]
		first := c.values.first("strategy.roles." + name + ".")
		switch {
		case strategy.Reserved(loop.Role(name)):
			problems = append(problems, c.blame(first, "has a name with a meaning of its own",
				"take another one; the settings of actor and critic are in the tables [actor] and [critic]"))
		case own["about"] == nil && !strategy.HasRole(loop.Role(name)):
			problems = append(problems, c.blame(first, "is for a role that no strategy has",
				"`codeloops strategies` lists the roles; a role of your own needs the key about, which says what it is for"))
		}
	}
	return problems
}
