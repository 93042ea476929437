package agent

import (
	"maps"
	"slices"
	"strings"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
)

// A Channel is how a CLI gets its prompt.
type Channel string

// The channels. Standard input always ends after the prompt: several CLIs hang if it
// stays open.
const (
	Stdin Channel = "stdin" // a regular file as standard input
	Pipe  Channel = "pipe"  // a pipe as standard input, for CLIs that accept no file there
	Arg   Channel = "arg"   // one argument, whose size the system limits
	File  Channel = "file"  // the path of a file as an argument

	talk Channel = "talk" // a request, see [Arguments.Talk]
)

// A Format is how a CLI writes its output: [Text], or one of
// [transcript.Formats].
type Format string

// Text is output for people: standard output is the final text.
const Text Format = "text"

// TellsCost reports whether the CLI reports the cost of its turns.
func (s Spec) TellsCost() bool { return transcript.TellsCost(string(s.Output)) }

// A Saying is a line with which a CLI reports a known fault.
type Saying struct {
	Line string // how the line begins, exactly
	// Ending is what it means; "": the line is an answer of the model's service, and says so
	// itself.
	Ending loop.Ending
	Hint   string // what to do about it, appended after "; "; "" when the line says it
}

// Placeholders in the arguments of a [Spec]. {model_args} and {conversation_args} are
// arguments of their own; the others may be part of one.
const (
	holdModel            = "{model}"
	holdModelArgs        = "{model_args}"        // replaced by Spec.ModelArgs, or by nothing without a model
	holdConversationArgs = "{conversation_args}" // replaced by Spec.Begin or Spec.Resume, or by nothing
	holdConversation     = "{conversation}"
	holdSessionID        = "{session_id}"
	holdPrompt           = "{prompt}"
	holdPromptFile       = "{prompt_file}"
	holdUsageFile        = "{usage_file}"  // the file to which the CLI writes the turn's usage
	holdPolicyFile       = "{policy_file}" // a file that holds Spec.Policy
)

// A Spec describes one CLI. It is plain data, in the form of catalogue.toml.
type Spec struct {
	Name    string
	Aliases []string
	Program
	Arguments
	Protocol
	Env map[string]string // set for the CLI, overriding the user's environment
	// DefaultEnv is set for the CLI unless the user has set the variable.
	DefaultEnv map[string]string `toml:"default_env"`
	DropEnv    []string          `toml:"drop_env"` // variables that the CLI must not see: names, or globs as in path.Match
	Needs
	// Tested is the version of the real program with which exactly these arguments have
	// been tested. "": they follow its documentation.
	Tested string
}

// A Program is what is started.
type Program struct {
	// Binaries are its names, the preferred one first. A name with a slash is a path,
	// relative to the working directory.
	Binaries []string
	// ReadOnlyBinaries are those for read-only turns; none: the same.
	ReadOnlyBinaries []string `toml:"read_only_binaries"`
	// VersionArgs make it print its version; none: it cannot.
	VersionArgs []string `toml:"version_args"`
	// ModelsArgs make it list the available models, one a line, in the form that
	// ModelArgs take; none: it cannot.
	ModelsArgs []string `toml:"models_args"`
	// StatusArgs make it exit at once, without a terminal: with 0 when it is signed in,
	// otherwise with another code. none: it cannot tell. They are for logins that are
	// stored where nobody else can see them.
	StatusArgs []string `toml:"status_args"`
	// SandboxArgs make it run "true" in the sandbox of its read-only turns, and exit as that does;
	// none: it has no sandbox of its own.
	SandboxArgs []string `toml:"sandbox_args"`
}

// Arguments are those of a turn.
type Arguments struct {
	Write    []string // for a turn that changes files
	ReadOnly []string `toml:"read_only"` // for a turn that may not; as read-only as the CLI allows
	// Talk is the way to hand over a prompt with an "@", of a CLI that otherwise takes
	// what follows for the name of a file, and adds the file.
	Talk Talk
	// WithoutProject is for turns that may not change files.
	WithoutProject WithoutProject `toml:"without_project"`
	// Untrusted is for turns that may, in a project that the user does not trust.
	Untrusted Untrusted
	// Policy is a text that the CLI reads from "{policy_file}".
	Policy string
	// CanOnly completes the sentence "it can only …" for a read-only turn; "" when such a
	// turn can run tests.
	CanOnly string `toml:"can_only"`
	// ModelArgs choose a model. They go where the arguments hold "{model_args}", or at
	// the end. None: the model cannot be chosen, unless the arguments hold "{model}".
	ModelArgs []string `toml:"model_args"`
	// Begin gives a new conversation the name "{session_id}", a UUID. It goes where the
	// arguments hold "{conversation_args}", or at the end. None: the CLI chooses the
	// name.
	Begin []string
	// Resume continues the conversation "{conversation}"; it takes the place of Begin.
	// None: the CLI cannot do that, or only with a terminal.
	Resume []string
	// ResumeTotals is set for a CLI that reports, for a turn in a resumed conversation,
	// the usage of the whole conversation.
	ResumeTotals bool `toml:"resume_totals"`
}

// Talk makes a CLI take requests on its standard input, and answer them. None: it does not, or
// need not.
type Talk struct {
	// Output is the format of what both sides say: [transcript.ACP] or [transcript.DroidRPC].
	Output   Format
	Write    []string // instead of Arguments.Write
	ReadOnly []string `toml:"read_only"`
	// Allow is set when a read-only turn may do what it asks for: a critic that may build.
	Allow bool `toml:"-"`
	// Conversations is set for a CLI that lets its client name a new conversation, and continue one
	// that was begun otherwise.
	Conversations bool
}

// handing returns the spec with which a prompt reaches the model as it is.
func (s Spec) handing(prompt string) Spec {
	if s.Talk.Output != "" && strings.Contains(prompt, "@") {
		s.Write, s.ReadOnly, s.Prompt, s.Output = s.Talk.Write, s.Talk.ReadOnly, talk, s.Talk.Output
		s.ResumeTotals = false
		if !s.Talk.Conversations {
			s.Begin, s.Resume = nil, nil
		}
	}
	return s
}

// WithoutProject makes a CLI ignore what the work tree brings along for it, which an actor may
// have written: settings, hooks, servers, plugins, skills, instructions.
type WithoutProject struct {
	Args []string          // at the end of the arguments
	Env  map[string]string // besides Spec.Env
	// Except completes the sentence "from the work tree it still takes …"; "" for nothing.
	Except string
}

// A Protocol is how a CLI gets its prompt and how it answers.
type Protocol struct {
	Prompt Channel
	Output Format
	// Streams is set for a CLI that prints while it works, so that silence means
	// something. The others are silent until they are done.
	Streams bool
	// Truncation is "silent" for a CLI that ends well although the service cut the model's
	// answer off: a DONE of it counts only with its seal.
	Truncation string
	// AddsMentions is set for a CLI that adds the files to a prompt that an "@" in it names, and
	// cannot be kept from that.
	AddsMentions bool `toml:"adds_mentions"`
	// Sayings are matched against the start of a failed turn's reason, as its events tell
	// it, and of its last lines. The first match counts.
	Sayings []Saying
	// Exits are the exit codes that mean more than "it failed".
	Exits map[string]loop.Ending
}

// Needs are what a CLI needs to work, and how to get it.
type Needs struct {
	// Requires are variables that must be set, each with its alternatives.
	Requires [][]string
	// Credentials are the ways in which the CLI may be signed in, in order of preference.
	Credentials []Credential

	Install string // what to do when the program is missing, as the end of a sentence
	SignIn  string `toml:"sign_in"` // what to do when it is not signed in, likewise
	// Former is the npm package that used to hold the program and is no longer updated;
	// "": none.
	Former string
}

// args returns the arguments for a kind of access, with the model and the conversation
// filled in, but not the prompt. id names a new conversation; "" leaves that to the CLI.
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
	if access == loop.ReadOnly {
		out = append(out, s.WithoutProject.Args...)
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

// env returns the variables that are set for a kind of access.
func (s Spec) env(access loop.Access) map[string]string {
	all := map[string]string{}
	maps.Copy(all, s.Env)
	if access == loop.ReadOnly {
		maps.Copy(all, s.WithoutProject.Env)
	}
	return all
}

// splice replaces a placeholder in args with more, or appends more if there is none.
func splice(args []string, placeholder string, more []string) []string {
	at := slices.Index(args, placeholder)
	if at < 0 {
		return slices.Concat(args, more)
	}
	return slices.Concat(args[:at], more, args[at+1:])
}

// conversation returns the arguments that continue a conversation or, if the CLI cannot,
// those that begin one with the name id.
func (s Spec) conversation(c loop.Conversation, id string) []string {
	if s.Prompt == talk {
		return nil
	}
	args, hold, name := s.Begin, holdSessionID, id
	if s.canResume(c) {
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

// Resumes reports whether the CLI can continue a conversation: it must accept a
// conversation's name, and have printed it before.
func (s Spec) Resumes() bool { return len(s.Resume) > 0 && s.Output != Text }

// longestID bounds the name of a conversation, in bytes. Names come from agents' output,
// which is not trusted.
const longestID = 200

func (s Spec) canResume(c loop.Conversation) bool {
	return s.Resumes() && c.Agent.Agent == s.Name && len(c.ID) <= longestID && isName(c.ID)
}

// binaries returns the names of the program for a kind of access.
func (s Spec) binaries(access loop.Access) []string {
	if access == loop.ReadOnly && len(s.ReadOnlyBinaries) > 0 {
		return s.ReadOnlyBinaries
	}
	return s.Binaries
}

// CommandLine returns the agent's command line for people to read, with the placeholders
// "{prompt}" or "{prompt_file}" and "{session_id}" left in.
func (s Spec) CommandLine(access loop.Access, model string) []string {
	return append([]string{s.binaries(access)[0]}, s.args(access, model, loop.Conversation{}, holdSessionID)...)
}

func mentions(args []string, placeholder string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, placeholder) })
}
