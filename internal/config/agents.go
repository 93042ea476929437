package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"codeloops/internal/wording"
)

// takeAgents decodes [agents], whose keys have passed the schema one by one, and checks
// them against each other.
func (r *fileReader) takeAgents(doc *document) {
	table, ok := doc.root["agents"]
	if !ok {
		return
	}
	var tables map[string]any
	err := doc.meta.PrimitiveDecode(table, &tables)
	if err == nil {
		err = decode(tables, &r.layer.agents)
	}
	if err != nil {
		r.problems = append(r.problems, &Error{File: r.name, Key: "agents", Problem: err.Error(), err: err})
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.layer.agents)) {
		own := r.layer.agents[name]
		own.Prompt, own.Output = r.orDefault("agents."+name+".prompt", "stdin"), r.orDefault("agents."+name+".output", "text")
		r.layer.agents[name] = own
		r.checkAgent("agents."+name, own)
	}
}

// orDefault returns the value of an agent's key, which it sets if it is not set yet.
func (r *fileReader) orDefault(key, is string) string {
	if set, ok := r.layer.values[key]; ok {
		return set.is.(string)
	}
	r.layer.values[key] = value{is, Origin{Layer: Default}}
	return is
}

func (r *fileReader) checkAgent(table string, own CustomAgent) {
	if own.Command == nil {
		r.blame(table, fault{problem: "has no command", hint: `add command = ["program", "argument", …]`})
		return
	}
	r.checkCommand(table+".command", own.Command, own.Prompt)
	if own.CriticCommand != nil {
		r.checkCommand(table+".critic_command", own.CriticCommand, own.Prompt)
	}
	if own.ModelArgs != nil {
		r.checkAdded(table+".model_args", own.ModelArgs, "{model}", `["--model", "{model}"]`)
	}
	if own.SessionArgs != nil {
		r.checkAdded(table+".session_args", own.SessionArgs, "{session_id}", `["--session-id", "{session_id}"]`)
	}
	if own.ResumeArgs != nil {
		r.checkAdded(table+".resume_args", own.ResumeArgs, "{conversation}", `["--resume", "{conversation}"]`)
	}
	for _, name := range slices.Sorted(maps.Keys(own.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			r.blame(table+".env."+toml.Key{name}.String(), fault{problem: "cannot be the name of a variable"})
		}
	}
}

func (r *fileReader) checkCommand(key string, args []string, prompt string) {
	if len(args) == 0 || strings.TrimSpace(args[0]) == "" {
		r.blame(key, fault{problem: "names no program", hint: `write it like ["program", "argument", …]`})
		return
	}
	if len(placeholders(args[0])) > 0 {
		r.blame(key, fault{problem: fmt.Sprintf("must begin with a program, not with %q", short(args[0]))})
		return
	}
	// The way the prompt is passed decides which placeholder is required, and which would
	// stay empty.
	wanted := map[string]string{"arg": "{prompt}", "file": "{prompt_file}"}[prompt]
	valid := []string{"{model}", "{prompt}", "{prompt_file}"}
	used := placeholders(args[1:]...)
	for _, name := range used {
		switch {
		case !slices.Contains(valid, name):
			r.blame(key, unknownPlaceholder(name, valid))
		case name != "{model}" && name != wanted:
			r.blame(key, fault{
				problem: fmt.Sprintf("holds %s, but prompt is %q", name, prompt),
				hint:    `{prompt} goes with prompt = "arg", {prompt_file} with prompt = "file"`,
			})
		}
	}
	if wanted != "" && !slices.Contains(used, wanted) {
		r.blame(key, fault{
			problem: fmt.Sprintf("lacks %s, which prompt = %q asks for", wanted, prompt),
			hint:    fmt.Sprintf("add %q to the arguments", wanted),
		})
	}
}

// checkAdded checks that optional arguments hold the one placeholder that they are for.
func (r *fileReader) checkAdded(key string, args []string, placeholder, like string) {
	used := placeholders(args...)
	for _, name := range used {
		if name != placeholder {
			r.blame(key, unknownPlaceholder(name, []string{placeholder}))
		}
	}
	if !slices.Contains(used, placeholder) {
		r.blame(key, fault{problem: "lacks " + placeholder, hint: "write it like " + like})
	}
}

func unknownPlaceholder(name string, valid []string) fault {
	f := fault{problem: "holds the unknown placeholder " + short(name), hint: "valid here: " + strings.Join(valid, ", ")}
	if best, ok := wording.Nearest(name, valid); ok {
		f.hint = didYouMean(best)
	}
	return f
}

// placeholders returns the words in braces that args hold, each once. Braces
// around anything else, as in JSON, are ordinary text.
func placeholders(args ...string) []string {
	pattern := regexp.MustCompile(`\{[A-Za-z_][A-Za-z0-9_]*\}`)
	var names []string
	for _, arg := range args {
		for _, name := range pattern.FindAllString(arg, -1) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// blame reports a problem of a key, or of the table in which it is missing.
func (r *fileReader) blame(key string, f fault) {
	r.problems = append(r.problems, &Error{
		File: r.name, Line: r.lineOf(key), Key: key, Problem: key + " " + f.problem, Hint: f.hint,
	})
}

func (r *fileReader) lineOf(key string) int {
	if v, ok := r.layer.values[key]; ok {
		return v.origin.Line
	}
	for _, g := range r.guarded {
		if key == g.Key || strings.HasPrefix(key, g.Key+".") {
			return g.Line
		}
	}
	return 0
}
