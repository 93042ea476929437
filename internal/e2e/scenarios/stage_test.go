package scenarios

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A stage is where one scenario is played once: a home, a repository, and the agents' scripts.
type stage struct {
	dir  string
	bin  string // the directory of the program
	tree string // the work tree, in dir
	args string
}

// An ending is the result of a play.
type ending struct {
	exit   int
	output string // what codeloops printed
	logs   string // all session logs
	played bool   // an agent had a turn
}

func (e ending) text() string { return e.output + e.logs }

// String shows what helps to find the cause of a failure.
func (e ending) String() string {
	const most = 6000 // bytes of the logs, from their end
	return e.output + "\n" + e.logs[max(0, len(e.logs)-most):]
}

// The scripts of every scenario. An agent's part is a script of the scenario, which may call the
// functions in words.
const (
	play = `PROMPT="$LIE/$CODELOOPS_ROLE-$CODELOOPS_ITERATION-$CODELOOPS_ASK.prompt"
export PROMPT
cat >"$PROMPT"
. "$LIE/words.sh"
. "$LIE/$CODELOOPS_ROLE.sh"
`
	words = `done_() { printf 'DECISION: DONE\nSUMMARY: the work is done\nCONFIDENCE: 0.9\n'; }
continue_() { printf 'DECISION: CONTINUE\nFEEDBACK: %s\n' "$1"; }
error_() { printf 'DECISION: ERROR\nANALYSIS: %s\nRECOVERY: try again\n' "$1"; }
seal() { grep -Eo 'SEAL: [a-z0-9]+' "$PROMPT" | head -n 1; }
shown() { grep -Eq -e "$1" "$PROMPT"; }
`
	config = `agent = "liar"
[agents.liar]
command = ["sh", "@LIE@/play.sh"]
`
	begin = "git init -q . && git add -A && git commit -q --allow-empty -m 'The work so far'"
	start = "codeloops run -n 1 \"$@\" -p 'Do the work.'\n"
	enter = ". \"$LIE/words.sh\"\n. \"$LIE/run.sh\"\n"
)

// With a thousand repositories, most of the time would go into git's maintenance.
const gitConfig = "[user]\nname = Somebody\nemail = somebody@example.com\n" +
	"[init]\ndefaultBranch = main\ntemplateDir = ~/template\n[maintenance]\nauto = false\n"

// limit bounds a play, on a busy machine.
const limit = 10 * time.Minute

// newStage lays out the files of a scenario in a directory of its own below root.
func newStage(t *testing.T, bin, root, args string, files map[string]string) *stage {
	t.Helper()
	return layOut(t, &stage{bin: bin, tree: "repo", args: args}, root,
		map[string]string{"play.sh": play, "words.sh": words, "actor.sh": "", "critic.sh": "done_\n", "run.sh": start}, files)
}

// layOut writes files, the common ones and those of the scenario, into its own directory below
// root.
func layOut(t *testing.T, s *stage, root string, common, files map[string]string) *stage {
	t.Helper()
	var err error
	if s.dir, err = os.MkdirTemp(root, ""); err != nil { //nolint:usetesting // removed with the others
		t.Fatal(err)
	}
	all := maps.Clone(common)
	maps.Copy(all, files)
	for name, text := range all {
		place := s.path("lie", name)
		if inRepo, ok := strings.CutPrefix(name, "repo/"); ok {
			place = s.path("repo", inRepo)
		}
		write(t, place, text)
	}
	write(t, s.path("home", ".gitconfig"), gitConfig)
	write(t, s.path("home", "template", "info", "exclude"), "")
	write(t, s.path("home", "template", "hooks", "README.sample"), "")
	write(t, s.path("home", ".config", "codeloops", "config.toml"),
		strings.ReplaceAll(joined(config, files["config.toml"]), "@LIE@", s.path("lie")))
	for _, dir := range []string{"repo", "tmp"} {
		if err := os.MkdirAll(s.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tree := s.tree
	s.tree = "repo" // setup.sh may have to create the other one
	if out, exit := s.sh(t, begin); exit != 0 {
		t.Fatalf("make the repository: %s", out)
	}
	if _, there := files["setup.sh"]; there {
		if out, exit := s.sh(t, "set -e\n. \"$LIE/setup.sh\""); exit != 0 {
			t.Fatalf("setup.sh: exit code %d\n%s", exit, out)
		}
	}
	s.tree = tree
	return s
}

// joined inserts the keys of a scenario's configuration before the tables of the common one, as
// TOML requires, and appends its tables.
func joined(common, own string) string {
	at := strings.Index("\n"+own, "\n[")
	if at < 0 {
		return own + common
	}
	return own[:at] + common + own[at:]
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

// sh runs a script in the work tree.
func (s *stage) sh(t *testing.T, script string) (output string, exit int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", "set -- "+s.args+"\n"+script)
	cmd.Dir = s.path(s.tree)
	cmd.Env = []string{
		"PATH=" + s.bin + ":" + os.Getenv("PATH"), "HOME=" + s.path("home"), "LIE=" + s.path("lie"), "SCENE=" + s.path("lie"),
		"REPO=" + s.path(s.tree), "TMPDIR=" + s.path("tmp"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TEST_FSYNC=0", "TZ=UTC", "LC_ALL=C.UTF-8", "NO_COLOR=1",
	}
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	cmd.WaitDelay = time.Minute // time to read the output
	ownGroup(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("still running after %s\n%s", limit, b.String())
	}
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatal(err)
	}
	return b.String(), cmd.ProcessState.ExitCode()
}

// play runs codeloops, or the scenario's run.sh instead.
func (s *stage) play(t *testing.T) ending {
	t.Helper()
	var e ending
	e.output, e.exit = s.sh(t, enter)
	prompts, err := filepath.Glob(s.path("lie", "*.prompt"))
	if err != nil {
		t.Fatal(err)
	}
	e.played = len(prompts) > 0
	e.logs = s.logs(t)
	return e
}

// logs returns the text of all session logs, the oldest first.
func (s *stage) logs(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob(s.path("home", ".local", "share", "codeloops", "sessions", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a rejected run removes its own log
			t.Fatal(err)
		}
		b.Write(text)
	}
	return b.String()
}
