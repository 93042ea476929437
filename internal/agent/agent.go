package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// maxArg is the longest argument that Linux takes: MAX_ARG_STRLEN in
// linux/binfmts.h, less the NUL at its end.
const maxArg = 128<<10 - 1

// A Starter runs one command to its end and leaves nothing of it running;
// [proc.Runner] is one.
type Starter interface {
	Run(context.Context, proc.Command) (proc.Result, error)
}

// A Place is where and within which limits an agent works.
type Place struct {
	Starter Starter
	Dir     string   // the user's working directory, absolute
	Environ []string // what codeloops was started with
	EnvDeny []string // names of variables, or globs as in path.Match, that no agent sees
	// HideSecrets keeps variables whose names look secret from read-only turns, but
	// for those that their CLIs sign in with and those that EnvPass names.
	HideSecrets bool
	EnvPass     []string // names or globs
	Outputs     string   // an existing directory, absolute, for the files of the turns
	Session     string   // the session's ID
	// Run counts the times that the session was continued: a turn that is played
	// again must not give its conversation a name that the CLI knows already.
	Run    int
	Limits proc.Limits // of one turn
	// Now is the time, for ends of limits that are told as a pause or as a time of
	// the day; nil: those are not understood.
	Now func() time.Time
}

// A Reply is one turn played.
type Reply struct {
	loop.Turn
	// Text is the agent's final text: what a critic's verdict is read from.
	// Of an output that is not kept whole it is the end.
	Text string
	// Answered is set when what was in the turn's way is what the model's service
	// has answered.
	Answered bool
}

// An Agent is a CLI that is there, bound to a model and a place. It is safe
// for concurrent use as long as no two turns have the same step, role, iteration,
// ask, leg and try.
type Agent struct {
	spec  Spec
	model string
	at    Place
	paths map[loop.Access]string
}

// New binds a spec for turns with the given access, and looks up everything that can be
// looked up before anything runs. Errors are those of [Spec.Resolve], or say
// that the model or the place does not fit.
func New(spec Spec, model string, at Place, kinds ...loop.Access) (*Agent, error) {
	if err := checkGlobs(slices.Concat(at.EnvDeny, at.EnvPass)); err != nil {
		return nil, err
	}
	a := &Agent{spec: spec, model: model, at: at, paths: map[loop.Access]string{}}
	for _, access := range kinds {
		if err := spec.checkModel(access, model); err != nil {
			return nil, err
		}
		path, err := spec.Resolve(access, at.Dir, at.Environ)
		if err != nil {
			return nil, err
		}
		a.paths[access] = path
	}
	return a, nil
}

// checkModel refuses a model that would be passed over, and the lack of one
// that the arguments need.
func (s Spec) checkModel(access loop.Access, model string) error {
	asks := mentions(s.args(access, "", loop.Conversation{}, ""), holdModel)
	switch {
	case model == "" && asks:
		return fmt.Errorf("the agent %s needs a model: its %s command holds {model}", s.Name, access)
	case model != "" && !asks && len(s.ModelArgs) == 0:
		return fmt.Errorf("the agent %s takes no model: it has neither model_args nor {model} in its command", s.Name)
	}
	return nil
}

// Run plays one turn. However the agent ends is a Reply, not an error; an
// error means that it could not be run, or that something of it could not be
// ended.
func (a *Agent) Run(ctx context.Context, r Request) (Reply, error) {
	if err := r.check(); err != nil {
		return Reply{}, err
	}
	path, ok := a.paths[r.Access]
	if !ok {
		return Reply{}, fmt.Errorf("the agent %s was not set up for %s turns", a.spec.Name, r.Access)
	}
	name := filepath.Join(a.at.Outputs, r.name())
	cmd := proc.Command{
		Invocation: proc.Invocation{Dir: cmp.Or(r.Dir, a.at.Dir), Env: a.environ(r)},
		Records: proc.Records{
			Stdout: name + ".stdout", Stderr: name + ".stderr", Late: name + ".late",
			Sealed: r.Access == loop.ReadOnly, // who may not write, decides
		},
		Limits: a.at.Limits,
	}
	tidy, err := a.hand(r, name, &cmd)
	defer tidy()
	if err != nil {
		return Reply{}, err
	}
	args, err := a.argv(r, name)
	if err != nil {
		return Reply{}, err
	}
	cmd.Argv = append([]string{path}, args...)
	reply, err := a.run(ctx, cmd, r)
	a.spec.addUsage(&reply.Turn, name+usageSuffix)
	if reply.Ending == loop.EndRateLimited && reply.ResetAt.IsZero() && a.at.Now != nil {
		reply.ResetAt = resetIn(reply.Reason, a.at.Now())
	}
	reply.Reason = transcript.Line(reply.Reason) // some tell the end of a limit at the end of many words
	if remedy := a.spec.Remedy(a.at.Environ); reply.Ending == loop.EndAuth && remedy != "" {
		reply.Reason = strings.TrimPrefix(reply.Reason+"; "+remedy, "; ")
	}
	if reply.Resumed && a.spec.ResumeTotals {
		reply.Usage = reply.Usage.Less(r.Conversation.Spent)
	}
	return reply, err
}

// hand gives the agent its prompt, unless that is an argument, and its policy. tidy
// removes the files that hand wrote.
func (a *Agent) hand(r Request, name string, cmd *proc.Command) (tidy func(), err error) {
	files := map[string]string{}
	switch a.spec.Prompt {
	case Arg:
		if strings.Contains(r.Prompt, "\x00") {
			err = fmt.Errorf("the agent %s takes its prompt as an argument, which cannot hold the NUL byte that this one has",
				a.spec.Name)
		}
	case File:
		files[name+promptSuffix] = r.Prompt
	case Stdin, Pipe:
		cmd.Stdin, cmd.StdinPipe = []byte(r.Prompt), a.spec.Prompt == Pipe
	}
	if a.spec.Policy != "" {
		files[name+policySuffix] = a.spec.Policy
	}
	for path, text := range files {
		if e := os.WriteFile(path, []byte(text), 0o600); e != nil {
			err = fmt.Errorf("write what the agent %s reads: %w", a.spec.Name, e)
		}
	}
	return func() {
		for path := range files {
			_ = os.Remove(path) // it stands beside the outputs and goes with them
		}
	}, err
}

// What the names of a turn's files end in, beside ".stdout" and ".stderr".
const (
	promptSuffix = ".prompt"
	usageSuffix  = ".usage"
	policySuffix = ".policy.toml"
)

// argv returns the arguments with everything filled in; name is what the
// turn's files are named after. A prompt that holds a placeholder keeps it.
func (a *Agent) argv(r Request, name string) ([]string, error) {
	fill := strings.NewReplacer(holdPrompt, r.Prompt, holdPromptFile, name+promptSuffix, holdUsageFile, name+usageSuffix,
		holdPolicyFile, name+policySuffix)
	args := a.spec.args(r.Access, a.model, r.Conversation, a.sessionID(r))
	for i, arg := range args {
		args[i] = fill.Replace(arg)
		if a.spec.Prompt == Arg && len(args[i]) > maxArg {
			return nil, &longPromptError{a.spec.Name, len(args[i])}
		}
	}
	return args, nil
}

// A longPromptError says that a prompt is too long for an argument.
type longPromptError struct {
	agent string
	size  int // bytes of the argument that it would make
}

func (e *longPromptError) Error() string {
	return fmt.Sprintf("the agent %s takes its prompt as an argument, which has room for %d bytes, not %d", e.agent, maxArg, e.size)
}

// Hint says what can be done about it.
func (e *longPromptError) Hint() string {
	return "write what is long into a file, and name that file in the prompt"
}

func (a *Agent) run(ctx context.Context, cmd proc.Command, r Request) (Reply, error) {
	heard, enough := context.WithCancel(ctx)
	defer enough()
	l := newListener(a.spec.Output, a.at.Limits.Keep, r.Watch, enough)
	cmd.Watch = l.hear
	starter := a.at.Starter
	if r.Starter != nil {
		starter = r.Starter
	}
	res, err := starter.Run(heard, cmd)
	if err != nil {
		err = fmt.Errorf("run the agent %s: %w", a.spec.Name, err)
		if _, survived := errors.AsType[*proc.SurvivorError](err); !survived && !errors.Is(err, proc.ErrKeeper) {
			return Reply{}, err
		}
	}
	if heard.Err() != nil && ctx.Err() == nil && res.Stop == proc.StopCancelled {
		res.Stop = proc.StopIdle // it was not worth waiting for: the events say why
	}
	reply := a.spec.reply(r.Access, res, l.end())
	reply.Agent, reply.Resumed, reply.SessionID = a.Ref(), a.spec.carriesOn(r.Conversation), a.sessionID(r)
	return reply, err
}

// Ref names the agent as events do.
func (a *Agent) Ref() loop.AgentRef { return loop.AgentRef{Agent: a.spec.Name, Model: a.model} }
