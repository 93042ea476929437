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

// TellsCost reports whether the CLI says what its turns cost.
func (s Spec) TellsCost() bool { return transcript.TellsCost(string(s.Output)) }

// A Saying is a sentence with which a CLI reports a known fault.
type Saying struct {
	Line   string // how the line begins, exactly
	Ending loop.Ending
	Hint   string // what to do about it, as a sentence's end; "" when the line says it
}

// Placeholders in the arguments of a [Spec]. Model and prompt may be part of an
// argument; ModelArgs stands alone.
const (
	holdModel            = "{model}"
	holdModelArgs        = "{model_args}"        // replaced by Spec.ModelArgs, or by nothing without a model
	holdConversationArgs = "{conversation_args}" // replaced by Spec.Begin or Spec.Resume, or by nothing
	holdConversation     = "{conversation}"
	holdSessionID        = "{session_id}"
	holdPrompt           = "{prompt}"
	holdPromptFile       = "{prompt_file}"
	holdUsageFile        = "{usage_file}"  // replaced by a file in which the CLI leaves what the turn has used
	holdPolicyFile       = "{policy_file}" // replaced by a file that holds Spec.Policy
)

// A Spec describes one CLI. It is data, as catalogue.toml has it: nothing in it runs.
type Spec struct {
	Name    string
	Aliases []string
	Program
	Arguments
	Protocol
	Env     map[string]string // set for the CLI, whatever the user's environment says
	DropEnv []string          `toml:"drop_env"` // names, or globs as in path.Match, that the CLI must not see
	Needs
	// Tested is the version of the real program with which these very arguments
	// have been seen to work. "": they follow its documentation.
	Tested string
}

// A Program is what is started.
type Program struct {
	// Binaries are its names, the preferred one first. A name with a slash is a
	// path, relative to the working directory.
	Binaries []string
	// ReadOnlyBinaries are those of a turn that may not write; none: the same.
	ReadOnlyBinaries []string `toml:"read_only_binaries"`
	// VersionArgs make it print its version; none: it cannot.
	VersionArgs []string `toml:"version_args"`
	// ModelsArgs make it list the models that it can be asked for, one a line, as its
	// ModelArgs take them; none: it cannot.
	ModelsArgs []string `toml:"models_args"`
	// StatusArgs make it end with 0 when it is signed in, and with another code when
	// it is not, at once and without a terminal; none: it cannot say. They are for
	// logins that stand where nobody else can see them.
	StatusArgs []string `toml:"status_args"`
}

// Arguments are those of a turn.
type Arguments struct {
	Write    []string // for a turn that changes files
	ReadOnly []string `toml:"read_only"` // for a turn that may not; as read-only as the CLI has it
	// Policy is a text that the CLI reads from "{policy_file}".
	Policy string
	// CanOnly is all that a read-only turn can do, as the words behind "it can only";
	// "" when it can run tests.
	CanOnly string `toml:"can_only"`
	// ModelArgs ask for a model. They stand where the arguments hold
	// "{model_args}", or at their end. None: the model cannot be chosen, unless
	// the arguments hold "{model}".
	ModelArgs []string `toml:"model_args"`
	// Begin are arguments that give a new conversation the name "{session_id}", a
	// UUID; they stand where the arguments hold "{conversation_args}", or at their
	// end. None: the CLI chooses the name.
	Begin []string
	// Resume are arguments that continue the conversation "{conversation}"; they
	// stand there instead. None: the CLI cannot, or only with a terminal.
	Resume []string
	// ResumeTotals is set for a CLI that tells, of a turn in a conversation that
	// it has continued, what all turns of that conversation have used.
	ResumeTotals bool `toml:"resume_totals"`
}

// A Protocol is how a CLI is spoken to, and how it answers.
type Protocol struct {
	Prompt Channel
	Output Format
	// Streams is set for a CLI that prints as it works, so that silence means
	// something. The others are silent until they are done.
	Streams bool
	// Sayings are looked for at the beginning of what the events of a turn that
	// failed say of it, and of its last lines, and nowhere else. The first one that
	// is found counts.
	Sayings []Saying
	// Exits are the exit codes that mean something beyond "it failed".
	Exits map[string]loop.Ending
}

// Needs are what has to be there for a CLI to work, and how a user comes by it.
type Needs struct {
	// Requires are variables that have to be set, each with those that would do
	// in its place.
	Requires [][]string
	// Credentials are what the CLI may be signed in with, the first one first.
	Credentials []Credential

	Install string // what to do when the program is missing: a sentence's end
	SignIn  string `toml:"sign_in"` // what to do when it is not signed in: likewise
	// Former is the npm package that the program came from before; "": none. What is
	// installed from there gets no newer.
	Former string
}

// args returns the arguments for a kind of access, with the model and the
// conversation filled in and the prompt's placeholders left alone. A new conversation
// gets the name id; "" leaves that to the CLI.
func (s Spec) args(access loop.Access, model string, c loop.Conversation, id string) []string {
	args := s.ReadOnly
	if access == loop.Write {
		args = s.Write
	}
	var forModel []string
	if model != "" {
		forModel = s.ModelArgs
	}
	out := splice(splice(args, holdModelArgs, forModel), holdConversationArgs, s.conversation(c, id))
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

// splice returns args with more instead of a placeholder, or else at
// their end.
func splice(args []string, placeholder string, more []string) []string {
	at := slices.Index(args, placeholder)
	if at < 0 {
		return slices.Concat(args, more)
	}
	return slices.Concat(args[:at], more, args[at+1:])
}

// conversation returns the arguments that continue a conversation or, where the
// CLI cannot carry it on, those that begin one with the name id.
func (s Spec) conversation(c loop.Conversation, id string) []string {
	args, hold, name := s.Begin, holdSessionID, id
	if s.carriesOn(c) {
		args, hold, name = s.Resume, holdConversation, c.ID
	}
	if name == "" {
		return nil
	}
	args = slices.Clone(args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], hold, name)
	}
	return args
}

// Resumes reports whether the CLI can continue a conversation: it has to take
// its name, and to tell it before.
func (s Spec) Resumes() bool { return len(s.Resume) > 0 && s.Output != Text }

// longestID bounds the name of a conversation, in bytes. It comes from what an
// agent has printed.
const longestID = 200

func (s Spec) carriesOn(c loop.Conversation) bool {
	return s.Resumes() && c.Agent.Agent == s.Name && len(c.ID) <= longestID && named(c.ID)
}

// binaries returns the names of the program that is started with a kind of access.
func (s Spec) binaries(access loop.Access) []string {
	if access == loop.ReadOnly && len(s.ReadOnlyBinaries) > 0 {
		return s.ReadOnlyBinaries
	}
	return s.Binaries
}

// CommandLine returns how the agent is called, for people to read: the first of
// the program's names and its arguments, with "{prompt}" or "{prompt_file}"
// where the prompt goes and "{session_id}" where the conversation gets its name.
func (s Spec) CommandLine(access loop.Access, model string) []string {
	return append([]string{s.binaries(access)[0]}, s.args(access, model, loop.Conversation{}, holdSessionID)...)
}

func mentions(args []string, placeholder string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, placeholder) })
}
