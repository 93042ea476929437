package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/agent"
	"codeloops/internal/spell"
)

// maxGuessed is how many words a guess at a command has at most. More than that
// is a prompt.
const maxGuessed = 3

// A habit is what somebody types who knows other tools of this kind.
type habit struct {
	words   string // that mean the same
	command string // that does it here; "" where there is none
	instead string // what to do where there is none
}

// habits lists the usual commands of other tools. Names of commands that are
// promised, and not built yet, are among them: they cannot be a prompt today and
// a command tomorrow.
func habits() []habit {
	return []habit{
		{words: "ls history runs jobs ps status watch", command: "sessions list"},
		{words: "log logs view open last", command: "sessions show"},
		{words: "remove delete clean", command: "sessions rm"},
		{words: "undo rollback revert", command: "sessions restore"},
		{words: "start exec", command: "run"},
		{words: "continue", command: "resume"},
		{words: "setup configure", command: "init"},
		{words: "settings set get", command: "config show"},
		{words: "models providers", command: "agents"},
		{words: "login logout auth signin whoami", command: "doctor", instead: "an agent is signed in to with its own command"},
		{words: "stop pause cancel kill abort say", instead: "press Ctrl+C where it runs"},
		{words: "update upgrade install uninstall", instead: "update it in the way in which you installed it"},
		{
			words:   "strategies lessons queue hub ui project prompt skills gate mcp serve web commit pr attest",
			instead: "this version does not have it",
		},
	}
}

// Some words are said of code as well.
const (
	// plainVerbs are a guess alone, or with words of ours alone behind them:
	// "remove latest" is one, "remove dead code" is not.
	plainVerbs = "clean commit delete get install open prompt remove revert rollback set start undo uninstall update upgrade"
	ourWords   = "agent all codeloops it latest loop model self session version"
)

// A guess is the command that a few plain words were probably meant to be.
type guess struct {
	word    string // that it is told by
	command string // the whole command; "" where there is none
	instead string
	prompt  string // all of the words
}

// guessed looks for a command in the words of a prompt. A guess at a command
// must not start an agent, which may do anything and has to be paid.
func guessed(root *cobra.Command, words []string) (g guess, ok bool) {
	if len(words) > 1 && words[0] == root.Name() { // typed twice
		words = words[1:]
	}
	if len(words) == 0 || len(words) > maxGuessed {
		return g, false
	}
	g = guess{word: words[0], prompt: strings.Join(words, " ")}
	if g.word == "-" {
		g.instead = "a pipe on standard input is the prompt by itself; for anything else there is --prompt-file -"
		return g, true
	}
	for _, word := range words {
		if !plainWord(word) {
			return g, false
		}
	}
	known := commandWords(root)
	name, ok := nearest(strings.ToLower(g.word), known, about(known, words[1:]))
	if !ok || among(plainVerbs, name) && !about(known, words[1:]) {
		return g, false
	}
	g.command, g.instead = known[name].command, known[name].instead
	g.refine(root, words[1:])
	return g, true
}

// about reports whether words behind a verb are about codeloops, and none about
// what somebody works on.
func about(known map[string]habit, words []string) bool {
	for _, word := range words {
		word = strings.ToLower(word)
		_, command := known[word]
		_, err := agent.Find(word)
		if !command && err != nil && !reference(word) && !among(ourWords, word) {
			return false
		}
	}
	return true
}

// reference reports whether a word looks like the name of a session.
func reference(word string) bool {
	return strings.HasPrefix(word, "latest") || strings.HasPrefix(word, "20") && strings.Contains(word, "-")
}

func among(words, word string) bool { return slices.Contains(strings.Fields(words), word) }

// refine adds the words behind the first one, as far as they fit.
func (g *guess) refine(root *cobra.Command, rest []string) {
	if g.command == "" {
		return
	}
	cmd, _, err := root.Find(strings.Fields(g.command))
	if err != nil {
		return
	}
	if len(rest) > 0 && cmd.HasSubCommands() {
		var names []string
		for _, sub := range cmd.Commands() {
			names = append(names, sub.Name())
		}
		if name, ok := spell.Nearest(strings.ToLower(rest[0]), names); ok {
			g.command, rest = g.command+" "+name, rest[1:]
		}
	}
	if strings.HasPrefix(g.command, "sessions ") && len(rest) > 0 && reference(rest[0]) {
		g.command += " " + rest[0]
	}
}

// plainWord reports whether a word is one that a command or its argument could
// be: somebody who quotes several words, or ends them with a full stop, has
// written a prompt.
func plainWord(word string) bool {
	return word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-~/:") == ""
}

// commandWords maps the first words of all commands, their subcommands and of
// habits to what they mean. What comes first in the list of commands wins.
func commandWords(root *cobra.Command) map[string]habit {
	known := map[string]habit{"help": {command: "help"}, "completion": {command: "completion"}}
	add := func(word string, h habit) {
		if _, there := known[word]; !there {
			known[word] = h
		}
	}
	var commands []*cobra.Command
	for _, cmd := range root.Commands() {
		if !cmd.Hidden {
			commands = append(commands, cmd)
			add(cmd.Name(), habit{command: cmd.Name()})
		}
	}
	slices.SortStableFunc(commands, func(a, b *cobra.Command) int { return len(b.Commands()) - len(a.Commands()) })
	for _, cmd := range commands {
		for _, sub := range cmd.Commands() {
			for _, word := range append([]string{sub.Name()}, sub.Aliases...) {
				add(word, habit{command: cmd.Name() + " " + sub.Name()})
			}
		}
	}
	for _, h := range habits() {
		for word := range strings.FieldsSeq(h.words) {
			add(word, h)
		}
	}
	return known
}

// nearest finds the known word that a word is, or is a slip for. Commands come
// before what is usual elsewhere.
func nearest(word string, known map[string]habit, alone bool) (string, bool) {
	if _, there := known[word]; there {
		return word, true
	}
	best, least := "", 0
	for _, name := range slices.Sorted(maps.Keys(known)) {
		slips := spell.Distance(word, name)
		if !isSlip(word, name, slips, known[name].most(word, alone)) {
			continue
		}
		if best == "" || slips < least || slips == least && known[best].words != "" && known[name].words == "" {
			best, least = name, slips
		}
	}
	return best, best != ""
}

// most is how many slips a word may have. Beside words that are not ours, fewer
// slips make a command of it: "replace tabs" is no replay.
func (h habit) most(word string, alone bool) int {
	const long = 8 // letters, from which on two slips are likely
	if !strings.Contains(h.command, " ") && h.words == "" && (alone || len(word) >= long) {
		return max(1, len(word)/3)
	}
	return 1
}

// isSlip reports whether so many slips may have made a word of a name. Short words
// with another letter in them are others ("lint" is no list), and so are those that
// begin otherwise as well ("deploy" is no replay).
func isSlip(word, name string, slips, most int) bool {
	const short = 4
	switch {
	case slips > most || len(name) < short:
		return false
	case len(name) == short && len(word) == len(name):
		return sameLetters(word, name)
	}
	return slips == 1 || word[0] == name[0]
}

func sameLetters(a, b string) bool {
	return string(slices.Sorted(slices.Values([]byte(a)))) == string(slices.Sorted(slices.Values([]byte(b))))
}

// refusal is the error that tells of a guess.
func (g guess) refusal() error {
	hint := g.instead
	if g.word != "-" {
		hint = strings.TrimPrefix(hint+"; as a prompt: codeloops run -- "+g.prompt, "; ")
	}
	if g.command != "" {
		hint = fmt.Sprintf("did you mean `codeloops %s`? %s", g.command, strings.ToUpper(hint[:1])+hint[1:])
	}
	return usagef(hint, "%q looks like a command, and codeloops has none of that name", g.word)
}
