package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
)

// soaking reports whether to run the whole soak, as `make soak` does, which takes minutes. Its
// short form is one of the long tests.
func soaking(t *testing.T) bool {
	t.Helper()
	if testing.Short() {
		t.Skip("a long test")
	}
	return os.Getenv("QUEUE_SOAK") != ""
}

// twice is an agent that works in two turns.
const twice = `
say begin
sleep ${TURN:-0.3}
case $CODELOOPS_ROLE/$CODELOOPS_ITERATION in
critic/1) echo "DECISION: CONTINUE"; echo "FEEDBACK: and the second turn";;
critic/*) echo "DECISION: DONE"; echo "F1: settled";;
*) echo "turn $CODELOOPS_ITERATION" >"$task.$CODELOOPS_ITERATION";;
esac
say end
`

// TestQueueLongKills kills workers and the hub again and again: every task is done exactly once.
func TestQueueLongKills(t *testing.T) {
	t.Parallel()
	tasks, workers, every, hubs, lease := 12, 3, 2*time.Second, 1, 2*time.Second
	if soaking(t) {
		tasks, workers, every, hubs, lease = 200, 8, 5*time.Second, 3, 5*time.Second
	}
	s := newQueueStage(t, lease, twice)
	before := s.Untouched()
	hub := s.hub()
	on := s.board()
	var ids []string
	for n := range tasks {
		ids = append(ids, s.add(fmt.Sprintf("task %d", n)))
	}
	all := make([]*exec.Cmd, workers)
	for n := range all {
		all[n] = s.worker(n)
	}
	began, killed, hubsKilled, done, dead := time.Now(), map[string]bool{}, 0, 0, 0
	next, last := began.Add(every), began // kill; end of a task
	for ; ; time.Sleep(100 * time.Millisecond) {
		over, lost := s.progress(on, killed)
		dead += lost
		if over > done {
			done, last = over, time.Now()
		}
		if over >= (hubsKilled+1)*tasks/(hubs+1) && hubsKilled < hubs {
			hub.kill()
			hubsKilled++
			s.await("the hub", func() bool { // else a worker that begins just then may serve the queue
				return s.nats != nil || strings.Contains(s.Text(s.dir, "data/codeloops/queue/hub.json"), fmt.Sprintf(`"pid":%d`, hub.cmd.Process.Pid))
			})
		}
		if over == tasks {
			break
		}
		if time.Now().After(next) {
			next = time.Now().Add(every)
			n := rand.IntN(workers)
			killed[strconv.Itoa(all[n].Process.Pid)] = true
			s.kill(all[n])
			all[n] = s.worker(n)
		}
		if time.Since(last) > liveness {
			t.Fatalf("%d of %d tasks are over, and no other one for %s", over, tasks, liveness)
		}
	}
	took := time.Since(began)
	merged := s.settled(on, ids)
	again := s.again()
	if again > len(killed) {
		t.Errorf("%d turns were repeated after %d kills", again, len(killed))
	}
	s.turnsOf(merged)
	s.stop(all...)
	hub.stop()
	s.noLeftovers()
	if s.Untouched() != before {
		t.Error("the user's files have changed")
	}
	t.Logf("%d tasks, %d workers, %d kills of workers, %d of the hub: %s, %d turns begun, %d of them again; %d tasks lost three workers and were tried again, %d need a person; load %s",
		tasks, workers, len(killed), hubsKilled, took.Round(time.Second), strings.Count(s.Text(s.dir, "counts"), "begin "), again, dead, tasks-len(merged), load(t))
}

// progress counts the tasks that are over, and retries those that have lost too many workers.
func (s *queueStage) progress(on *board.Board, killed map[string]bool) (over, dead int) {
	s.Helper()
	for _, r := range s.all(on) {
		switch {
		case r.State == queue.Dead:
			s.lost(r, killed)
			s.retry(r.Task.ID)
			dead++
		case r.State.Over():
			over++
		}
	}
	return over, dead
}

// turnsOf checks that the work of each turn was merged.
func (s *queueStage) turnsOf(merged []*queue.Record) {
	s.Helper()
	for _, r := range merged {
		for n := 1; n <= 2; n++ {
			if got, err := s.Run(s.Context(), s.Root, "show", fmt.Sprintf("%s:%s.%d", waitingForMain, r.Task.ID, n)); err != nil || got != fmt.Sprintf("turn %d", n) {
				s.Errorf("turn %d of %s has %q, %v\n%+v", n, r.Task.ID, got, err, r.Course)
			}
		}
	}
}

// lost checks that a dead task has lost only workers that were killed.
func (s *queueStage) lost(r *queue.Record, killed map[string]bool) {
	s.Helper()
	losses := 0
	for _, m := range r.Course {
		_, pid, _ := strings.Cut(m.Worker, "/")
		switch {
		case m.State == queue.Waiting:
			losses = 0
		case m.State == queue.Running && killed[pid]:
			losses++
		}
	}
	if losses != board.MostLost {
		s.Errorf("%s is dead after %d losses: %+v", r.Task.ID, losses, r.Course)
	}
}

// TestQueueLongStopped stops a worker for longer than its lease, and continues it.
func TestQueueLongStopped(t *testing.T) {
	t.Parallel()
	soaking(t)
	s := newQueueStage(t, time.Second, `
say begin
case $CODELOOPS_ROLE in
critic) echo "DECISION: DONE";;
*) until test -e $STAGE/go; do sleep 0.05; done; echo done >"$task";;
esac
say end
`)
	hub := s.hub()
	on := s.board()
	id := s.add("task")
	left := s.attend(on)
	first := s.worker(1)
	s.await("the first attempt", func() bool { return len(s.turns()) == 1 })
	left()
	if err := first.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	second := s.worker(0)
	finish := func() {
		s.Put(s.dir, "go", "")
		s.await("the merge", func() bool { return s.all(on)[id].State.Over() })
	}
	if s.apart {
		s.await("the second attempt", func() bool { return s.all(on)[id].Attempt == 2 })
		finish()
	} else {
		s.await("the second attempt, for which the work tree is not free", func() bool {
			r := s.all(on)[id]
			return r.Attempt == 2 && r.State == queue.Waiting
		})
	}
	if err := first.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	s.await("the refusal", func() bool { return strings.Contains(s.Text(s.dir, "worker-1.log"), "discarded") })
	finish()
	again := s.add("another task")
	s.await("the other task", func() bool { return s.all(on)[again].State.Over() })
	s.settled(on, []string{id, again})
	s.stop(first, second)
	hub.stop()
	s.noLeftovers()
}

// TestQueueLongWithoutAHub: workers share the queue among themselves, and when one leaves, with or
// without notice, the others continue.
func TestQueueLongWithoutAHub(t *testing.T) {
	t.Parallel()
	soaking(t)
	s := newQueueStage(t, time.Second, twice)
	if s.way.URL != "" {
		t.Skip("the hub is on a NATS server")
	}
	first := s.worker(1)
	on := s.board()
	second, third := s.worker(2), s.worker(3)
	var ids []string
	work := func() {
		ids = append(ids, s.add(fmt.Sprintf("task %d", len(ids))))
		s.await("the merge", func() bool { return over(s.all(on)) == len(ids) })
	}
	work()
	s.kill(first)
	work()
	fourth := s.worker(4)
	s.stop(second)
	work()
	s.stop(third)
	work()
	s.settled(on, ids)
	s.stop(fourth)
	s.noLeftovers()
}

// TestQueueLongTurn: a turn that lasts many leases is not given to another worker.
func TestQueueLongTurn(t *testing.T) {
	t.Parallel()
	leases := 20
	if soaking(t) {
		leases = 120
	}
	const lease = 500 * time.Millisecond
	s := newQueueStage(t, lease, fmt.Sprintf(`
say begin
case $CODELOOPS_ROLE in
critic) echo "DECISION: DONE";;
*) sleep %f; echo done >"$task";;
esac
say end
`, (time.Duration(leases)*lease).Seconds()))
	hub := s.hub()
	on := s.board()
	began := time.Now()
	one, two := s.worker(1), s.worker(0) // with a server that is not ours, nobody else merges at home
	id := s.add("task")
	s.await("the end", func() bool { return over(s.all(on)) == 1 })
	s.settled(on, []string{id})
	if r := s.all(on)[id]; r.Attempt != 1 || len(s.turns()) != 4 {
		t.Errorf("%d attempts, %d turns", r.Attempt, len(s.turns())/2)
	}
	s.stop(one, two)
	hub.stop()
	s.noLeftovers()
	t.Logf("a turn of %d leases of %s: one attempt, after %s; load %s", leases, lease, time.Since(began).Round(time.Second), load(t))
}

// TestQueueLongHub kills the hub under load: no acknowledged task is lost.
func TestQueueLongHub(t *testing.T) {
	t.Parallel()
	kills := 5
	if soaking(t) {
		kills = 100
	}
	s := newQueueStage(t, 0, twice)
	hub := s.hub()
	var mu sync.Mutex
	acknowledged, last := map[string]bool{}, time.Now()
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for n := range 4 {
		on := s.board()
		clients.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				task := queue.Task{Prompt: fmt.Sprintf("task %d of client %d", i, n), Repository: queue.Repository{Home: "h", Root: "/r"}, Added: time.Now(), Order: i}
				task.Name()
				asked := time.Now()
				once, cancel := context.WithTimeout(ctx, 300*time.Millisecond) // requests in flight are not answered
				_, err := on.Add(once, task)
				cancel()
				if err == nil {
					mu.Lock()
					acknowledged[task.ID], last = true, asked
					mu.Unlock()
				}
			}
		})
	}
	var back []time.Duration
	for range kills {
		time.Sleep(time.Duration(50+rand.IntN(250)) * time.Millisecond)
		gone := hub.kill()
		s.await("the hub", func() bool { mu.Lock(); defer mu.Unlock(); return last.After(gone) }) // asked of the next one
		back = append(back, time.Since(gone))
	}
	stop()
	clients.Wait()
	all := s.all(s.board())
	for id := range acknowledged {
		if all[id] == nil {
			t.Errorf("%s is lost", id)
		}
	}
	slices.Sort(back)
	if worst := back[len(back)-1]; worst > 10*time.Second {
		t.Errorf("the hub was back after %s", worst)
	}
	hub.stop()
	t.Logf("%d kills: %d tasks acknowledged, none lost; back after %s at the median, %s at most; load %s",
		kills, len(acknowledged), back[len(back)/2], back[len(back)-1], load(t))
}

// conflicting is an agent whose tasks conflict: every fifth one appends to the same file, and one
// of every ten needs a file that the next one removes. It resolves conflicts that it finds in its
// work tree.
const conflicting = `
say begin
n=${task#task-}; n=${n%%-*}
case $CODELOOPS_ROLE in
critic) echo "DECISION: DONE";;
*)
	sleep 0.$((n % 4))
	echo "task $n" >"task-$n"
	case $n in
	*0|*5)
		sed -i '/^<<<<<<< /d;/^||||||| /d;/^=======$/d;/^>>>>>>> /d' shared
		grep -qx "line $n" shared || echo "line $n" >>shared;;
	*3) test -e "use-$n" || echo "base-$n" >"use-$n";;
	*4) test -e "gone-$n" || rm -f "base-$((n - 1))"; echo gone >"gone-$n";;
	esac
	for use in use-*; do
		if test -e "$use"; then base=$(cat "$use"); test -e "$base" || echo again >"$base"; fi
	done;;
esac
say end
`

// harmony is the check of that project: every used file exists, and no conflict markers are left.
const harmony = `
for use in use-*; do
	if test -e "$use"; then test -e "$(cat "$use")" || { echo "$use needs $(cat "$use")"; exit 1; }; fi
done
if grep -n '^<<<<<<<' shared; then exit 1; fi
`

// TestQueueLongConflicts merges tasks of which a fifth change the same lines and a tenth break
// another one's check: every merged commit passes its check, and nothing is lost.
func TestQueueLongConflicts(t *testing.T) {
	t.Parallel()
	tasks, workers := 10, 3
	if soaking(t) {
		tasks, workers = 50, 4
	}
	s := newQueueStage(t, 0, conflicting)
	s.Write("shared", "shared\n")
	s.Write("check.sh", harmony)
	for n := 3; n < tasks; n += 10 {
		s.Write(fmt.Sprintf("base-%d", n), "base\n")
	}
	first := s.Save("a project")
	s.Write("first", "what the user has not committed\n")
	s.Write("untracked", "what git does not know\n")
	before := s.Untouched()
	hub := s.hub()
	on := s.board()
	var ids []string
	for n := range tasks {
		ids = append(ids, s.add("--check", "sh check.sh", fmt.Sprintf("task %d", n)))
	}
	var all []*exec.Cmd
	for n := range workers {
		all = append(all, s.worker(n))
	}
	began := time.Now()
	s.await("the end", func() bool { return over(s.all(on)) == tasks })
	took, backlog := time.Since(began), s.all(on)
	s.settled(on, ids)
	commits := strings.Fields(s.Git("rev-list", "--first-parent", first+".."+waitingForMain))
	for _, commit := range commits {
		s.green(commit)
	}
	human, reworked := 0, 0
	for n, id := range ids {
		where := waitingForMain
		if r := backlog[id]; r.State == queue.NeedsHuman {
			where, human = "refs/heads/"+r.Task.Branch(), human+1
		}
		if backlog[id].Reworks > 0 {
			reworked++
		}
		if got := s.Git("show", fmt.Sprintf("%s:task-%d", where, n)); got != fmt.Sprintf("task %d", n) {
			t.Errorf("%s has %q", id, got)
		}
		if n%5 == 0 && !slices.Contains(strings.Split(s.Git("show", where+":shared"), "\n"), fmt.Sprintf("line %d", n)) {
			t.Errorf("the line of %s is lost", id)
		}
	}
	s.stop(all...)
	hub.stop()
	s.noLeftovers()
	if s.Untouched() != before {
		t.Error("the user's files have changed")
	}
	t.Logf("%d tasks, %d workers: %s, %d commits on the target, each of them green, %d tasks reworked, %d need a person; load %s",
		tasks, workers, took.Round(time.Second), len(commits), reworked, human, load(t))
}

// green checks that a project's check passes at a commit.
func (s *queueStage) green(commit string) {
	s.Helper()
	dir := s.TempDir()
	cmd := exec.Command("sh", "-c", `git archive "$0" | tar -x -C "$1" && cd "$1" && sh check.sh`, commit, dir)
	cmd.Dir, cmd.Env = s.Root, s.in(s.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.Errorf("%s is red: %v\n%s", commit, err, out)
	}
}
