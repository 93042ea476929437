package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/metrics"
	"codeloops/internal/session"
	"codeloops/internal/term"
)

// carryOn is the command that carries the session on, to be typed where this one
// was; "" where there is nothing to carry on. With it the session goes on as it was
// going: it says again what the user has said, unless the log keeps it, and more of
// what is used up.
func (p *plan) carryOn(rec *session.Recorder, tally *metrics.Tally, out loop.Outcome) string {
	if p.opts.given == nil || out.Result == loop.Success || rec.Changed() {
		return ""
	}
	if log := session.Look(rec.Path()); log.Err != nil || log.Session.Checkpoint == "" {
		return ""
	}
	more, ok := p.more(loop.Progress{Iterations: out.Iterations, Spent: tally.Spent})
	if !ok {
		return ""
	}
	words := append([]string{"codeloops", "resume"}, more...)
	p.opts.given.Visit(func(f *pflag.Flag) {
		if !slices.Contains(more, typed(f)) && !p.kept(f.Name) {
			words = append(words, spelled(f)...)
		}
	})
	if p.dir != p.app.dir && p.cfg.Origin("session_dir").Layer == config.Project {
		words = append(words, "--session-dir", p.sessions)
	}
	for i, word := range words {
		words[i] = shellWord(word)
	}
	line := strings.Join(append(words, rec.ID()), " ")
	if term.Line(line) != line || p.app.secrets.String(line) != line {
		return "" // it cannot be shown as it has to be typed
	}
	return line
}

// more allows more of what the session has used up: else it would end where it has
// ended. ok is false when no flag does.
func (p *plan) more(done loop.Progress) (flags []string, ok bool) {
	g, spent := p.gate(), done.Spent.Total()
	cost, tokens := g.Budget.CostUSD, g.Budget.Tokens
	for range 4 { // three limits have a flag
		switch reason, _ := g.Stop(done); {
		case reason == loop.StopNone:
			return flags, true
		case reason == loop.StopMaxIterations:
			g.MaxIterations = done.Iterations + moreIterations
			flags = append(flags, "-n", strconv.Itoa(g.MaxIterations))
		case reason == loop.StopMaxCost && cost > 0 && spent.CostUSD >= cost:
			cost = math.Floor((spent.CostUSD+cost)*100+1) / 100
			g.Budget.CostUSD = cost
			flags = append(flags, "--max-cost", strconv.FormatFloat(cost, 'f', 2, 64))
		case reason == loop.StopMaxTokens && tokens > 0 && spent.Tokens >= tokens:
			tokens += spent.Tokens
			g.Budget.Tokens = tokens
			flags = append(flags, "--max-tokens", strconv.FormatInt(tokens, 10))
		default: // a role's own budget, or a figure that nobody knows
			return nil, false
		}
	}
	return nil, false // what agents report may be out of all bounds
}

// moreIterations are proposed to whoever has used all of them.
const moreIterations = 5

// kept reports whether a flag need not be said again: it belongs to the prompt or
// to the display, or the log keeps what it says. Of a session that is carried on,
// the log keeps what it began with.
func (p *plan) kept(flag string) bool {
	switch flag {
	case "prompt", "prompt-file", "working-dir", "dry-run", "yes", "accept-changes", "accept-rules", "no-color",
		"log-format", "json-output", "log-file", "quiet", "verbose":
		return true
	case "agent", "actor-agent", "critic-agent", "model", "actor-model", "critic-model",
		"fallback", "agent-order", "max-iterations":
		return p.course == nil
	}
	return false
}

// typed is the shorter name of a flag.
func typed(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

// spelled is a flag with its value, word by word.
func spelled(f *pflag.Flag) (words []string) {
	name := typed(f)
	if list, ok := f.Value.(pflag.SliceValue); ok {
		for _, value := range list.GetSlice() {
			words = append(words, name, value)
		}
		if len(words) == 0 { // it takes away what a file says
			words = []string{name, ""}
		}
		return words
	}
	switch value := f.Value.String(); {
	case f.Value.Type() != "bool":
		return []string{name, value}
	case value == "true":
		return []string{name}
	default:
		return []string{name + "=" + value}
	}
}

// shellWord quotes what a shell would take apart or read otherwise.
func shellWord(word string) string {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@%+=:,./-", r)
	}
	if word != "" && !strings.ContainsFunc(word, odd) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
