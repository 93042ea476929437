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

// The scripts that every scenario of users has beside the words: agents say when they
// have their turn, and wait while the user is at work.
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

// Whatever users do while a run goes on: what they and the actor leave stays as it is,
// in the work tree and in the repository, and a DONE stands on what was judged.
func TestUsers(t *testing.T) {
	t.Parallel()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // what nohup has the tests ignore would stay ignored in what they start
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
		t.Skip("it cannot be played here:", s.needs)
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
	if want := max(s.exit, 0); e.exit != want { // a run that nobody hinders comes to its end
		t.Errorf("exit code %d, want %d", e.exit, want)
	}
	s.tells(t, e)
	u.compare("the end")
	if e.exit == 0 && !s.unjudged {
		u.judged(e)
	}
	if left, err := os.ReadDir(at.path("tmp")); err != nil || len(left) > 0 {
		t.Errorf("left in the directory for temporary files: %v, %v", left, err)
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

// A user is at work beside a run. At the moments that the scenario has a script for it
// plays that; and whenever nobody who may change the work tree was at work since the
// last look, it is as it was left.
type user struct {
	t     *testing.T
	stage *stage
	of    scenario

	left   state           // how it was left by the last who may change it
	acting bool            // the actor has its turn
	played map[string]bool // scripts
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
	t.Cleanup(u.leave) // also where the play does not come to its end
	return u
}

func (u *user) look() {
	var err error
	if u.left, err = u.stage.look(u.of.moves); err != nil {
		u.t.Errorf("look at what is the user's: %v", err)
	}
}

// compare tells what has changed since whoever may change it has left it.
func (u *user) compare(when string) {
	now, err := u.stage.look(u.of.moves)
	if err != nil {
		u.t.Errorf("look at what is the user's: %v", err)
	}
	if d := now.since(u.left); d != "" {
		u.t.Errorf("changed until %s, by nobody who may:\n%s", when, d)
	}
	u.left = now
}

// leave ends the user's work.
func (u *user) leave() {
	u.ends.Do(func() { close(u.end) })
	u.gone.Wait()
}

// work waits for moments until it is told to leave.
func (u *user) work() {
	for {
		moments, err := os.ReadDir(u.stage.path("lie", "at"))
		if err != nil {
			u.t.Error(err)
		}
		for _, m := range moments {
			if filepath.Ext(m.Name()) == "" {
				u.logged() // whoever waits for the moment has come behind what is logged
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

// moment is one that an agent, or a check, waits for the end of. The process is in the answer:
// who waits may be killed, and another one ask for the same moment meanwhile.
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

// script plays what the user does at a moment, the first time that it comes.
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

// logged plays what the user does as soon as the log has a line, for which nobody
// waits: diff-N when a diff was captured, between-N when an iteration is over.
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

// judged checks that the diff that was judged last leads from the tree at the start to
// that at the end.
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
			u.t.Errorf("the diff that was judged last does not apply: %v\n%s\n%s", err, out, patch)
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
			u.t.Errorf("judged last was %s as\n\t%s\nand it is\n\t%s", name, orNone(got), orNone(want))
		}
	}
	u.removed(base)
}

// removed checks that nothing that was judged to be there is gone.
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
			u.t.Errorf("judged last was a tree with %s, which is gone", name)
		}
		return nil
	})
	if err != nil {
		u.t.Error(err)
	}
}

// lastDiff is the diff of the last iteration in logs.
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

// fileAt is what a diff shows of a file; "" where there is none, or a directory.
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
