// Package guess recognizes prompts that were probably meant as commands.
package guess

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"codeloops/internal/agent"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// maxGuessed is the maximum number of words in a guess at a command. Longer texts are
// prompts.
const maxGuessed = 3

// A Habit is a command that users know from other tools.
type Habit struct {
	Words   string // synonyms
	Command string // the whole equivalent here; "" if there is none
	Instead string // what to do, for the hint
}

// Habits lists the usual commands of other tools. It includes planned commands, so that
// they are not a prompt today and a command tomorrow.
func Habits() []Habit {
	return []Habit{
		{Words: "ls history runs search", Command: "sessions list"},
		{Words: "jobs ps", Command: "status"},
		{Words: "attach", Command: "watch"},
		{Words: "log logs view open last", Command: "sessions show"},
		{Words: "remove delete clean", Command: "sessions rm"},
		{Words: "rollback revert", Command: "undo"},
		{Words: "start exec", Command: "run"},
		{Words: "continue", Command: "resume"},
		{Words: "setup configure", Command: "init"},
		{Words: "settings set get", Command: "config show"},
		{Words: "models providers", Command: "agents"},
		{Words: "strategy", Command: "strategies"},
		{Words: "login logout auth signin whoami", Command: "doctor", Instead: "sign in to an agent with its own command"},
		{Words: "cancel kill abort", Command: "stop", Instead: "Ctrl+C in its terminal ends it at once"},
		{Words: "update upgrade install uninstall", Instead: "update it the way you installed it"},
		{Words: "skills", Command: "prompt skills"},
		{Words: "serve web", Command: "ui"},
	}
}

// Some of these words are also used about code.
const (
	// plainVerbs count as a guess only if they stand alone or all other words are ourWords:
	// "remove latest" is a guess, "remove dead code" is not.
	plainVerbs = "add attest clean commit delete get import install open prompt remove revert rollback search set start strategy uninstall update upgrade verify"
	ourWords   = "agent all codeloops it latest loop model self session version"
)

// A Command is an existing command with its subcommands.
type Command struct {
	Name    string
	Aliases []string
	Below   []Command
}

// find returns the subcommand with this path.
func (c Command) find(path string) (below Command, ok bool) {
	for name := range strings.FieldsSeq(path) {
		i := slices.IndexFunc(c.Below, func(b Command) bool { return b.Name == name || slices.Contains(b.Aliases, name) })
		if i < 0 {
			return c, false
		}
		c = c.Below[i]
	}
	return c, true
}

// A Guess is the command that a few words were probably meant to be.
type Guess struct {
	Habit

	word   string // the first word
	prompt string // all words
}

// Find looks for a command in the words of a prompt. A mistyped command must not start
// an agent, which may do anything and costs money.
func Find(root Command, words []string) (g Guess, ok bool) {
	if len(words) > 1 && words[0] == root.Name { // typed twice
		words = words[1:]
	}
	if len(words) == 0 || len(words) > maxGuessed {
		return g, false
	}
	g = Guess{word: words[0], prompt: strings.Join(words, " ")}
	if g.word == "-" {
		g.Instead = "a pipe on standard input is the prompt without it; otherwise use --prompt-file -"
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
	g.Habit = known[name]
	g.refine(root, words[1:])
	return g, true
}

// about reports whether all words after a verb are about codeloops, not about the user's
// project.
func about(known map[string]Habit, words []string) bool {
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

// refine adds the following words, as far as they fit.
func (g *Guess) refine(root Command, rest []string) {
	if g.Command == "" {
		return
	}
	cmd, ok := root.find(g.Command)
	if !ok {
		return
	}
	if len(rest) > 0 && len(cmd.Below) > 0 {
		var names []string
		for _, sub := range cmd.Below {
			names = append(names, sub.Name)
		}
		if name, ok := wording.Nearest(strings.ToLower(rest[0]), names); ok {
			g.Command, rest = g.Command+" "+name, rest[1:]
		}
	}
	if strings.HasPrefix(g.Command, "sessions ") && len(rest) > 0 && reference(rest[0]) {
		g.Command += " " + rest[0]
	}
}

// plainWord reports whether a word could be a command or an argument. Quoted phrases and
// sentences with punctuation are prompts.
func plainWord(word string) bool {
	return word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-~/:") == ""
}

// commandWords maps the names of commands, habits and subcommands to their meaning.
// Earlier ones win.
func commandWords(root Command) map[string]Habit {
	known := map[string]Habit{"help": {Command: "help"}, "completion": {Command: "completion"}}
	add := func(word string, h Habit) {
		if _, there := known[word]; !there {
			known[word] = h
		}
	}
	commands := slices.Clone(root.Below)
	for _, cmd := range commands {
		add(cmd.Name, Habit{Command: cmd.Name})
	}
	for _, h := range Habits() {
		for word := range strings.FieldsSeq(h.Words) {
			add(word, h)
		}
	}
	slices.SortStableFunc(commands, func(a, b Command) int {
		switch "sessions" { // a word such as list is about these first
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return len(b.Below) - len(a.Below)
	})
	for _, cmd := range commands {
		if cmd.Name == "eval" {
			continue // tasks and reports are what prompts are about
		}
		for _, sub := range cmd.Below {
			for _, word := range append([]string{sub.Name}, sub.Aliases...) {
				add(word, Habit{Command: cmd.Name + " " + sub.Name})
			}
		}
	}
	return known
}

// nearest finds the known word that was typed or mistyped. Commands come before
// habits.
func nearest(word string, known map[string]Habit, alone bool) (string, bool) {
	if _, there := known[word]; there {
		return word, true
	}
	best, least := "", 0
	for _, name := range slices.Sorted(maps.Keys(known)) {
		slips := wording.Distance(word, name)
		if !isSlip(word, name, slips, known[name].most(word, alone)) && !(alone && known[name].Words == "" && addsLetter(word, name)) {
			continue
		}
		if best == "" || slips < least || slips == least && known[best].Words != "" && known[name].Words == "" {
			best, least = name, slips
		}
	}
	return best, best != ""
}

// most is how many typing errors a word may have. Next to other words it may have
// fewer: "replace tabs" is not replay, and "parser" is not pause.
func (h Habit) most(word string, alone bool) int {
	const long = 8 // letters; in longer words two errors are likely
	if !strings.Contains(h.Command, " ") && h.Words == "" && (alone || len(word) >= long) {
		return max(1, min(len(word), len(h.Command))/3)
	}
	return 1
}

// isSlip reports whether a word may be a mistyped name. Short words with a different
// letter are other words ("lint" is not list), and so are words with several errors and
// another first letter ("deploy" is not replay).
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

// addsLetter reports whether a word is a name with a letter more at its end, as in "runn".
func addsLetter(word, name string) bool {
	return len(word) == len(name)+1 && strings.HasPrefix(word, name)
}

func sameLetters(a, b string) bool {
	return string(slices.Sorted(slices.Values([]byte(a)))) == string(slices.Sorted(slices.Values([]byte(b))))
}

// Refusal returns the error for a guess.
func (g Guess) Refusal() error {
	what := g.Instead
	if g.word != "-" {
		what = strings.TrimPrefix(what+"; as a prompt: codeloops run -- "+g.prompt, "; ")
	}
	if g.Command != "" {
		what = fmt.Sprintf("did you mean `codeloops %s`? %s", g.Command, strings.ToUpper(what[:1])+what[1:])
	}
	return hint.Errorf(what, "%q looks like a command, and codeloops has none of that name", g.word)
}
