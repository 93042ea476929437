package agent

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestEveryAgent checks the same rules for each CLI of the catalogue, with a real process
// under its name.
func TestEveryAgent(t *testing.T) {
	t.Parallel()
	for _, spec := range Catalogue() {
		t.Run(spec.Name, func(t *testing.T) {
			t.Parallel()
			t.Run("arguments", func(t *testing.T) {
				t.Parallel()
				testArguments(t, spec)
			})
			t.Run("prompt", func(t *testing.T) {
				t.Parallel()
				testPrompt(t, spec)
			})
			t.Run("environment", func(t *testing.T) {
				t.Parallel()
				testEnvironment(t, spec)
			})
			t.Run("ending", func(t *testing.T) {
				t.Parallel()
				testEndings(t, spec)
			})
			t.Run("description", func(t *testing.T) {
				t.Parallel()
				testDescription(t, spec)
			})
		})
	}
}

// The golden files hold the very arguments with which the real programs were run. They
// change only when a program does.
func testArguments(t *testing.T, spec Spec) {
	t.Helper()
	var lines []string
	for _, access := range []loop.Access{loop.Write, loop.ReadOnly} {
		role := loop.RoleCritic
		if access == loop.Write {
			role = loop.RoleActor
		}
		for _, model := range []string{"", "some-model"} {
			if model != "" && len(spec.ModelArgs) == 0 {
				continue
			}
			for prompt, note := range map[string]string{"do {model} it": "", "do @it": " with a mention"} {
				if note != "" && spec.Talk.Output == "" {
					continue
				}
				s := newStage(t, spec.Binaries[0])
				s.speaks(spec.Output)
				reply, c := s.play(s.agent(spec, model), Request{ID: "session__" + string(role) + "_1", Role: role, Access: access, Iteration: 1, Prompt: prompt})
				args := strings.ReplaceAll(fmt.Sprintf("%q", c.Args), s.place.Outputs, "OUTPUTS")
				if reply.SessionID != "" {
					args = strings.ReplaceAll(args, reply.SessionID, "SESSION_ID")
				}
				lines = append(lines, fmt.Sprintf("%s, model %q%s: %s\n", role, model, note, args))
				equal(t, "working directory", []string{c.Dir}, []string{s.place.Dir})
			}
		}
	}
	slices.Sort(lines)
	got := strings.Join(lines, "")
	golden := filepath.Join("testdata", "arguments", spec.Name+".txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func testPrompt(t *testing.T, spec Spec) {
	t.Helper()
	for name, prompt := range map[string]string{
		"empty": "",
		"at":    "mail user@file, and @file\n",
		"flag":  "--help\n{prompt} {model_args}\r\n",
		"bytes": strings.Repeat("a diff of many lines \x00 caf\xe9 \xff\xfe \xc3\n", 40_000), // over 1 MB
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, spec.Binaries[0])
			s.speaks(spec.Output)
			reply, c := s.play(s.agent(spec, ""), Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 1, Prompt: prompt})
			got := c.Stdin
			if spec.Prompt == File {
				got = c.File
			}
			if !bytes.Equal(got, []byte(prompt)) {
				t.Errorf("the prompt of %d bytes came in as %d bytes, or others", len(prompt), len(got))
			}
			said := strings.TrimSuffix(sample, "\n")
			if strings.TrimSuffix(reply.Text, "\n") != said || !strings.HasPrefix(reply.Stdout.Text, said) || reply.Stderr.Text != "a warning\n" {
				t.Errorf("got the text %q, stdout %q, stderr %q", reply.Text, reply.Stdout.Text, reply.Stderr.Text)
			}
			if reply.Ending != loop.EndCompleted || reply.Reason != "" {
				t.Errorf("ended as %s: %s", reply.Ending, reply.Reason)
			}
		})
	}
}

func testEnvironment(t *testing.T, spec Spec) {
	t.Helper()
	s := newStage(t, spec.Binaries[0])
	s.speaks(spec.Output)
	for _, name := range nested() {
		s.place.Environ = append(s.place.Environ, strings.ReplaceAll(name, "*", "SOCKET")+"=1")
	}
	s.place.Environ = append(s.place.Environ,
		"CODELOOPS_AGENT=codex", "CODELOOPS_ROLE=nobody", "CODELOOPS_SESSION_DIR=/somewhere",
		"MY_API_KEY=hidden", "MY_API_KEYRING=kept", "EMPTY=", "ODD=a=b\nc")
	s.place.EnvDeny = []string{"*_API_KEY"}
	_, c := s.play(s.agent(spec, ""), Request{Role: loop.RoleCritic, Iteration: 12, Repeat: Repeat{Ask: 2}})

	gone := append(nested(), "CODELOOPS_AGENT", "CODELOOPS_SESSION_DIR", "MY_API_KEY")
	for _, name := range gone {
		equal(t, name, c.env(strings.ReplaceAll(name, "*", "SOCKET")), nil)
	}
	for name, value := range map[string]string{
		"PATH":                s.place.Environ[0][len("PATH="):],
		"MY_API_KEYRING":      "kept",
		"EMPTY":               "",
		"ODD":                 "a=b\nc",
		"CODELOOPS_SESSION":   s.place.Session,
		"CODELOOPS_ROLE":      "critic",
		"CODELOOPS_RUN":       "1",
		"CODELOOPS_ITERATION": "12",
		"CODELOOPS_ASK":       "2",
	} {
		equal(t, name, c.env(name), []string{value})
	}
}

func testEndings(t *testing.T, spec Spec) {
	t.Helper()
	for _, test := range []struct {
		does   string
		limits proc.Limits
		cancel bool
		want   loop.Ending
		exit   int // checked unless the turn was cut short
	}{
		{does: "", want: loop.EndCompleted},
		{does: "exit 3", want: loop.EndFailed, exit: 3},
		{does: "die", want: loop.EndFailed, exit: -1},
		{does: "hang", limits: proc.Limits{Timeout: 300 * time.Millisecond}, want: loop.EndTimedOut},
		{does: "hang", limits: proc.Limits{Idle: 300 * time.Millisecond}, want: loop.EndIdle},
		{does: "flood 10000000", limits: proc.Limits{MaxOutput: 1 << 16}, want: loop.EndOutputLimit},
		{does: "hang", cancel: true, want: loop.EndInterrupted},
	} {
		t.Run(string(test.want), func(t *testing.T) {
			t.Parallel()
			s := newStage(t, spec.Binaries[0])
			s.speaks(spec.Output)
			s.does(test.does)
			s.place.Limits = test.limits
			s.place.Limits.Keep = 1 << 16
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			request := Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 1, Watch: func(loop.Notice) {
				if test.cancel {
					cancel()
				}
			}}
			reply, err := s.agent(spec, "").Run(ctx, request)
			if err != nil {
				t.Fatal(err)
			}
			if reply.Ending != test.want || !reply.Ending.Cut() && reply.ExitCode != test.exit {
				t.Errorf("ended as %s with exit code %d, want %s with %d",
					reply.Ending, reply.ExitCode, test.want, test.exit)
			}
		})
	}
}

func testDescription(t *testing.T, spec Spec) {
	t.Helper()
	if spec.Install == "" || len(spec.VersionArgs) == 0 || spec.Prompt == "" || spec.Output == "" {
		t.Errorf("the description is incomplete: %+v", spec)
	}
	for _, name := range append([]string{spec.Name}, spec.Aliases...) {
		if found, err := Find(name); err != nil || found.Name != spec.Name {
			t.Errorf("Find(%q) = %q, %v", name, found.Name, err)
		}
	}
}

// TestDefaultEnv: a variable that the user has set is left alone.
func TestDefaultEnv(t *testing.T) {
	t.Parallel()
	spec := known("kilo")
	for _, own := range []string{"", `{"model":"a/b"}`} {
		s := newStage(t, spec.Binaries[0])
		s.speaks(spec.Output)
		want := spec.DefaultEnv["KILO_CONFIG_CONTENT"]
		if own != "" {
			s.place.Environ, want = append(s.place.Environ, "KILO_CONFIG_CONTENT="+own), own
		}
		_, c := s.play(s.agent(spec, ""), Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 1})
		equal(t, "KILO_CONFIG_CONTENT", c.env("KILO_CONFIG_CONTENT"), []string{want})
	}
}
