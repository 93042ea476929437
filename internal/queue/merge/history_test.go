package merge_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/queue/git"
	"codeloops/internal/queue/merge"
)

// TestHistories plays random histories, in which a user and the queue take turns. Whatever the user does to the target:
//   - what the queue publishes passes the check, and the user's files are not touched;
//   - nothing that the user removed from the target comes back unless the user brings it back;
//   - the work of a merged task is on the target, or waits for it, until the user removes it;
//   - a person who does what the queue advises is never sent back again.
func TestHistories(t *testing.T) {
	t.Parallel()
	count := 40
	if testing.Short() {
		count = 5
	}
	const first = 41 // from here on, every fourth one found faults in an earlier rule
	for seed := first; seed < first+count; seed++ {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			h := &history{
				scene: newScene(t, true), Rand: rand.New(rand.NewPCG(uint64(seed), 0)),
				acked: map[string]bool{}, gone: map[string]bool{}, tried: map[string]bool{},
			}
			h.Save("second")
			h.Save("base")
			h.Git("tag", "base")
			h.seen(false)
			for range 24 {
				if h.IntN(2) == 0 {
					h.user()
				} else {
					h.queue()
				}
			}
			if t.Failed() {
				t.Log(strings.Join(h.told, "\n"))
			}
			h.clean()
		})
	}
}

// A history is a random one. Each commit adds a file of its own, so the files of a commit tell whose work it has.
type history struct {
	scene
	*rand.Rand

	told  []string
	count int
	tasks []*task
	tried map[string]bool // commits of the target that the user only tried
	files map[string]bool // of the target
	acked map[string]bool // files of merged tasks that the user has not removed since
	gone  map[string]bool // files that the user removed from the target, and has not brought back
}

// A task is the work of an agent.
type task struct {
	base, head string
	files      []string
	done       bool
}

func (h *history) tellf(format string, args ...any) {
	h.told = append(h.told, fmt.Sprintf(format, args...))
}

func (h *history) name(kind string) string {
	h.count++
	return kind + strconv.Itoa(h.count)
}

// in returns the files of a commit.
func (h *history) in(commit string) map[string]bool {
	h.Helper()
	all := make(map[string]bool)
	for name := range strings.FieldsSeq(h.Git("ls-tree", "--name-only", commit)) {
		all[name] = true
	}
	return all
}

func show(files map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(files)), " ") }

func (h *history) has(rev string) bool {
	h.Helper()
	_, there, err := h.Commit(h.Context(), rev)
	h.must(err)
	return there
}

func (h *history) within(commit, other string) bool {
	h.Helper()
	in, err := h.Contains(h.Context(), other, commit)
	h.must(err)
	return in
}

// grow makes a commit with a new file, without a work tree.
func (h *history) grow(on, name, text string) string {
	h.Helper()
	do := func(stdin string, args ...string) string {
		call := git.Call{Dir: h.Root, Env: []string{"GIT_INDEX_FILE=" + filepath.Join(h.State, "index")}, Stdin: []byte(stdin)}
		out, err := h.Do(h.Context(), call, args...)
		h.must(err)
		return out
	}
	blob := do(text+"\n", "hash-object", "-w", "--stdin")
	do("", "read-tree", on)
	do("", "update-index", "--add", "--cacheinfo", "100644,"+blob+","+name)
	return do("", "commit-tree", do("", "write-tree"), "-m", name, "-p", on)
}

// any picks one of the tasks.
func (h *history) any(is func(*task) bool) *task {
	var of []*task
	for _, t := range h.tasks {
		if is(t) {
			of = append(of, t)
		}
	}
	if len(of) == 0 {
		return nil
	}
	return of[h.IntN(len(of))]
}

// seen notes what the target has. What it no longer has, the user has removed.
func (h *history) seen(byUser bool) {
	h.Helper()
	now := h.in("main")
	for f := range h.files {
		if byUser && !now[f] {
			h.gone[f] = true
			delete(h.acked, f)
		}
	}
	if byUser {
		maps.DeleteFunc(h.gone, func(f string, _ bool) bool { return now[f] })
	}
	h.files = now
	have := maps.Clone(now)
	if h.has(queue) {
		maps.Copy(have, h.in(queue))
	}
	for f := range h.acked {
		if !have[f] {
			h.Errorf("%s is lost", f)
		}
	}
}

// user does something as the user.
func (h *history) user() {
	h.Helper()
	all := acts()
	a := all[h.IntN(len(all))]
	h.may("switch", "-q", "main")
	if a.rewrites && h.Git("rev-parse", "HEAD") == h.Git("rev-parse", "base") {
		return
	}
	a.do(h)
	h.tellf("user: %s: %s", a.name, show(h.in("main")))
	h.seen(true)
}

// may runs git as the user, who gives up where it fails.
func (h *history) may(args ...string) {
	if _, err := h.Run(h.Context(), h.Root, args...); err != nil {
		for _, what := range []string{"merge", "rebase", "cherry-pick", "revert"} {
			_, _ = h.Run(h.Context(), h.Root, what, "--abort")
		}
	}
}

// earlier is an earlier commit of the branch.
func (h *history) earlier() string {
	for n := 1 + h.IntN(3); n > 0; n-- {
		if name := "HEAD~" + strconv.Itoa(n); h.has(name) && h.within("base", name) {
			return name
		}
	}
	return "HEAD"
}

// An act is something that users do.
type act struct {
	name     string
	rewrites bool // the last commit
	do       func(h *history)
}

func acts() []act {
	commit := act{"commit", false, (*history).commit}
	reset := act{"reset", false, func(h *history) { h.Git("reset", "-q", "--hard", h.earlier()) }}
	take := act{"take", false, (*history).take}
	return []act{
		commit, commit, commit, reset, reset, take, take, take, take,
		{"reword", true, func(h *history) { h.Git("commit", "-q", "--amend", "--allow-empty", "-m", h.name("word")) }},
		{"amend", true, (*history).amend},
		{"undo", false, (*history).undo},
		{"squash", true, func(h *history) {
			h.Git("reset", "-q", "--soft", h.earlier())
			h.Git("commit", "-q", "--allow-empty", "-m", "squashed")
		}},
		{"revert", true, func(h *history) {
			if h.has("HEAD^2") {
				h.may("revert", "--no-edit", "-m", "1", "HEAD")
			} else {
				h.may("revert", "--no-edit", "HEAD")
			}
		}},
		{"drop the last but one", true, func(h *history) {
			if h.within("base", "HEAD~1") {
				h.may("rebase", "-q", "--onto", "HEAD~2", "HEAD~1")
			}
		}},
		{"rebase elsewhere", false, func(h *history) {
			name := h.name("u")
			h.may("rebase", "-q", h.grow(h.earlier(), name, name))
		}},
		{"feature", false, func(h *history) {
			name := h.name("u")
			h.Git("branch", "-f", "feature", h.grow("HEAD", name, name))
			h.may("merge", "-q", "--no-edit", []string{"--ff", "--no-ff"}[h.IntN(2)], "feature")
		}},
		{"pick", false, func(h *history) {
			// The commits of tasks may wait at the same time, and would do so after another reset.
			if h.has("ORIG_HEAD") && !h.has("ORIG_HEAD^2") && !strings.HasPrefix(h.Git("log", "-1", "--format=%s", "ORIG_HEAD"), "t") {
				h.may("cherry-pick", "ORIG_HEAD")
			}
		}},
		{"switch", false, func(h *history) { h.Git("switch", "-q", "--detach") }},
		{"try", false, (*history).try},
		{"take and reset", false, func(h *history) {
			at := h.Git("rev-parse", "HEAD")
			h.take()
			h.seen(true)
			h.Git("reset", "-q", "--hard", at)
		}},
	}
}

func (h *history) commit() {
	name := h.name("u")
	h.Write(name, name+"\n")
	h.Save(name)
}

func (h *history) amend() {
	if was := h.Git("log", "-1", "--format=%s"); h.files[was] {
		name := h.name("u")
		h.Git("mv", was, name)
		h.Git("commit", "-q", "--amend", "--allow-empty", "-m", name)
	}
}

func (h *history) undo() {
	if h.has("main@{1}") && h.within("base", "main@{1}") && !h.tried[h.Git("rev-parse", "main@{1}")] {
		h.Git("reset", "-q", "--hard", "main@{1}")
	}
}

// take takes what waits.
func (h *history) take() {
	if h.has(queue) {
		ways := []string{
			"merge --ff-only", "merge --ff-only", "merge --ff-only", "merge --no-edit", "merge --no-ff --no-edit", "rebase",
			"pull --no-rebase --no-edit .", "pull --rebase .",
		}
		h.may(append(strings.Fields(ways[h.IntN(len(ways))]), queue)...)
	}
}

// try tries the branch of a task and goes back.
func (h *history) try() {
	t := h.any(func(*task) bool { return true })
	if t == nil {
		return
	}
	ways := []string{
		"merge --no-edit", "merge --no-ff --no-edit", "merge --squash", "merge --no-commit --no-ff", "rebase", "reset --hard",
		"pull --no-rebase --no-edit .", "cherry-pick --ff",
	}
	at := h.Git("rev-parse", "HEAD")
	h.Git("branch", "-f", "tried", t.head)
	h.may(append(strings.Fields(ways[h.IntN(len(ways))]), "tried")...)
	h.tried[h.Git("rev-parse", "HEAD")] = true
	h.Git("reset", "-q", "--hard", at)
}

// queue does something as the queue or as an agent.
func (h *history) queue() {
	h.Helper()
	h.offered()
	onto, err := h.merger.Onto(h.Context(), "main")
	h.must(err)
	t := h.any(func(t *task) bool { return !t.done })
	if t == nil || h.IntN(3) == 0 {
		h.begin(onto)
		return
	}
	switch h.IntN(8) {
	case 0: // as after a conflict
		m, err := h.MergeTree(h.Context(), t.head, onto)
		if h.must(err); len(m.Files) > 0 || h.within(onto, t.head) {
			return
		}
		t.head = h.Git("commit-tree", m.Tree, "-m", "caught up", "-p", t.head, "-p", onto)
		if h.within(t.base, onto) {
			t.base = onto
		}
		h.tellf("queue: %v catches up", t.files)
	case 1:
		// A commit that main was only moved to could be one of a tried branch.
		if why := h.Git("log", "--walk-reflogs", "-1", "--format=%gs", "main"); !strings.HasPrefix(why, "commit") {
			return
		}
		t.head = "main"
		for _, name := range t.files {
			t.head = h.grow(t.head, name, name)
		}
		h.tellf("queue: %v is rebased", t.files)
	default:
		if res := h.finish(t); res.Outcome != merge.BringsBack || !res.UserCommits {
			return
		}
		h.advised()
		if res := h.finish(t); res.Outcome == merge.BringsBack && res.UserCommits {
			h.Error("what was advised does not help")
		}
	}
}

// offered expects that the command that takes what waits would bring back nothing that the user removed.
func (h *history) offered() {
	h.Helper()
	// An error is that of a target that was rewritten below what waits.
	if take, err := h.merger.Take(h.Context(), "main"); err != nil || take == "" {
		return
	}
	m, err := h.MergeTree(h.Context(), "main", queue)
	h.must(err)
	for f := range h.in(m.Tree) {
		if h.gone[f] {
			h.Errorf("taking what waits would bring %s back", f)
		}
	}
}

// begin begins a task. Its work may need what it began with.
func (h *history) begin(onto string) {
	h.Helper()
	t := &task{base: onto, head: onto}
	for range 1 + h.IntN(2) {
		name := h.name("t")
		text := name
		if below := slices.Sorted(maps.Keys(h.in(onto))); h.IntN(6) == 0 {
			text = "needs:" + below[h.IntN(len(below))]
		}
		t.head = h.grow(t.head, name, text)
		t.files = append(t.files, name)
	}
	h.tasks = append(h.tasks, t)
	h.tellf("queue: %v begins", t.files)
}

// finish merges a task.
func (h *history) finish(t *task) merge.Result {
	h.Helper()
	t.done = true
	refs, before := h.Git("for-each-ref", "refs/heads/main", queue), h.Untouched()
	res, err := h.mergeFrom(t.base, t.head)
	h.must(err)
	onto := "main"
	if h.has(queue) {
		onto = queue
	}
	have := h.in(onto)
	h.tellf("queue: %v: %+v\n\t%s has %s", t.files, res, onto, show(have))
	for _, f := range t.files {
		if res.Outcome == merge.Merged {
			h.acked[f] = true
			delete(h.gone, f)
		}
	}
	if h.seen(false); h.Untouched() != before {
		h.Error("the user's HEAD, index or files have changed")
	}
	if strings.Contains(refs, h.Git("rev-parse", onto)) { // nothing new
		return res
	}
	for f := range have {
		if h.gone[f] {
			h.Errorf("%s came back", f)
		}
	}
	if red := h.red(onto); len(red) > 0 {
		h.Errorf("%v do not pass the check", red)
	}
	return res
}

// red returns the files of a commit that do not pass the check.
func (h *history) red(commit string) (red []string) {
	h.Helper()
	have := h.in(commit)
	out, _ := h.Run(h.Context(), h.Root, "grep", "--full-name", "needs:", commit) // it fails where there are none
	for line := range strings.Lines(out) {
		if of := strings.Split(strings.TrimSpace(line), ":"); !have[of[3]] {
			red = append(red, of[1])
		}
	}
	return red
}

// advised takes what waits, as the queue advises, and removes from it what the user does not want or what is red then.
func (h *history) advised() {
	h.Helper()
	h.may("switch", "-q", "main")
	h.Git("merge", "-q", "--no-edit", queue)
	for unwanted := slices.Collect(maps.Keys(h.gone)); len(unwanted) > 0; unwanted = h.red("HEAD") {
		for _, f := range unwanted {
			h.must(os.RemoveAll(filepath.Join(h.Root, f)))
			h.gone[f] = true
			delete(h.acked, f)
		}
		h.Save("without")
	}
	h.tellf("user: takes it by hand: %s", show(h.in("main")))
	h.seen(true)
}
