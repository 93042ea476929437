package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/queue"
	"codeloops/internal/queue/board"
)

// once is an agent that works for as long as its task says.
const once = `
say begin
case $CODELOOPS_ROLE in
critic) echo "DECISION: DONE";;
*)
	n=${task#task-}
	sleep "${n%%-*}"
	echo done >"$task";;
esac
say end
`

// TestQueueFigures measures the overhead of the queue, as `make bench-queue` does.
//
//nolint:paralleltest // figures are taken one after the other
func TestQueueFigures(t *testing.T) {
	if os.Getenv("QUEUE_FIGURES") == "" {
		t.Skip("use make bench-queue")
	}
	t.Run("start", figureStart)
	t.Run("four", figureFour)
	t.Run("hub", figureHub)
	t.Run("list", figureList)
	t.Run("bundle", figureBundle)
}

// part returns a percentile of sorted values.
func part(sorted []time.Duration, percent int) time.Duration {
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)].Round(100 * time.Microsecond)
}

// figureStart measures the time from queue add to the start of the agent, with an idle worker.
func figureStart(t *testing.T) {
	const tasks = 100
	s := newQueueStage(t, 0, once)
	hub := s.hub()
	on := s.board()
	one := s.worker(0)
	var command, acknowledged, whole []time.Duration
	for n := range tasks {
		called := time.Now()
		id := s.add("--priority", strconv.Itoa(n), fmt.Sprintf("task 0 number %d", n))
		back := time.Now()
		time.Sleep(300 * time.Millisecond) // looking at the board slows down what is measured
		s.await("the merge", func() bool { return s.all(on)[id].State.Over() })
		begun := s.begun(id)
		command, acknowledged, whole = append(command, back.Sub(called)), append(acknowledged, begun.Sub(back)), append(whole, begun.Sub(called))
	}
	s.stop(one)
	hub.stop()
	for _, one := range []struct {
		what string
		took []time.Duration
	}{{"queue add itself", command}, {"from its end to the agent's start", acknowledged}, {"both", whole}} {
		slices.Sort(one.took)
		t.Logf("%s: %s at least, %s at the median, %s at p99", one.what, part(one.took, 0), part(one.took, 50), part(one.took, 99))
	}
	t.Logf("%d tasks, one after the other; load %s", tasks, load(t))
}

// begun returns when the first turn of a task started.
func (s *queueStage) begun(task string) time.Time {
	s.Helper()
	for _, turn := range s.turns() {
		if turn.task == task && turn.what == "begin" {
			at, err := strconv.ParseInt(turn.at, 10, 64)
			if err != nil {
				s.Fatal(err)
			}
			return time.Unix(0, at)
		}
	}
	s.Fatalf("no turn of %s has begun", task)
	return time.Time{}
}

// figureFour measures how much longer four tasks take on four workers than the slowest of them
// alone.
func figureFour(t *testing.T) {
	s := newQueueStage(t, 0, once)
	hub := s.hub()
	on := s.board()
	var all []*exec.Cmd
	for n := range 4 {
		all = append(all, s.worker(n))
	}
	work := func(round int, seconds ...int) time.Duration {
		done := over(s.all(on))
		began := time.Now()
		for _, n := range seconds {
			s.add(fmt.Sprintf("task %d in round %d", n, round))
		}
		s.await("the end", func() bool { return over(s.all(on)) == done+len(seconds) })
		return time.Since(began)
	}
	for round := range 3 {
		one := work(2*round, 10)
		four := work(2*round+1, 10, 9, 8, 7)
		t.Logf("a task of 10 s alone %s; with three of 9, 8 and 7 s on four workers %s: %.3f times; load %s",
			one.Round(time.Millisecond), four.Round(time.Millisecond), four.Seconds()/one.Seconds(), load(t))
	}
	s.stop(all...)
	hub.stop()
}

// figureHub measures an idle hub with four idle workers.
func figureHub(t *testing.T) {
	const settles, seconds = 3, 20
	s := newQueueStage(t, 0, once)
	hub := s.hub()
	on := s.board()
	var all []*exec.Cmd
	look := func(who string) {
		pid := hub.cmd.Process.Pid
		time.Sleep(settles * time.Second) // its start is not idle
		before := cpu(t, pid)
		time.Sleep(seconds * time.Second)
		used := cpu(t, pid) - before
		t.Logf("an idle hub with %s: %s, %.2f %% of a core in %d s", who, resident(t, pid), 100*used.Seconds()/seconds, seconds)
	}
	look("nobody")
	for n := range 4 {
		all = append(all, s.worker(n))
	}
	id := s.add("task 0")
	s.await("the merge", func() bool { return s.all(on)[id].State.Over() })
	look("four idle workers, after a task")
	s.stop(all...)
	hub.stop()
}

// cpu returns the processor time of a process.
func cpu(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	const tick = 10 * time.Millisecond // on every Linux that Go supports
	return time.Duration(user+system) * tick
}

// resident returns the memory of a process, and how much of it is not shared.
func resident(t *testing.T, pid int) string {
	t.Helper()
	return fmt.Sprintf("%.1f MB resident, %.1f MB of that its own", memory(t, pid, "VmRSS"), memory(t, pid, "RssAnon"))
}

// memory returns a memory figure of a process from /proc, in MB.
func memory(t *testing.T, pid int, what string) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), what+":")
	kB, _ := strconv.Atoi(strings.Fields(rest)[0])
	return float64(kB) / 1000
}

// figureList measures queue list with 10,000 tasks, with and without a hub.
func figureList(t *testing.T) {
	const tasks = 10_000
	s := newQueueStage(t, 0, once)
	hub := s.hub()
	on := s.board()
	where := queue.Repository{Home: s.home.ID(), Root: s.Root}
	fill(t, on, where, tasks)
	list := func(how string) {
		var took []time.Duration
		for range 10 {
			cmd := s.codeloops(s.dir, "list.log", "queue", "list")
			began := time.Now()
			out, err := cmd.Output()
			took = append(took, time.Since(began))
			if err != nil || strings.Count(string(out), "\n") != tasks {
				t.Fatal(strings.Count(string(out), "\n"), err)
			}
		}
		slices.Sort(took)
		t.Logf("queue list of %d tasks, %s: %s at least, %s at the median; load %s", tasks, how, part(took, 0), part(took, 50), load(t))
	}
	list("with a hub")
	t.Logf("the hub has %s", resident(t, hub.cmd.Process.Pid))
	hub.stop()
	list("without a hub")
	size, err := exec.Command("du", "-sm", filepath.Join(s.home.Dir, "store")).Output()
	t.Logf("they are %s MB on the disk, %v", strings.Fields(string(size) + " ?")[0], err)
}

// figureBundle measures sending 50 MB of incompressible data to a worker with its own home: the time
// until its agent starts, compared with the next task, and the peak memory of each process.
func figureBundle(t *testing.T) {
	t.Setenv("QUEUE_HUB", "apart")
	s := newQueueStage(t, 0, once)
	noise := make([]byte, 1<<20)
	for n := range 50 {
		_, _ = rand.Read(noise)
		s.Write(fmt.Sprintf("noise/%02d", n), string(noise))
	}
	s.Save("noise")
	s.Git("gc", "--quiet")
	hub := s.hub()
	on := s.board()
	away := s.worker(1)
	begins := func(what string) time.Duration {
		id := s.add(what)
		added := time.Now()
		s.await("the result", func() bool { return s.all(on)[id].State == queue.Finished })
		return s.begun(id).Sub(added).Round(time.Millisecond)
	}
	first := begins("task 0 with the whole of it")
	next := begins("task 0 with nothing new")
	t.Logf("50 MB to a worker elsewhere: its agent starts after %s, that of the next task after %s; the hub, who sends it, had %.1f MB at most, the worker %.1f MB; load %s",
		first, next, memory(t, hub.cmd.Process.Pid, "VmHWM"), memory(t, away.Process.Pid, "VmHWM"), load(t))
	s.stop(away)
	hub.stop()
}

func fill(t *testing.T, on *board.Board, where queue.Repository, tasks int) {
	t.Helper()
	for i := range tasks {
		task := queue.Task{Prompt: fmt.Sprintf("task number %d is about something", i), Repository: where, Target: "main", Added: time.Now(), Order: i}
		task.Name()
		if _, err := on.Add(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}
}
