//go:build linux

// Package bench measures captures against git.
package bench

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestBench measures captures against git on one machine in one run, so that
// only the ratio counts, and prints what it finds. It runs when
// CODELOOPS_BENCH_DIFF is set: to the number of rounds. The repository is
// CODELOOPS_BENCH_REPO, a copy of which is changed; without it, synthetic ones
// are made.
func TestBench(t *testing.T) { //nolint:paralleltest // it measures
	rounds, _ := strconv.Atoi(os.Getenv("CODELOOPS_BENCH_DIFF"))
	if rounds == 0 {
		t.Skip("CODELOOPS_BENCH_DIFF is not set")
	}
	if repo := os.Getenv("CODELOOPS_BENCH_REPO"); repo != "" {
		measure(t, copyOf(t, repo), rounds)
		return
	}
	// What takes less time is measured more often: a moment in which nothing else
	// runs on the machine is found as surely.
	for _, size := range []struct{ files, dirs, times int }{{10_000, 1_460, 4}, {100_000, 9_607, 1}} { //nolint:paralleltest // it measures
		t.Run(strconv.Itoa(size.files), func(t *testing.T) {
			measure(t, synthetic(t, size.files, size.dirs), rounds*size.times)
		})
	}
}

func measure(t *testing.T, w *work, rounds int) {
	t.Helper()
	r := &report{t: t}
	fmt.Printf("%s: %d files, %d directories, %d rounds; git's time / ours, min and median\n", w.root, w.files, w.dirs, rounds)
	w.begin(t)
	w.change(t)
	w.settle(t)
	w.verify(t)
	processes(r, w, rounds)
	againstLibgit2(r, w, rounds)
	repeated(r, w, rounds)
	checkpoints(r, w, rounds)
	r.memory(w.peak(t, "nothing"), w.peak(t, "first"))
	stale(r, w, rounds)
}

// processes measures whole processes: what a new one needs until it has the diff.
// One that resumes a session reads every file: the index may be the word of whoever
// was at work in it.
func processes(r *report, w *work, rounds int) {
	var a, b, status, cold, resumed, baseline runs
	for range rounds {
		a.add(w.gitA(r.t))
		cold.add(w.child(r.t, "first", w.root))
		b.add(w.gitB(r.t))
		status.add(w.gitStatus(r.t, w.root))
		baseline.add(w.child(r.t, "baseline", w.root))
		resumed.add(w.child(r.t, "resumed", w.root))
	}
	fmt.Printf("  git: A %v  B %v  status %v\n", a, b, status)
	r.ratio("first", cold, a, b)
	r.ratio("resumed", resumed, a, b)
	r.ratio("baseline / status", baseline, status)
}

// repeated measures further captures of one process, and what the system alone
// needs for them. All run many times in a row, so that each finds the
// processor's caches as it has left them itself; what the first of a row takes,
// which finds them as git has left them, is told besides.
func repeated(r *report, w *work, rounds int) {
	const inRow = 8
	s := w.serve(r.t, "serve")
	defer s.close()
	s.ask("capture")
	var a, b, again, floor, againFirst, floorFirst runs
	row := func(all, first *runs, one func() cost) {
		for i := range inRow {
			c := one()
			if all.add(c); i == 0 && first != nil {
				first.add(c)
			}
		}
	}
	for range rounds {
		row(&a, nil, func() cost { return w.gitA(r.t) })
		row(&again, &againFirst, func() cost { return s.ask("capture") })
		row(&b, nil, func() cost { return w.gitB(r.t) })
		row(&floor, &floorFirst, func() cost { return s.ask("floor") })
	}
	r.ratio("repeat", again, a, b)
	r.ratio("stats alone", floor, a, b)
	r.ratio("repeat, after git", againFirst, a, b)
	r.ratio("stats alone, after git", floorFirst, a, b)
}

// checkpoints measures what keeping 20 changes costs beyond finding them.
func checkpoints(r *report, w *work, rounds int) {
	s := w.serve(r.t, "serve")
	defer s.close()
	s.ask("capture")
	s.ask("checkpoint")
	var ours runs
	for range rounds {
		w.edit(r.t)
		s.ask("capture")
		ours.add(s.ask("checkpoint"))
	}
	fmt.Printf("  %-23s %v\n", "checkpoint", ours)
}

// stale measures the first scan of a copy, of which the index knows no file.
func stale(r *report, w *work, rounds int) {
	c := w.copy(r.t)
	var status, ours runs
	for range min(rounds, 5) {
		status.add(w.gitStatus(r.t, c))
		ours.add(w.child(r.t, "baseline", c))
	}
	r.ratio("stale / status", ours, status)
}

// A cost is what one run took.
type cost struct {
	wall, cpu time.Duration
	text      string
}

type runs []cost

func (r *runs) add(c cost) { *r = append(*r, c) }

func (r runs) of(field func(cost) time.Duration) (least, median time.Duration) {
	sorted := slices.SortedFunc(slices.Values(r), func(a, b cost) int { return cmp.Compare(field(a), field(b)) })
	return field(sorted[0]), field(sorted[len(sorted)/2])
}

func wall(c cost) time.Duration { return c.wall }
func cpu(c cost) time.Duration  { return c.cpu }

func (r runs) String() string {
	least, median := r.of(wall)
	leastCPU, _ := r.of(cpu)
	return fmt.Sprintf("%.1f/%.1f ms (cpu %.1f)", ms(least), ms(median), ms(leastCPU))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

type report struct{ t *testing.T }

func (r *report) ratio(name string, ours runs, git ...runs) {
	fmt.Printf("  %-23s %v ", name, ours)
	for i, g := range git {
		fmt.Printf("  %s:", []string{"A", "B"}[i])
		for _, field := range []func(cost) time.Duration{wall, cpu} {
			least, median := g.of(field)
			ourLeast, ourMedian := ours.of(field)
			fmt.Printf(" %.2f/%.2f", quotient(least, ourLeast), quotient(median, ourMedian))
		}
		fmt.Print(" (wall, cpu)")
	}
	fmt.Println()
}

func quotient(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

func (r *report) memory(plain, full int64) {
	fmt.Printf("  %-23s %.1f MB over %.1f MB\n", "memory", float64(full-plain)/1e6, float64(plain)/1e6)
}
