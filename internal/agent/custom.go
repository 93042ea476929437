package agent

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Own is an agent of the user's own, as the configuration spells it.
type Own struct {
	Command       []string          // the program and its arguments
	CriticCommand []string          // the same for the critic; none: Command
	Prompt        string            // a [Channel]; "": stdin
	Output        string            // a [Format]; "": text
	ModelArgs     []string          // appended when a model is asked for
	SessionArgs   []string          // appended to begin a conversation with the name "{session_id}"
	ResumeArgs    []string          // appended to carry on "{conversation}"
	Env           map[string]string // set for the program
	Install       string            // what to do when the program is missing
}

// placeholders returns what stands in braces in a text.
func placeholders(text string) []string {
	return regexp.MustCompile(`\{[a-z_]+\}`).FindAllString(text, -1)
}

// named reports whether a text is a plain name: letters, digits, dots, and what
// joins them, with nothing ahead that could be taken for an option.
func named(text string) bool {
	return text != "" && !strings.ContainsAny(text[:1], "._-") && strings.Trim(text, nameChars) == ""
}

const nameChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

// Custom returns the spec of an agent of the user's own. An error names what
// is wrong with it, and the agent.
func Custom(name string, own Own) (Spec, error) {
	if !named(name) {
		return Spec{}, fmt.Errorf("%q cannot be the name of an agent: use letters, digits, '.', '_' and '-'", name)
	}
	if own.Prompt == "" {
		own.Prompt = string(Stdin)
	}
	if own.Output == "" {
		own.Output = string(Text)
	}
	if len(own.CriticCommand) == 0 {
		own.CriticCommand = own.Command
	}
	if err := own.check(); err != nil {
		return Spec{}, fmt.Errorf("agent %s: %w", name, err)
	}
	return Spec{
		Name:           name,
		Binaries:       own.Command[:1:1],
		CriticBinaries: own.CriticCommand[:1:1],
		Actor:          slices.Clone(own.Command[1:]),
		Critic:         slices.Clone(own.CriticCommand[1:]),
		ModelArgs:      slices.Clone(own.ModelArgs),
		Begin:          slices.Clone(own.SessionArgs),
		Resume:         slices.Clone(own.ResumeArgs),
		Prompt:         Channel(own.Prompt),
		Output:         Format(own.Output),
		Streams:        Format(own.Output) != Text,
		Env:            maps.Clone(own.Env),
		Install:        own.Install,
	}, nil
}

func (o Own) check() error {
	if !slices.Contains([]Channel{Stdin, Pipe, Arg, File}, Channel(o.Prompt)) {
		return fmt.Errorf(`prompt is %q, not "stdin", "pipe", "arg" or "file"`, o.Prompt)
	}
	if !Format(o.Output).known() {
		return fmt.Errorf("output is %q, not one of %s", o.Output, strings.Join(Formats(), ", "))
	}
	if err := checkCommand("command", o.Command, Channel(o.Prompt)); err != nil {
		return err
	}
	if err := checkCommand("critic_command", o.CriticCommand, Channel(o.Prompt)); err != nil {
		return err
	}
	for key, added := range map[string]struct {
		args  []string
		holds string
	}{"model_args": {o.ModelArgs, holdModel}, "session_args": {o.SessionArgs, holdSessionID}, "resume_args": {o.ResumeArgs, holdConversation}} {
		for _, held := range placeholders(fmt.Sprint(added.args)) {
			if held != added.holds {
				return fmt.Errorf("%s cannot hold %s, only %s", key, held, added.holds)
			}
		}
	}
	return nil
}

// checkCommand holds a command to the placeholders that go with its channel.
func checkCommand(key string, command []string, prompt Channel) error {
	if len(command) == 0 || command[0] == "" {
		return fmt.Errorf("%s names no program", key)
	}
	if len(placeholders(command[0])) > 0 {
		return fmt.Errorf("%s cannot begin with a placeholder", key)
	}
	for _, arg := range command[1:] {
		for _, held := range placeholders(arg) {
			switch {
			case held == holdModel,
				held == holdPrompt && prompt == Arg,
				held == holdPromptFile && prompt == File:
			case held == holdPrompt:
				return fmt.Errorf(`%s holds {prompt}, which needs prompt = "arg"`, key)
			case held == holdPromptFile:
				return fmt.Errorf(`%s holds {prompt_file}, which needs prompt = "file"`, key)
			default:
				return fmt.Errorf("%s holds %s; the placeholders are {model}, {prompt} and {prompt_file}", key, held)
			}
		}
	}
	if prompt == File && !mentions(command, holdPromptFile) {
		return fmt.Errorf(`prompt = "file" needs {prompt_file} among the arguments of %s`, key)
	}
	return nil
}
