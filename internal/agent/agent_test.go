package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

func TestOwnChannels(t *testing.T) {
	t.Parallel()
	const prompt = "fix {prompt} and {model}; rm -rf $HOME `x`\n"
	for _, test := range []struct {
		name  string
		own   Own
		model string
		args  []string
		stdin string
	}{
		{
			name: "stdin", own: Own{Command: []string{"mine", "--yes", "$HOME"}},
			args: []string{"--yes", "$HOME"}, stdin: prompt,
		},
		{
			name: "pipe", own: Own{Command: []string{"mine"}, Prompt: "pipe"},
			stdin: prompt,
		},
		{
			name: "argument at the end", model: "m",
			own:  Own{Command: []string{"mine", "-p"}, Prompt: "arg", ModelArgs: []string{"--model", "{model}"}},
			args: []string{"-p", "--model", "m", prompt},
		},
		{
			name: "argument within", model: "m",
			own:  Own{Command: []string{"mine", "--prompt={prompt}", "{model}"}, Prompt: "arg"},
			args: []string{"--prompt=" + prompt, "m"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "mine")
			_, c := s.play(s.agent(ownAgent(t, test.own), test.model), Request{Role: loop.RoleActor, Iteration: 1, Prompt: prompt})
			equal(t, "arguments", c.Args, test.args)
			equal(t, "stdin", []string{string(c.Stdin)}, []string{test.stdin})
		})
	}
}

func TestPromptFile(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	spec := ownAgent(t, Own{Command: []string{"mine", "-f", "{prompt_file}"}, Prompt: "file"})
	_, c := s.play(s.agent(spec, ""), Request{Role: loop.RoleCritic, Iteration: 3, Ask: 1, Prompt: "NUL \x00 too"})
	file := filepath.Join(s.place.Outputs, "003.critic-1.prompt")
	equal(t, "arguments", c.Args, []string{"-f", file})
	equal(t, "file", []string{string(c.File), c.Mode.String(), string(c.Stdin)}, []string{"NUL \x00 too", "-rw-------", ""})
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of the prompt is still there: %v", err)
	}
}

func TestArgumentRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	a := s.agent(ownAgent(t, Own{Command: []string{"mine", "-p={prompt}"}, Prompt: "arg"}), "")
	most := strings.Repeat("x", maxArg-len("-p="))
	if _, c := s.play(a, Request{Role: loop.RoleActor, Iteration: 1, Prompt: most}); len(c.Args[0]) != maxArg {
		t.Errorf("an argument of %d bytes came in as %d", maxArg, len(c.Args[0]))
	}
	for prompt, want := range map[string]string{
		most + "x": "the agent mine takes its prompt as an argument, which has room for 131071 bytes, not 131072",
		"a\x00b":   "the agent mine takes its prompt as an argument, which cannot hold the NUL byte that this one has",
	} {
		_, err := a.Run(t.Context(), Request{Role: loop.RoleActor, Iteration: 1, Prompt: prompt})
		if err == nil || err.Error() != want {
			t.Errorf("got the error %v, want %s", err, want)
		}
	}
}

func TestOwnEnvironmentWins(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	s.place.Environ = append(s.place.Environ, "MODE=theirs", "CLAUDECODE=1")
	spec := ownAgent(t, Own{Command: []string{"mine"}, Env: map[string]string{"MODE": "ours", "CLAUDECODE": "on purpose"}})
	spec.DropEnv = []string{"HOM?"}
	_, c := s.play(s.agent(spec, ""), Request{Role: loop.RoleActor, Iteration: 1})
	equal(t, "MODE", c.env("MODE"), []string{"ours"})
	equal(t, "CLAUDECODE", c.env("CLAUDECODE"), []string{"on purpose"})
	equal(t, "HOME", c.env("HOME"), nil)
}

func TestTurnFiles(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	a := s.agent(ownAgent(t, Own{Command: []string{"mine"}}), "")
	for _, r := range []Request{
		{Role: loop.RoleActor, Iteration: 1},
		{Role: loop.RoleCritic, Iteration: 1},
		{Role: loop.RoleCritic, Iteration: 1, Ask: 1},
		{Role: loop.RoleActor, Iteration: 1000},
	} {
		s.play(a, r)
	}
	entries, err := os.ReadDir(s.place.Outputs)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	equal(t, "files", names, []string{
		"001.actor.stderr", "001.actor.stdout", "001.critic-1.stderr", "001.critic-1.stdout",
		"001.critic.stderr", "001.critic.stdout", "1000.actor.stderr", "1000.actor.stdout",
	})
}

// Of a large output the end is what counts: the head, with another decision in
// it, is not the agent's final text.
func TestFinalTextOfLargeOutput(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	s.does("flood 100000")
	s.place.Limits.Keep = 4 << 10
	reply, _ := s.play(s.agent(ownAgent(t, Own{Command: []string{"mine"}}), ""), Request{Role: loop.RoleCritic, Iteration: 1})
	if !strings.HasPrefix(reply.Stdout.Text, "DECISION: CONTINUE\n") || reply.Stdout.Omitted == 0 || reply.Stdout.File == "" {
		t.Errorf("the output was not cut: %d bytes kept, %+v", len(reply.Stdout.Text), reply.Stdout.Omitted)
	}
	if strings.Contains(reply.Text, "CONTINUE") || !strings.HasSuffix(reply.Text, sample) || !strings.HasPrefix(reply.Text, "line of a flood\n") {
		t.Errorf("the final text of %d bytes is not the end in whole lines", len(reply.Text))
	}
}

func TestLeftovers(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	s.does("leave")
	reply, _ := s.play(s.agent(ownAgent(t, Own{Command: []string{"mine"}}), ""), Request{Role: loop.RoleActor, Iteration: 1})
	if len(reply.Leftovers) != 1 || !strings.Contains(reply.Leftovers[0].Command, "sleep 300") {
		t.Errorf("got the leftovers %v", reply.Leftovers)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	got := map[string]string{}
	s.play(s.agent(ownAgent(t, Own{Command: []string{"mine"}}), ""), Request{
		Role: loop.RoleActor, Iteration: 1,
		Watch: func(n loop.Notice) { got[n.Stream] += n.Text },
	})
	if got["stdout"] != sample || got["stderr"] != "a warning\n" {
		t.Errorf("watched %q", got)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	plain, needs := Own{Command: []string{"mine"}}, Own{Command: []string{"mine", "{model}"}}
	for _, test := range []struct {
		own   Own
		model string
		deny  string
		want  string
	}{
		{plain, "m", "", "the agent mine takes no model: it has neither model_args nor {model} in its command"},
		{needs, "", "", "the agent mine needs a model for the actor: its command holds {model}"},
		{plain, "", "[A", `"[A" is no pattern for names of variables: syntax error in pattern`},
	} {
		place := s.place
		place.EnvDeny = []string{test.deny}
		_, err := New(ownAgent(t, test.own), test.model, place, loop.RoleActor)
		if err == nil || err.Error() != test.want {
			t.Errorf("got the error %v, want %s", err, test.want)
		}
	}
	a, err := New(ownAgent(t, plain), "", s.place, loop.RoleActor)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), Request{Role: loop.RoleCritic}); err == nil {
		t.Error("a role that was not set up was played")
	}
}

// failing is a starter that cannot run anything.
type failing struct{ err error }

func (f failing) Run(context.Context, proc.Command) (proc.Result, error) {
	return proc.Result{ExitCode: 4, Stdout: proc.Captured{Text: []byte("known")}}, f.err
}

func TestRunErrors(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	for _, test := range []struct {
		err  error
		text string
	}{
		{proc.ErrClosed, ""},
		{&proc.SurvivorError{Processes: []proc.Process{{PID: 7}}}, "known"},
		{fmt.Errorf("more: %w", proc.ErrKeeper), "known"},
	} {
		s.place.Starter = failing{test.err}
		reply, err := s.agent(ownAgent(t, Own{Command: []string{"mine"}}), "").Run(t.Context(), Request{Role: loop.RoleActor, Iteration: 1})
		if !errors.Is(err, test.err) || reply.Text != test.text {
			t.Errorf("got %q, %v; want %q, %v", reply.Text, err, test.text, test.err)
		}
	}
}
