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

// TestOwnChannels: a custom agent gets the prompt literally, by each way that can be
// configured.
func TestOwnChannels(t *testing.T) {
	t.Parallel()
	const prompt = "fix {prompt} and {model}; rm -rf $HOME `x`\n"
	for _, test := range []struct {
		name  string
		own   CustomConfig
		model string
		args  []string
		stdin string
	}{
		{
			name: "stdin", own: CustomConfig{Command: []string{"mine", "--yes", "$HOME"}},
			args: []string{"--yes", "$HOME"}, stdin: prompt,
		},
		{
			name: "pipe", own: CustomConfig{Command: []string{"mine"}, Prompt: "pipe"},
			stdin: prompt,
		},
		{
			name: "argument at the end", model: "m",
			own:  CustomConfig{Command: []string{"mine", "-p"}, Prompt: "arg", ModelArgs: []string{"--model", "{model}"}},
			args: []string{"-p", "--model", "m", prompt},
		},
		{
			name: "argument within", model: "m",
			own:  CustomConfig{Command: []string{"mine", "--prompt={prompt}", "{model}"}, Prompt: "arg"},
			args: []string{"--prompt=" + prompt, "m"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "mine")
			_, c := s.play(s.agent(Custom("mine", test.own), test.model), Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 1, Prompt: prompt})
			equal(t, "arguments", c.Args, test.args)
			equal(t, "stdin", []string{string(c.Stdin)}, []string{test.stdin})
		})
	}
}

func TestPromptFile(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	spec := Custom("mine", CustomConfig{Command: []string{"mine", "-f", "{prompt_file}"}, Prompt: "file"})
	_, c := s.play(s.agent(spec, ""), Request{Role: loop.RoleCritic, Iteration: 3, Repeat: Repeat{Ask: 1}, Prompt: "NUL \x00 too"})
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
	a := s.agent(Custom("mine", CustomConfig{Command: []string{"mine", "-p={prompt}"}, Prompt: "arg"}), "")
	most := strings.Repeat("x", maxArg-len("-p="))
	if _, c := s.play(a, Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 1, Prompt: most}); len(c.Args[0]) != maxArg {
		t.Errorf("an argument of %d bytes came in as %d", maxArg, len(c.Args[0]))
	}
	for prompt, want := range map[string]string{
		most + "x": "the agent mine takes its prompt as an argument, which has room for 131071 bytes, not 131072",
		"a\x00b":   "the agent mine takes its prompt as an argument, which cannot hold the NUL byte that this one has",
	} {
		_, err := a.Run(t.Context(), Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 1, Prompt: prompt})
		if err == nil || err.Error() != want {
			t.Errorf("got the error %v, want %s", err, want)
		}
	}
}

func TestOwnEnvironmentWins(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	s.place.Environ = append(s.place.Environ, "MODE=theirs", "CLAUDECODE=1")
	spec := Custom("mine", CustomConfig{Command: []string{"mine"}, Env: map[string]string{"MODE": "ours", "CLAUDECODE": "on purpose"}})
	spec.DropEnv = []string{"HOM?"}
	_, c := s.play(s.agent(spec, ""), Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 1})
	equal(t, "MODE", c.env("MODE"), []string{"ours"})
	equal(t, "CLAUDECODE", c.env("CLAUDECODE"), []string{"on purpose"})
	equal(t, "HOME", c.env("HOME"), nil)
}

// TestTurnFiles: every turn has its own output files, named by iteration, role and
// repetition.
func TestTurnFiles(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	a := s.agent(Custom("mine", CustomConfig{Command: []string{"mine"}}), "")
	for _, r := range []Request{
		{Role: loop.RoleActor, Access: loop.Write, Iteration: 1},
		{Role: loop.RoleCritic, Iteration: 1},
		{Role: loop.RoleCritic, Iteration: 1, Repeat: Repeat{Ask: 1}},
		{Role: loop.RoleActor, Access: loop.Write, Iteration: 1000},
		{Step: "2.actor", Role: loop.RoleActor, Access: loop.Write, Iteration: 2},
		{Step: "2.critic", Role: loop.RoleCritic, Iteration: 2},
		{Step: "2.critic.2", Role: loop.RoleCritic, Iteration: 2, Repeat: Repeat{Ask: 1}},
		{Step: "planner", Role: "planner"},
		{Step: "3.debater_1.round_2", Role: "debater_1", Iteration: 3},
		{Step: "3.debater_1.round_2", Role: "debater_1", Iteration: 3, Repeat: Repeat{Ask: 1, Leg: 1}},
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
		"000.planner.stderr", "000.planner.stdout",
		"001.actor.stderr", "001.actor.stdout", "001.critic-1.stderr", "001.critic-1.stdout",
		"001.critic.stderr", "001.critic.stdout", "002.actor.stderr", "002.actor.stdout",
		"002.critic-1.stderr", "002.critic-1.stdout", "002.critic.stderr", "002.critic.stdout",
		"003.debater_1.round_2-1.leg1.stderr", "003.debater_1.round_2-1.leg1.stdout",
		"003.debater_1.round_2.stderr", "003.debater_1.round_2.stdout", "1000.actor.stderr", "1000.actor.stdout",
	})
}

// A role is only a name: its access decides what a turn may do.
func TestRolesDecideNothing(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	s.place.Environ = append(s.place.Environ, "CODELOOPS_STEP=outside")
	a := s.agent(Custom("mine", CustomConfig{Command: []string{"mine", "--write"}, CriticCommand: []string{"mine", "--look"}}), "")
	for _, role := range []loop.Role{loop.RoleActor, loop.RoleCritic, "planner", "debater_1", "judge", "reflector"} {
		for access, arg := range map[loop.Access]string{loop.ReadOnly: "--look", loop.Write: "--write"} {
			step := loop.Step("3").Sub(string(role))
			_, c := s.play(a, Request{Step: step, Role: role, Access: access, Iteration: 3})
			equal(t, "arguments of "+string(role), c.Args, []string{arg})
			equal(t, "role", c.env("CODELOOPS_ROLE"), []string{string(role)})
			equal(t, "step", c.env("CODELOOPS_STEP"), []string{string(step)})
		}
	}
	if _, c := s.play(a, Request{Role: "planner"}); len(c.env("CODELOOPS_STEP")) > 0 {
		t.Errorf("without a step, CODELOOPS_STEP is %q", c.env("CODELOOPS_STEP"))
	}
	for _, r := range []Request{{Role: "../x"}, {Role: "a/b"}, {Role: "a b"}, {Role: "a\nb"}, {Step: "1.a/b", Role: "a"}, {Step: "..", Role: "a"}} {
		if _, err := a.Run(t.Context(), r); err == nil || !strings.Contains(err.Error(), "cannot be the name of a ") {
			t.Errorf("%q, %q: %v", r.Step, r.Role, err)
		}
	}
}

// The end of a large output is the final text: a decision in its head does not count.
func TestFinalTextOfLargeOutput(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	s.does("flood 100000")
	s.place.Limits.Keep = 4 << 10
	reply, _ := s.play(s.agent(Custom("mine", CustomConfig{Command: []string{"mine"}}), ""), Request{Role: loop.RoleCritic, Iteration: 1})
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
	reply, _ := s.play(s.agent(Custom("mine", CustomConfig{Command: []string{"mine"}}), ""), Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 1})
	if len(reply.Leftovers) != 1 || !strings.Contains(reply.Leftovers[0].Command, "sleep 300") {
		t.Errorf("got the leftovers %v", reply.Leftovers)
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	got := map[string]string{}
	s.play(s.agent(Custom("mine", CustomConfig{Command: []string{"mine"}}), ""), Request{
		Role: loop.RoleActor, Access: loop.Write, Iteration: 1,
		Watch: func(n loop.Notice) { got[n.Stream] += n.Text },
	})
	if got["stdout"] != sample || got["stderr"] != "a warning\n" {
		t.Errorf("watched %q", got)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	plain, needs := CustomConfig{Command: []string{"mine"}}, CustomConfig{Command: []string{"mine", "{model}"}}
	for _, test := range []struct {
		own   CustomConfig
		model string
		deny  string
		want  string
	}{
		{plain, "m", "", "the agent mine takes no model: it has neither model_args nor {model} in its command"},
		{needs, "", "", "the agent mine needs a model: its write command holds {model}"},
		{plain, "", "[A", `"[A" is not a valid glob for variable names: syntax error in pattern`},
	} {
		place := s.place
		place.EnvDeny = []string{test.deny}
		_, err := New(Custom("mine", test.own), test.model, place, loop.Write)
		if err == nil || err.Error() != test.want {
			t.Errorf("got the error %v, want %s", err, test.want)
		}
	}
	a, err := New(Custom("mine", plain), "", s.place, loop.Write)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(t.Context(), Request{Role: loop.RoleActor}); err == nil {
		t.Error("a turn with an access that was not set up was played")
	}
}

// failing is a starter whose runs all fail.
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
		reply, err := s.agent(Custom("mine", CustomConfig{Command: []string{"mine"}}), "").Run(t.Context(), Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 1})
		if !errors.Is(err, test.err) || reply.Text != test.text {
			t.Errorf("got %q, %v; want %q, %v", reply.Text, err, test.text, test.err)
		}
	}
}
