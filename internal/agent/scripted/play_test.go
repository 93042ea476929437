package scripted

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary play the scripted agent, too, so that the tests run real
// processes.
func TestMain(m *testing.M) {
	if os.Getenv("PLAY_SCENARIO") != "" {
		os.Exit(Main(context.Background(), Invocation{
			Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Getenv,
		}))
	}
	os.Exit(m.Run())
}

// agent returns a command that will play the scenario in its own directory.
func agent(t *testing.T, scenario string, env ...string) *exec.Cmd {
	t.Helper()
	script := filepath.Join(t.TempDir(), "scenario.toml")
	if err := os.WriteFile(script, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "--script", script)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{
		"PLAY_SCENARIO=1", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GORACE=atexit_sleep_ms=0",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull,
		"CODELOOPS_ITERATION=1", "GOCOVERDIR=" + t.TempDir(), // for the coverage data of the test binary
	}, env...)
	return cmd
}

type played struct {
	stdout, stderr string
	exit           int
}

// play runs a process to its end, with the prompt "fix it".
func play(t *testing.T, cmd *exec.Cmd) played {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if cmd.Stdin == nil {
		cmd.Stdin = strings.NewReader("fix it")
	}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return played{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

func TestPlay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		scenario string
		env      []string
		want     played
	}{
		"reply": {
			scenario: "[[actor]]\nsay = 'fixed'\ncomplain = 'hm'\nexit = 3",
			want:     played{"fixed\n", "hm\n", 3},
		},
		"role": {
			scenario: "[[actor]]\nsay = 'a'\n[[critic]]\nsay = 'c'\n[[critic.again]]\nsay = 'again'",
			env:      []string{"CODELOOPS_ROLE=critic", "CODELOOPS_ITERATION=7", "CODELOOPS_ASK=1"},
			want:     played{"again\n", "", 0},
		},
		"expect": {
			scenario: "[[actor]]\nexpect = ['fix', 'later']\nsay = 'a'",
			want:     played{"", "scripted agent: the prompt does not contain \"later\"\n", 2},
		},
		"steps in order": {
			scenario: `[[actor]]
say = "last"
step = [
  { say = "first" }, { run = "cat; echo err >&2; exit 9", prompt = true },
  { run = "echo hidden; echo hidden >&2", hide = true }, { complain = "after" },
]`,
			want: played{"first\nfix itlast\n", "err\nafter\n", 0},
		},
		"check passes": {
			scenario: "[[actor]]\ncheck = 'echo out; echo err >&2'\npass = 'yes: {output}'\nfail = 'no'",
			want:     played{"yes: out\nerr\n", "", 0},
		},
		"check fails": {
			scenario: "[[actor]]\ncheck = 'echo out; exit 4'\npass = 'yes'\nfail = 'no: {output}!'\nexit = 1",
			want:     played{"no: out!\n", "", 1},
		},
		"one line": {
			scenario: "[[actor]]\nstep = [{ flood = '200', one_line = true }]",
			want:     played{strings.Repeat("x", 200), "", 0},
		},
		"lines to stderr": {
			scenario: "[[actor]]\nstep = [{ flood = '160B', to = 'stderr' }]",
			want:     played{"", strings.Repeat(strings.Repeat("x", 79)+"\n", 2), 0},
		},
		"failing step": {
			scenario: "[[actor]]\nsay = 'never'\nstep = [{ say = 'a' }, { delete = 'gone' }]",
			want:     played{"a\n", "scripted agent: step 2: delete gone: there is nothing of that name\n", 2},
		},
		"no such turn": {
			scenario: "repeat = false\n[[actor]]\n",
			env:      []string{"CODELOOPS_ITERATION=2"},
			want:     played{"", "scripted agent: the scenario has no turn 2 for the actor\n", 2},
		},
		"no such role": {
			scenario: "[[actor]]\n",
			env:      []string{"CODELOOPS_ROLE=judge"},
			want:     played{"", "scripted agent: the scenario has no turn 1 for the judge\n", 2},
		},
		"role by its step": {
			scenario: "[[role.debater_1]]\nsay = \"one\"\n[[role.debater_1]]\nsay = \"two\"\n",
			env:      []string{"CODELOOPS_ROLE=debater_1", "CODELOOPS_STEP=debater_1.round_2", "CODELOOPS_ITERATION=0"},
			want:     played{"two\n", "", 0},
		},
		"bad iteration": {
			scenario: "[[actor]]\n",
			env:      []string{"CODELOOPS_ITERATION=0"},
			want:     played{"", "scripted agent: CODELOOPS_ITERATION is \"0\", not a number of at least 1\n", 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := play(t, agent(t, test.scenario, test.env...)); got != test.want {
				t.Errorf("\n got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"--script"}, {"--script", "gone.toml"}, {"--script", "a", "b"}, {"--unknown"}} {
		cmd := agent(t, "")
		cmd.Args = append(cmd.Args[:1], args...)
		if got := play(t, cmd); got.exit != 2 || got.stdout != "" || !strings.Contains(got.stderr, "scripted agent: ") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

func TestFileSteps(t *testing.T) {
	t.Parallel()
	cmd := agent(t, `[[actor]]
step = [
  { write = "deep/er/a.txt", content = "one\n" },
  { append = "deep/er/a.txt", content = "two\n" },
  { append = "new.txt", content = "begun\n" },
  { write = "old.txt", content = "long content" }, { write = "old.txt", content = "short" },
  { write = "tool", content = "#!/bin/sh\n", mode = "755" },
  { write = "secret" }, { chmod = "secret", mode = "600" },
  { rename = "new.txt", to = "moved/there.txt" },
  { symlink = "link", target = "../../anywhere" },
  { write = "dir/x" }, { write = "dir/y" }, { delete = "dir" },
  { mkdir = "empty/dir" },
]`)
	if got := play(t, cmd); got != (played{}) {
		t.Fatalf("%+v", got)
	}
	got := map[string]string{}
	err := filepath.WalkDir(cmd.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == cmd.Dir {
			return err
		}
		name, _ := filepath.Rel(cmd.Dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		switch {
		case d.Type().IsRegular():
			data, _ := os.ReadFile(path)
			content = string(data)
		case d.Type()&fs.ModeSymlink != 0:
			content, _ = os.Readlink(path)
			info, content = nil, "-> "+content
		}
		if info != nil {
			content = info.Mode().String() + " " + content
		}
		got[filepath.ToSlash(name)] = content
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	dir, file := ordinary(t)
	for name, want := range map[string]string{
		"deep": dir + " ", "deep/er": dir + " ", "deep/er/a.txt": file + " one\ntwo\n",
		"old.txt": file + " short", "tool": "-rwxr-xr-x #!/bin/sh\n", "secret": "-rw------- ",
		"moved": dir + " ", "moved/there.txt": file + " begun\n", "link": "-> ../../anywhere",
		"empty": dir + " ", "empty/dir": dir + " ",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
		delete(got, name)
	}
	if len(got) != 0 {
		t.Errorf("also there: %v", got)
	}
}

// ordinary returns the modes of a new directory and a new file.
func ordinary(t *testing.T) (dir, file string) {
	t.Helper()
	in := t.TempDir()
	for _, err := range []error{os.Mkdir(filepath.Join(in, "d"), 0o755), os.WriteFile(filepath.Join(in, "f"), nil, 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	mode := func(name string) string {
		info, err := os.Lstat(filepath.Join(in, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().String()
	}
	return mode("d"), mode("f")
}

// No step changes anything outside the working directory, even through symlinks.
func TestConfinement(t *testing.T) {
	t.Parallel()
	for _, step := range []string{
		`{ write = "out/x" }`, `{ append = "out/victim", content = "x" }`, `{ delete = "out/victim" }`,
		`{ rename = "out/victim", to = "x" }`, `{ rename = "mine", to = "out/x" }`, `{ chmod = "out/victim", mode = "000" }`,
		`{ symlink = "out/x", target = "y" }`, `{ mkdir = "out/x" }`, `{ write = "file", content = "x" }`,
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			outside := t.TempDir()
			victim := filepath.Join(outside, "victim")
			cmd := agent(t, "[[actor]]\nstep = ["+step+"]")
			for _, err := range []error{
				os.WriteFile(victim, []byte("whole"), 0o644),
				os.WriteFile(filepath.Join(cmd.Dir, "mine"), nil, 0o644),
				os.Symlink(outside, filepath.Join(cmd.Dir, "out")),
				os.Symlink(victim, filepath.Join(cmd.Dir, "file")),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if got := play(t, cmd); got.exit != 2 || !strings.HasPrefix(got.stderr, "scripted agent: step 1: ") {
				t.Errorf("%+v", got)
			}
			entries, err := os.ReadDir(outside)
			data, _ := os.ReadFile(victim)
			if err != nil || len(entries) != 1 || string(data) != "whole" {
				t.Errorf("outside: %v, %q; %v", entries, data, err)
			}
		})
	}
}

func TestCommit(t *testing.T) {
	t.Parallel()
	cmd := agent(t, `[[actor]]
step = [
  { write = "a", content = "1" }, { commit = "First" }, { delete = "a" }, { write = "b" },
  { commit = "Second\n\nwith a body" }, { commit = "nothing" },
]`)
	git(t, cmd, "init", "--quiet")
	if got := play(t, cmd); got.exit != 0 || got.stdout != "" {
		t.Fatalf("%+v", got)
	}
	const want = "nothing Scripted Agent\nSecond Scripted Agent\n\nD\ta\nA\tb\nFirst Scripted Agent\n\nA\ta\n"
	if got := git(t, cmd, "log", "--format=%s %an", "--name-status", "--no-renames"); got != want {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if got := git(t, cmd, "status", "--porcelain"); got != "" {
		t.Errorf("left: %s", got)
	}
}

func TestCommitOutsideRepository(t *testing.T) {
	t.Parallel()
	cmd := agent(t, "[[actor]]\nstep = [{ commit = 'm' }]", "GIT_CEILING_DIRECTORIES="+os.TempDir())
	got := play(t, cmd)
	if got.exit != 2 || !strings.Contains(got.stderr, `step 1: commit "m": git ended with exit code 128`) {
		t.Errorf("%+v", got)
	}
}

func git(t *testing.T, like *exec.Cmd, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = like.Dir, like.Env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestFlood(t *testing.T) {
	t.Parallel()
	got := play(t, agent(t, "[[actor]]\nstep = [{ flood = '60MB', one_line = true }]\nsay = 'end'"))
	if len(got.stdout) != 60_000_000+len("end\n") || strings.Count(got.stdout, "\n") != 1 || got.exit != 0 {
		t.Errorf("%d bytes in %d lines, exit code %d", len(got.stdout), strings.Count(got.stdout, "\n"), got.exit)
	}
}

func TestPromptIsReadWhole(t *testing.T) {
	t.Parallel()
	prompt := strings.Repeat("a\x00\xff\r\n", 1<<18)
	cmd := agent(t, "[[actor]]\nstep = [{ run = 'cat', prompt = true }, { run = 'true', prompt = true }]")
	cmd.Stdin = strings.NewReader(prompt)
	if got := play(t, cmd); got.stdout != prompt || got.exit != 0 {
		t.Errorf("%d bytes came back of %d, exit code %d", len(got.stdout), len(prompt), got.exit)
	}
}

// A turn that does not read its prompt ends normally, and one that closes its input
// causes a write error.
func TestPromptUnread(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"ignore", "close"} {
		cmd := agent(t, "[[actor]]\nstdin = '"+mode+"'\nsay = 'done'\nstep = [{ write = 'ready' }, { wait_for = 'go' }]")
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var stdout bytes.Buffer
		cmd.Stdin, cmd.Stdout = in, &stdout
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in.Close()
		awaitForks()
		await(t, filepath.Join(cmd.Dir, "ready"))
		_, err = out.WriteString("prompt")
		if closed := err != nil; closed != (mode == "close") {
			t.Errorf("stdin = %q: writing the prompt: %v", mode, err)
		}
		if err := os.WriteFile(filepath.Join(cmd.Dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil || stdout.String() != "done\n" {
			t.Errorf("stdin = %q: %q, %v", mode, stdout.String(), err)
		}
		out.Close()
	}
}

// awaitForks waits until every forked process has called exec: until then it holds our
// files open.
func awaitForks() {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
}

// await waits for a file and returns its content.
func await(t *testing.T, name string) string {
	t.Helper()
	for start := time.Now(); time.Since(start) < 2*time.Minute; time.Sleep(5 * time.Millisecond) {
		if data, err := os.ReadFile(name); err == nil {
			return string(data)
		}
	}
	t.Fatalf("no %s after two minutes", name)
	return ""
}

// What codeloops demo plays by default.
const (
	demoScript     = "../../cli/demo/scenes/actor-critic/scenario.toml"
	demoRepository = "../../cli/demo/repository"
)

// The demo's first attempt fails its own test, and the second one passes.
func TestDemo(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	files := map[string]string{}
	for _, name := range []string{"prompt.md", "slug.sh", "test.sh"} {
		files[name] = read(filepath.Join(demoRepository, name))
	}
	cmd := agent(t, read(demoScript))
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(cmd.Dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if files["prompt.md"] == "" {
		t.Error("the task is missing")
	}
	turn := func(role, iteration, prompt string) played {
		next := exec.Command(cmd.Path, cmd.Args[1:]...)
		next.Dir, next.Stdin = cmd.Dir, strings.NewReader(prompt)
		next.Env = append(cmd.Env, "CODELOOPS_ROLE="+role, "CODELOOPS_ITERATION="+iteration)
		got := play(t, next)
		if got.exit != 0 {
			t.Fatalf("the %s's turn %s: %+v", role, iteration, got)
		}
		return got
	}
	turn("actor", "1", files["prompt.md"])
	first := turn("critic", "1", "")
	if !strings.Contains(first.stdout, "DECISION: CONTINUE\n") ||
		!strings.Contains(first.stdout, "FAIL: 'Ready, steady, go!' becomes 'ready,-steady,-go!', not 'ready-steady-go'\n") {
		t.Errorf("the first review: %s", first.stdout)
	}
	turn("actor", "2", files["prompt.md"]+first.stdout)
	if second := turn("critic", "2", ""); !strings.HasPrefix(second.stdout, "DECISION: DONE\n") {
		t.Errorf("the second review: %s", second.stdout)
	}
	if data, _ := os.ReadFile(filepath.Join(cmd.Dir, "test.sh")); string(data) != files["test.sh"] {
		t.Error("the test was changed")
	}
}
