package agent

import (
	"cmp"
	"strings"
)

// CustomConfig is one of the user's own agents, as the configuration has read and checked it.
type CustomConfig struct {
	Command       []string          // the program and its arguments
	CriticCommand []string          // the same for the critic; none: Command
	Prompt        string            // a [Channel]; "": stdin
	Output        string            // a [Format]; "": text
	ModelArgs     []string          // appended when a model is set
	SessionArgs   []string          // appended to begin a conversation with the name "{session_id}"
	ResumeArgs    []string          // appended to continue "{conversation}"
	Env           map[string]string // set for the program
	Install       string            // what to do when the program is missing
}

// isName reports whether a text consists of letters, digits, '.', '_' and '-', and begins
// with a letter or digit, so that it cannot be taken for an option.
func isName(text string) bool {
	return text != "" && !strings.ContainsAny(text[:1], "._-") && strings.Trim(text, nameChars) == ""
}

const nameChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

// Custom returns the spec of one of the user's own agents.
func Custom(name string, own CustomConfig) Spec {
	critic := own.CriticCommand
	if len(critic) == 0 {
		critic = own.Command
	}
	output := cmp.Or(Format(own.Output), Text)
	return Spec{
		Name:      name,
		Program:   Program{Binaries: own.Command[:1:1], ReadOnlyBinaries: critic[:1:1]},
		Arguments: Arguments{Write: own.Command[1:], ReadOnly: critic[1:], ModelArgs: own.ModelArgs, Begin: own.SessionArgs, Resume: own.ResumeArgs},
		Protocol:  Protocol{Prompt: cmp.Or(Channel(own.Prompt), Stdin), Output: output, Streams: output != Text},
		Needs:     Needs{Install: own.Install},
		Env:       own.Env,
	}
}
