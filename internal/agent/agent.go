package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

// maxArg is the longest argument that Linux accepts: MAX_ARG_STRLEN in linux/binfmts.h
// without the terminating NUL.
const maxArg = 128<<10 - 1

// A Starter runs one command to its end and leaves nothing of it running. [proc.Runner]
// is one.
type Starter interface {
	Run(context.Context, proc.Command) (proc.Result, error)
}

// A Place is where and within which limits an agent works.
type Place struct {
	Starter Starter
	Dir     string   // the user's working directory, absolute
	Environ []string // what codeloops was started with
	EnvDeny []string // variables that no agent sees: names, or globs as in path.Match
	// HideSecrets hides variables with secret-looking names from read-only turns, except
	// for those that their CLIs sign in with and those that EnvPass names.
	HideSecrets bool
	EnvPass     []string // names or globs
	Outputs     string   // an existing directory, absolute, for the files of the turns
	Session     string   // the session's ID
	// Run counts how often the session was resumed: a turn that is played again must not
	// give its conversation a name that the CLI already knows.
	Run    int
	Limits proc.Limits // of one turn
	// Wary returns the spec with which a role is started for a turn that may change files: that of
	// [Spec.Wary] if the work tree has files that the user does not trust. It is asked before
	// each turn, because an earlier one may have written them; nil: the user trusts all.
	Wary func(loop.Role, Spec) Spec
	// Now is the clock for limits whose end is given as a pause or a time of day; nil:
	// those are not understood.
	Now func() time.Time
}

// A Reply is the result of a turn.
type Reply struct {
	loop.Turn
	// Text is the agent's final text, from which a critic's verdict is read. If the
	// output is not kept whole, it is the end of it.
	Text string
	// Answered is set when the turn failed with an answer of the model's service.
	Answered bool
	// SealOnly: the answer may have been cut off without a word.
	SealOnly bool
	running  bool // its usage is that of its own messages
}

// An Agent is an installed CLI, bound to a model and a place. It is safe for concurrent
// use as long as no two turns have the same step, role, iteration, ask, leg and try.
type Agent struct {
	spec  Spec
	model string
	at    Place
	paths map[loop.Access]string
}

// New binds a spec for turns with the given kinds of access, and resolves everything that
// can be resolved before anything runs. Errors are those of [Spec.Resolve], or say that
// the model or the place does not fit.
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

// checkModel rejects a model that would be ignored, and a missing one that the arguments
// need.
func (s Spec) checkModel(access loop.Access, model string) error {
	needed := mentions(s.args(access, "", loop.Conversation{}, ""), holdModel)
	switch {
	case model == "" && needed:
		return fmt.Errorf("the agent %s needs a model: its %s command holds {model}", s.Name, access)
	case model != "" && !needed && len(s.ModelArgs) == 0:
		return fmt.Errorf("the agent %s takes no model: it has neither model_args nor {model} in its command", s.Name)
	}
	return nil
}

// Run plays one turn. However the agent ends, that is a Reply, not an error. An error
// means that the agent could not be run, or that a process of it could not be ended.
func (a *Agent) Run(ctx context.Context, r Request) (Reply, error) {
	if err := r.check(); err != nil {
		return Reply{}, err
	}
	spec := a.spec
	if r.Access == loop.Write && a.at.Wary != nil {
		spec = a.at.Wary(r.Role, spec)
	}
	a = &Agent{spec: spec.handing(r.Prompt), model: a.model, at: a.at, paths: a.paths}
	path, ok := a.paths[r.Access]
	if !ok {
		return Reply{}, fmt.Errorf("the agent %s was not set up for %s turns", a.spec.Name, r.Access)
	}
	name := filepath.Join(a.at.Outputs, r.name())
	cmd := proc.Command{
		Invocation: proc.Invocation{Dir: cmp.Or(r.Dir, a.at.Dir), Env: a.environ(r)},
		Records: proc.Records{
			Stdout: name + ".stdout", Stderr: name + ".stderr", Late: name + ".late",
			Sealed: r.Access == loop.ReadOnly, // the critic's output decides
		},
		Limits: a.at.Limits,
	}
	tidy, err := a.prepare(r, name, &cmd)
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
	reply.Reason = transcript.Line(reply.Reason) // not before: a long text may say at its end when a limit is over
	if remedy := a.spec.Remedy(a.at.Environ); reply.Ending == loop.EndAuth && remedy != "" {
		reply.Reason = strings.TrimPrefix(reply.Reason+"; "+remedy, "; ")
	}
	if reply.Resumed && a.spec.ResumeTotals && !reply.running {
		reply.Usage = reply.Usage.Less(r.Conversation.Spent)
	}
	return reply, err
}

// prepare sets the agent's input and writes its prompt file and policy file. tidy removes
// those files.
func (a *Agent) prepare(r Request, name string, cmd *proc.Command) (tidy func(), err error) {
	files := map[string]string{}
	switch a.spec.Prompt {
	case Arg:
		if strings.Contains(r.Prompt, "\x00") {
			err = fmt.Errorf("the agent %s takes its prompt as an argument, which cannot hold the NUL byte that this one has",
				a.spec.Name)
		}
	case File:
		files[name+promptSuffix] = r.Prompt
	case talk:
		cmd.StdinPipe = true // the decoder writes to it
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
			_ = os.Remove(path) // otherwise it is removed with the outputs
		}
	}, err
}

// Suffixes of a turn's files, besides ".stdout" and ".stderr".
const (
	promptSuffix = ".prompt"
	usageSuffix  = ".usage"
	policySuffix = ".policy.toml"
)

// argv returns the arguments with all placeholders filled in; name is the prefix of the
// turn's files. A placeholder inside the prompt stays as it is.
func (a *Agent) argv(r Request, name string) ([]string, error) {
	fill := strings.NewReplacer(holdPrompt, r.Prompt, holdPromptFile, name+promptSuffix, holdUsageFile, name+usageSuffix,
		holdPolicyFile, name+policySuffix)
	args := a.spec.args(r.Access, a.model, r.Conversation, a.sessionID(r))
	for i, arg := range args {
		args[i] = fill.Replace(arg)
		if a.spec.Prompt == Arg && len(args[i]) > maxArg {
			return nil, hint.Errorf("put the long part into a file, and name that file in the prompt",
				"the agent %s takes its prompt as an argument, which has room for %d bytes, not %d", a.spec.Name, maxArg, len(args[i]))
		}
	}
	return args, nil
}

func (a *Agent) run(ctx context.Context, cmd proc.Command, r Request) (Reply, error) {
	hopeful, giveUp := context.WithCancel(ctx)
	defer giveUp()
	l := newListener(a.spec.Output, a.at.Limits.Keep, r.Watch, giveUp)
	if a.spec.Prompt == talk {
		cmd.More = a.converse(l.decoder, cmd.Dir, r)
	}
	cmd.Watch = l.hear
	starter := a.at.Starter
	if r.Starter != nil {
		starter = r.Starter
	}
	res, err := starter.Run(hopeful, cmd)
	if err != nil {
		err = fmt.Errorf("run the agent %s: %w", a.spec.Name, err)
		if _, survived := errors.AsType[*proc.SurvivorError](err); !survived && !errors.Is(err, proc.ErrKeeper) {
			return Reply{}, err
		}
	}
	if hopeful.Err() != nil && ctx.Err() == nil && res.Stop == proc.StopCancelled {
		res.Stop = proc.StopIdle // the listener gave up: the events say why
	}
	reply := a.spec.reply(r.Access, res, l.end())
	reply.Agent, reply.Resumed, reply.SessionID = a.Ref(), a.spec.canResume(r.Conversation), a.sessionID(r)
	return reply, err
}

// converse has the decoder speak with the agent, and returns what it says.
func (a *Agent) converse(d *transcript.Decoder, dir string, r Request) io.ReadCloser {
	box := newMailbox()
	t := transcript.Talk{
		Prompt: r.Prompt, Dir: dir, Name: a.sessionID(r), Model: a.model,
		Allow: r.Access == loop.Write || a.spec.Talk.Allow,
		Send:  box.send,
		End:   func() { _ = box.Close() }, // which never fails
	}
	if a.spec.canResume(r.Conversation) {
		t.Resume = r.Conversation.ID
	}
	d.Converse(t)
	return box
}

// Ref returns the agent's name and model, as events hold them.
func (a *Agent) Ref() loop.AgentRef { return loop.AgentRef{Agent: a.spec.Name, Model: a.model} }
