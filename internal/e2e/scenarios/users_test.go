package scenarios

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func users() corpus { return corpus{"../../../testdata/users", 150, false} }

// The additional scripts of user scenarios: agents announce their turn, and wait while the user
// works.
const (
	userWords = words + `settled_() { done_; echo 'F1: settled'; }
now() {
	at="$SCENE/at/$1~$$"
	rm -f "$at.done"
	: >"$at"
	while ! test -e "$at.done"; do sleep 0.01; done
}
left() { now left; }
codeloops_() { sh -c 'echo $$ >"$SCENE/pid"; exec codeloops "$@"' sh "$@"; }
kill_() { pid=$(cat "$SCENE/pid"); kill -"$1" "$pid"; while kill -0 "$pid" 2>/dev/null; do sleep 0.01; done; }
save() {
	case $1 in
	in-place) printf '%s\n' "$3" 1<>"$2" ;;
	truncate) printf '%s\n' "$3" >"$2" ;;
	append) printf '%s\n' "$3" >>"$2" ;;
	rename) printf '%s\n' "$3" >"$2.tmp" && mv "$2.tmp" "$2" ;;
	backup) mv "$2" "$2~" && printf '%s\n' "$3" >"$2" && rm "$2~" ;;
	vim) : >4913 && rm 4913 && echo swap >".$2.swp" && mv "$2" "$2~" && printf '%s\n' "$3" >"$2" && rm "$2~" ".$2.swp" ;;
	esac
}
`
	userPlay = `PROMPT="$SCENE/$CODELOOPS_ROLE-$CODELOOPS_ITERATION-$CODELOOPS_ASK.prompt"
export PROMPT
cat >"$PROMPT"
. "$SCENE/words.sh"
[ "$CODELOOPS_ASK" = 0 ] && now "$CODELOOPS_ROLE-$CODELOOPS_ITERATION"
[ "$CODELOOPS_ROLE" = actor ] && trap left EXIT
. "$SCENE/$CODELOOPS_ROLE.sh"
`
	userCheck = `. "$SCENE/words.sh"
N=$(($(cat "$SCENE/checks" 2>/dev/null || echo 0) + 1))
echo $N >"$SCENE/checks"
now "check-$N"
. "$SCENE/check.sh"
`
	userStart = "codeloops_ run -n 3 \"$@\" -p 'Do the work.'\n"
)

// TestUsers: whatever users do during a run, their files and the actor's stay as they are, in the
// work tree and in the repository, and a DONE is about the tree that was judged.
func TestUsers(t *testing.T) {
	t.Parallel()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // under nohup the tests ignore SIGHUP, and their commands would inherit that
	bin := program(t)
	root := t.TempDir()
	for _, s := range users().read(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.playUser(t, bin, root)
		})
	}
}

func (s scenario) playUser(t *testing.T, bin, root string) {
	t.Helper()
	if s.needs != "" && exec.Command("sh", "-c", s.needs).Run() != nil {
		t.Skip("cannot be played here:", s.needs)
	}
	if _, checks := s.files["check.sh"]; checks {
		s.args += ` --check 'sh "$SCENE/check-play.sh"'`
	}
	at := layOut(t, &stage{bin: bin, tree: s.in, args: s.args}, root, map[string]string{
		"play.sh": userPlay, "check-play.sh": userCheck, "words.sh": userWords, "run.sh": userStart,
		"actor.sh": "echo work >>work.txt\n", "critic.sh": "done_\n",
	}, s.files)
	u := newUser(t, at, s)
	e := at.play(t)
	u.leave()
	if want := max(s.exit, 0); e.exit != want { // an undisturbed run succeeds
		t.Errorf("exit code %d, want %d", e.exit, want)
	}
	s.tells(t, e)
	u.compare("the end")
	if e.exit == 0 && !s.unjudged {
		u.judged(e)
	}
	if left, err := os.ReadDir(at.path("tmp")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	if _, there := s.files["end.sh"]; there {
		if out, exit := at.sh(t, "set -ex\n. \"$SCENE/words.sh\"\n. \"$SCENE/end.sh\""); exit != 0 {
			t.Errorf("end.sh: exit code %d\n%s", exit, out)
		}
	}
	if t.Failed() {
		t.Log(e)
	}
}

// A user works beside a run. At the moments for which the scenario has a script, it plays that
// script. Between two moments at which only codeloops, a critic or a check has worked, nothing may
// have changed.
type user struct {
	t     *testing.T
	stage *stage
	of    scenario

	left   state           // the state left by the last one who may change it
	acting bool            // the actor's turn is in progress
	played map[string]bool // the scripts that have run
	end    chan struct{}
	ends   sync.Once
	gone   sync.WaitGroup
}

func newUser(t *testing.T, at *stage, of scenario) *user {
	t.Helper()
	u := &user{t: t, stage: at, of: of, played: map[string]bool{}, end: make(chan struct{})}
	if err := os.MkdirAll(at.path("lie", "at"), 0o755); err != nil {
		t.Fatal(err)
	}
	u.look()
	if out, err := exec.Command("cp", "-a", at.path(at.tree), at.path("base")).CombinedOutput(); err != nil && !of.unjudged {
		t.Fatalf("%v\n%s", err, out)
	}
	u.gone.Go(u.work)
	t.Cleanup(u.leave) // also if the play is cut short
	return u
}

func (u *user) look() {
	var err error
	if u.left, err = u.stage.look(u.of.moves); err != nil {
		u.t.Errorf("read the user's files: %v", err)
	}
}

// compare reports what has changed since the state was last left by someone who may change it.
func (u *user) compare(when string) {
	now, err := u.stage.look(u.of.moves)
	if err != nil {
		u.t.Errorf("read the user's files: %v", err)
	}
	if d := now.since(u.left); d != "" {
		u.t.Errorf("changed before %s by someone who must not:\n%s", when, d)
	}
	u.left = now
}

// leave ends the user's work.
func (u *user) leave() {
	u.ends.Do(func() { close(u.end) })
	u.gone.Wait()
}

// work handles moments until it is told to leave.
func (u *user) work() {
	for {
		moments, err := os.ReadDir(u.stage.path("lie", "at"))
		if err != nil {
			u.t.Error(err)
		}
		for _, m := range moments {
			if filepath.Ext(m.Name()) == "" {
				u.logged() // events logged before the moment come first
				name, process, _ := strings.Cut(m.Name(), "~")
				u.moment(name, process)
			}
		}
		u.logged()
		select {
		case <-u.end:
			return
		case <-time.After(3 * time.Millisecond):
		}
	}
}

// moment handles a moment at which an agent or a check waits. The answer names the process: the one
// that waits may be killed, and another may ask for the same moment meanwhile.
func (u *user) moment(name, process string) {
	role, _, _ := strings.Cut(name, "-")
	file := u.stage.path("lie", "at", name+"~"+process)
	if err := os.Remove(file); err != nil {
		u.t.Error(err)
	}
	switch {
	case name == "left":
		u.acting = false
		u.look()
	case role == "actor":
		u.compare(name)
		u.acting = true
	case !u.acting:
		u.compare(name)
	}
	u.script(name)
	if err := os.WriteFile(file+".done", nil, 0o600); err != nil {
		u.t.Error(err)
	}
}

// script plays the user's script for a moment, the first time that the moment comes.
func (u *user) script(name string) {
	if _, there := u.of.files["user/"+name+".sh"]; !there || u.played[name] {
		return
	}
	u.played[name] = true
	if out, exit := u.stage.sh(u.t, "set -e\n. \"$SCENE/words.sh\"\n. \"$SCENE/user/"+name+".sh\""); exit != 0 {
		u.t.Errorf("user/%s.sh: exit code %d\n%s", name, exit, out)
	}
	u.look()
}

// logged plays the scripts of moments in the log, for which no process waits: diff-N when a diff
// was captured, between-N when an iteration is over.
func (u *user) logged() {
	for script := range u.of.files {
		name, ok := strings.CutPrefix(strings.TrimSuffix(script, ".sh"), "user/")
		what, number, _ := strings.Cut(name, "-")
		line := map[string]string{"diff": `"type":"diff"`, "between": `"type":"iteration"`}[what]
		n, err := strconv.Atoi(number)
		if ok && line != "" && err == nil && !u.played[name] && strings.Count(u.stage.logs(u.t), line) >= n {
			u.script(name)
		}
	}
}

// judged checks that the last judged diff leads from the initial tree to the final one.
func (u *user) judged(e ending) {
	base := u.stage.path("base")
	if err := os.RemoveAll(filepath.Join(base, ".git")); err != nil {
		u.t.Error(err)
	}
	if patch := lastDiff(e.logs); patch != "" {
		cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-")
		cmd.Dir, cmd.Stdin = base, strings.NewReader(patch)
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+u.stage.dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			u.t.Errorf("the last judged diff does not apply: %v\n%s\n%s", err, out, patch)
			return
		}
	}
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = u.stage.path(u.stage.tree)
	list.Env = append(os.Environ(), "HOME="+u.stage.path("home"), "GIT_CONFIG_NOSYSTEM=1")
	out, err := list.Output()
	if err != nil {
		u.t.Errorf("list the files: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if got, want := fileAt(filepath.Join(base, name)), fileAt(u.stage.path(u.stage.tree, name)); got != want {
			u.t.Errorf("the last judged diff has %s as\n\t%s\nbut it is\n\t%s", name, orNone(got), orNone(want))
		}
	}
	u.removed(base)
}

// removed checks that no file that was judged is gone.
func (u *user) removed(base string) {
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(base, path)
		if err != nil {
			return err
		}
		if _, gone := os.Lstat(u.stage.path(u.stage.tree, name)); gone != nil {
			u.t.Errorf("the last judged diff has %s, which is gone", name)
		}
		return nil
	})
	if err != nil {
		u.t.Error(err)
	}
}

// lastDiff returns the diff of the last iteration in logs.
func lastDiff(logs string) (patch string) {
	for line := range strings.Lines(logs) {
		var one struct {
			Type string `json:"type"`
			Diff string `json:"git_diff"`
		}
		if json.Unmarshal([]byte(line), &one) == nil && one.Type == "iteration" {
			patch = one.Diff
		}
	}
	return patch
}

// fileAt returns a file as a diff shows it; "" if there is none, or if it is a directory.
func fileAt(path string) string {
	info, err := os.Lstat(path)
	if err != nil || info.IsDir() {
		return ""
	}
	if info.Mode().Type() == fs.ModeSymlink {
		to, _ := os.Readlink(path)
		return "a link to " + to
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("executable: %v, %q", info.Mode()&0o100 != 0, text)
}
