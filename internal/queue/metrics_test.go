package queue_test

import (
	"strings"
	"testing"
	"time"

	"codeloops/internal/queue"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Unix(1_000_000+int64(s), 0) }
	step := func(r *queue.Record, to queue.State, s int) {
		t.Helper()
		if err := r.Move(to, at(s), ""); err != nil {
			t.Fatal(err)
		}
	}
	begin := func(r *queue.Record, worker string, s int) {
		t.Helper()
		if err := r.Begin(queue.Worker{Name: worker}, at(s)); err != nil {
			t.Fatal(err)
		}
	}
	waiting := &queue.Record{State: queue.Waiting, Since: at(10)}
	done := &queue.Record{State: queue.Waiting, Since: at(0), Reworks: 1, Progress: queue.Progress{Dollars: 1.25, Tokens: 1000}}
	step(done, queue.Offered, 1)
	begin(done, "a", 2)
	begin(done, "b", 12)
	step(done, queue.Finished, 32)
	step(done, queue.Merged, 33)
	running := &queue.Record{State: queue.Waiting, Since: at(0), Progress: queue.Progress{Dollars: 0.5, Tokens: 10}}
	step(running, queue.Offered, 40)
	begin(running, "c", 50)
	got := queue.Backlog{"w": waiting, "d": done, "r": running}.Metrics(at(60))
	for _, want := range []string{
		"# HELP codeloops_tasks Tasks by state.\n# TYPE codeloops_tasks gauge\ncodeloops_tasks{state=\"waiting\"} 1\n",
		"\ncodeloops_tasks{state=\"merged\"} 1\n", "\ncodeloops_tasks{state=\"dead\"} 0\n",
		"\ncodeloops_attempts 3\n", "\ncodeloops_redeliveries 1\n", "\ncodeloops_merges 1\n", "\ncodeloops_reworks 1\n",
		"\ncodeloops_workers_busy 1\n", "\ncodeloops_oldest_waiting_seconds 50\n", "\ncodeloops_running_seconds 40\n",
		"\ncodeloops_dollars 1.75\n", "\ncodeloops_tokens 1010\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
