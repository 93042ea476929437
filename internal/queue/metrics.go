package queue

import (
	"fmt"
	"strings"
	"time"
)

// Metrics formats the figures of the backlog as Prometheus text. Removed tasks are not counted.
func (b Backlog) Metrics(now time.Time) string {
	var s strings.Builder
	metric := func(name, help string, values ...any) { // pairs of labels and value
		fmt.Fprintf(&s, "# HELP codeloops_%s %s\n# TYPE codeloops_%[1]s gauge\n", name, help)
		for i := 0; i < len(values); i += 2 {
			fmt.Fprintf(&s, "codeloops_%s%s %v\n", name, values[i], values[i+1])
		}
	}
	states, workers := map[State]int{}, map[string]bool{}
	var attempts, lost, reworks, tokens int
	var dollars float64
	var waits, ran time.Duration
	for _, r := range b {
		states[r.State]++
		attempts, reworks, tokens, dollars = attempts+r.Attempt, reworks+r.Reworks, tokens+r.Progress.Tokens, dollars+r.Progress.Dollars
		switch r.State {
		case Waiting, Offered:
			waits = max(waits, now.Sub(r.Since))
		case Running:
			workers[r.Worker.Name] = true
		case Finished, Merged, NeedsHuman, Failed, Dead, Cancelled:
		}
		took, gone := r.worked(now)
		ran, lost = ran+took, lost+gone
	}
	var counts []any
	for _, state := range States() {
		counts = append(counts, fmt.Sprintf("{state=%q}", state), states[state])
	}
	metric("tasks", "Tasks by state.", counts...)
	metric("attempts", "Attempts at tasks.", "", attempts)
	metric("redeliveries", "Attempts that began because the worker before was lost.", "", lost)
	metric("merges", "Results that were merged.", "", states[Merged])
	metric("reworks", "Results that were sent back because they could not be merged.", "", reworks)
	metric("workers_busy", "Workers that are at work on a task.", "", len(workers))
	metric("oldest_waiting_seconds", "How long the task has waited that has waited longest.", "", waits.Seconds())
	metric("running_seconds", "How long attempts have lasted, all together.", "", ran.Seconds())
	metric("dollars", "What the agents have cost, in US dollars.", "", dollars)
	metric("tokens", "Tokens that the agents have used.", "", tokens)
	return s.String()
}

// worked is how long attempts at a task took, and how many lost their worker, as far as its history goes back.
func (r *Record) worked(now time.Time) (took time.Duration, lost int) {
	for i, m := range r.Course {
		if m.State != Running {
			continue
		}
		end := now
		if i+1 < len(r.Course) {
			end = r.Course[i+1].At
		}
		took += end.Sub(m.At)
		if i > 0 && r.Course[i-1].State == Running {
			lost++
		}
	}
	return took, lost
}
