package agent

import (
	"slices"
	"strings"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
)

// A Channel is how the prompt reaches a CLI.
type Channel string

// The channels. Standard input always ends after the prompt: several CLIs hang
// on one that stays open.
const (
	Stdin Channel = "stdin" // a regular file as standard input
	Pipe  Channel = "pipe"  // a pipe as standard input, for CLIs that take no file there
	Arg   Channel = "arg"   // one argument, which the system limits in size
	File  Channel = "file"  // the path of a file as an argument
)

// A Format is how a CLI writes its output: [Text], or one of
// [transcript.Formats].
type Format string

// Text is output made for people: standard output is the final text.
const Text Format = "text"

// Formats returns the names of all formats, [Text] first.
func Formats() []string { return append([]string{string(Text)}, transcript.Formats()...) }

func (f Format) known() bool { return slices.Contains(Formats(), string(f)) }

// A Saying is a line with which a CLI says, in plain text, what was in its way.
type Saying struct {
	Line   string // how the line begins, exactly
	Ending loop.Ending
	Hint   string // what to do about it, as a sentence's end; "" when the line says it
}

// Placeholders in the arguments of a [Spec]. Model and prompt may be part of an
// argument; ModelArgs stands alone.
const (
	holdModel        = "{model}"
	holdModelArgs    = "{model_args}"  // replaced by Spec.ModelArgs, or by nothing without a model
	holdResumeArgs   = "{resume_args}" // replaced by Spec.Resume, or by nothing in a conversation of its own
	holdConversation = "{conversation}"
	holdPrompt       = "{prompt}"
	holdPromptFile   = "{prompt_file}"
)

// A Spec describes one CLI. It is data: nothing in it runs.
type Spec struct {
	Name    string
	Aliases []string
	// Binaries are the names of the program, the preferred one first. A name
	// with a slash is a path, relative to the working directory.
	Binaries []string
	// CriticBinaries are those of the critic; none: the same.
	CriticBinaries []string
	// VersionArgs make the program print its version; none: it cannot.
	VersionArgs []string

	Actor  []string // arguments for a turn that changes files
	Critic []string // arguments for a turn that only judges; as read-only as the CLI has it
	// ModelArgs ask for a model. They stand where the arguments hold
	// "{model_args}", or at their end. None: the model cannot be chosen, unless
	// the arguments hold "{model}".
	ModelArgs []string

	Prompt Channel
	Output Format
	// Streams is set for a CLI that prints as it works, so that silence means
	// something. The others are silent until they are done.
	Streams bool

	// Resume are arguments that carry on the conversation "{conversation}"; they
	// stand where the arguments hold "{resume_args}", or at their end. None: the
	// CLI cannot, or only with a terminal.
	Resume []string

	// Sayings are looked for at the beginnings of the last lines of a turn that
	// failed, and nowhere else. The first one that is found counts.
	Sayings []Saying
	// Exits are the exit codes that mean something beyond "it failed".
	Exits map[int]loop.Ending

	Env     map[string]string // set for the CLI, whatever the user's environment says
	DropEnv []string          // names, or globs as in path.Match, that the CLI must not see

	Install string // what to do when the program is missing: a sentence's end
	// Tested is the version of the real program with which these very arguments
	// have been seen to work. "": they follow its documentation.
	Tested string
}

// args returns the arguments for a role, with the model filled in and the
// prompt's placeholders left alone.
func (s Spec) args(role loop.Role, model string) []string {
	args := s.Actor
	if role == loop.RoleCritic {
		args = s.Critic
	}
	var forModel []string
	if model != "" {
		forModel = s.ModelArgs
	}
	out := make([]string, 0, len(args)+len(forModel)+1)
	spliced := slices.Contains(args, holdModelArgs)
	for _, arg := range args {
		switch arg {
		case holdModelArgs:
			out = append(out, forModel...)
		case holdResumeArgs: // every turn is a conversation of its own
		default:
			out = append(out, arg)
		}
	}
	if !spliced {
		out = append(out, forModel...)
	}
	if s.Prompt == Arg && !mentions(out, holdPrompt) {
		out = append(out, holdPrompt)
	}
	if model != "" {
		for i := range out {
			out[i] = strings.ReplaceAll(out[i], holdModel, model)
		}
	}
	return out
}

// binaries returns the names of the program that plays a role.
func (s Spec) binaries(role loop.Role) []string {
	if role == loop.RoleCritic && len(s.CriticBinaries) > 0 {
		return s.CriticBinaries
	}
	return s.Binaries
}

// CommandLine returns how a role is called, for people to read: the first of
// the program's names and its arguments, with "{prompt}" or "{prompt_file}"
// where the prompt goes.
func (s Spec) CommandLine(role loop.Role, model string) []string {
	return append([]string{s.binaries(role)[0]}, s.args(role, model)...)
}

func mentions(args []string, placeholder string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, placeholder) })
}
