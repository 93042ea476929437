package strategy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/role/verdict"
)

// KeyCommands is the parameter that says which commands a planner may name.
const KeyCommands = "evidence_commands"

var (
	placeholder = regexp.MustCompile(`\{\{(.*?)\}\}`)
	// plainWord is of what no shell makes anything else.
	plainWord = regexp.MustCompile(`^[A-Za-z0-9_@+=:,./-]+$`)
)

// plainCommands refuses commands that could not be compared word by word.
func plainCommands(commands []string) error {
	for _, c := range commands {
		if !plainWords(c) {
			return fmt.Errorf("%s has %q: only commands of plain words can be allowed, without quotes, variables and the like", KeyCommands, c)
		}
	}
	return nil
}

func plainWords(command string) bool {
	words := strings.Fields(command)
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !plainWord.MatchString(w) })
}

// mayRun reports whether a command begins, word by word, with one that the user allows, and has
// nothing but plain words behind it.
func mayRun(command string, allowed []string) bool {
	words := strings.Fields(command)
	return plainWords(command) && slices.ContainsFunc(allowed, func(a string) bool {
		begins := strings.Fields(a)
		return len(words) >= len(begins) && slices.Equal(words[:len(begins)], begins)
	})
}

// referred are the names of the evidence that a text refers to, each once.
func referred(text string) (names []string) {
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		if name := strings.TrimSpace(m[1]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// inLevels puts the steps of a plan behind those that they refer to. What cannot be followed is
// left out, and wrong says why.
func inLevels(plan []verdict.PlanStep, allowed []string) (levels [][]verdict.PlanStep, wrong []string) {
	known, placed := map[string]bool{}, map[string]bool{}
	for _, s := range plan {
		known[s.ID] = true
	}
	var rest []verdict.PlanStep
	for _, s := range plan {
		unknown := slices.DeleteFunc(referred(s.Text), func(name string) bool { return known[name] })
		switch {
		case s.Tool == verdict.ToolCommand && !mayRun(s.Text, allowed):
			wrong = append(wrong, s.ID+" is no command that is allowed, in plain words")
		case len(unknown) > 0:
			wrong = append(wrong, s.ID+" refers to "+strings.Join(unknown, ", ")+", which is not in the list")
		default:
			rest = append(rest, s)
		}
	}
	for {
		due := func(s verdict.PlanStep) bool {
			return !slices.ContainsFunc(referred(s.Text), func(name string) bool { return !placed[name] })
		}
		level := slices.DeleteFunc(slices.Clone(rest), func(s verdict.PlanStep) bool { return !due(s) })
		if len(level) == 0 {
			break
		}
		rest = slices.DeleteFunc(rest, due)
		for _, s := range level {
			placed[s.ID] = true
		}
		levels = append(levels, level)
	}
	for _, s := range rest {
		wrong = append(wrong, s.ID+" refers to itself in a circle, or to what is left out")
	}
	return levels, wrong
}

// RunsCommands reports whether a strategy, as a log has it, may run commands.
func RunsCommands(ref loop.StrategyRef) bool {
	_, values, err := Read(ref)
	return err != nil || len(values.words(KeyCommands)) > 0
}
