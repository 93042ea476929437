//go:build linux

// Package bench measures captures as a run performs them, next to git.
package bench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestBench runs codeloops, at CODELOOPS_BIN, with scripted agents that change 20 files,
// and reads from its log how long it took from CAPTURING_DIFF to the diff, including the
// checkpoint. Git looks at the same work tree in between, so that the ratio is what
// counts. The test runs when CODELOOPS_BENCH_DIFF is set, to the number of rounds. It
// changes a clone of the repository CODELOOPS_BENCH_REPO or, without that, synthetic
// repositories.
func TestBench(t *testing.T) { //nolint:paralleltest // it measures
	rounds, _ := strconv.Atoi(os.Getenv("CODELOOPS_BENCH_DIFF"))
	if rounds == 0 {
		t.Skip("CODELOOPS_BENCH_DIFF is not set")
	}
	if repo := os.Getenv("CODELOOPS_BENCH_REPO"); repo != "" {
		measure(t, copyOf(t, repo), rounds)
		return
	}
	for _, size := range []struct{ files, dirs int }{{10_000, 1_460}, {100_000, 9_607}} { //nolint:paralleltest // it measures
		t.Run(strconv.Itoa(size.files), func(t *testing.T) {
			measure(t, synthetic(t, size.files, size.dirs), rounds)
		})
	}
}

func measure(t *testing.T, w *work, rounds int) {
	t.Helper()
	fmt.Printf("%s: %d files, %d directories, %d rounds; min, median and max\n", w.root, w.files, w.dirs, rounds)
	var git, first, later times
	for i := range rounds {
		took, text := w.session(t)
		first, later = append(first, took[0]), append(later, took[1:]...)
		if i == 0 {
			w.verify(t, text)
		}
		git = append(git, w.gitA(t))
		w.restore(t)
	}
	fmt.Printf("  %-28s %v\n", "git", git)
	fmt.Printf("  %-28s %v\n", "first capture of a run", first)
	fmt.Printf("  %-28s %v\n", "later ones", later)
}

// captures is the number of looks at the work tree.
const captures = 4

// session runs codeloops on the work tree, and returns the duration of each capture and
// the last diff.
func (w *work) session(t *testing.T) (took times, text string) {
	t.Helper()
	logs := filepath.Join(w.scratch, "sessions")
	must(t, os.RemoveAll(logs))
	cmd := exec.Command(os.Getenv("CODELOOPS_BIN"), "--agent", "scripted", "--script", w.scenario(t),
		"--session-dir", logs, "-n", strconv.Itoa(captures), "--yes", "-p", "change twenty of the files")
	cmd.Dir, cmd.Env = w.root, append(slices.Clip(w.env), "CODELOOPS_CONVERGENCE_WARN_AFTER=0", "CODELOOPS_CONVERGENCE_STOP_AFTER=0")
	out, err := cmd.CombinedOutput()
	found, _ := filepath.Glob(filepath.Join(logs, "*.jsonl"))
	if len(found) != 1 || cmd.ProcessState.ExitCode() > 1 { // 1: the iteration limit was reached
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	log, err := os.ReadFile(found[0])
	must(t, err)
	var began time.Time
	for line := range strings.Lines(string(log)) {
		var l struct {
			Type, State string
			Timestamp   time.Time
			Diff        string `json:"git_diff"`
		}
		must(t, json.Unmarshal([]byte(line), &l))
		switch {
		case l.Type == "phase" && l.State == "CAPTURING_DIFF":
			began = l.Timestamp
		case l.Type == "diff":
			took = append(took, l.Timestamp.Sub(began))
		}
		text = cmp.Or(l.Diff, text)
	}
	if len(took) != captures {
		t.Fatalf("%d captures\n%s", len(took), out)
	}
	return took, text
}

// scenario writes the scenario of the agents: 12 modified, 3 deleted, 1 chmod, 1 symlink
// and 3 untracked files; each later iteration modifies the 12 files again.
func (w *work) scenario(t *testing.T) string {
	t.Helper()
	change := filepath.Join(w.scratch, "change.sh")
	var script strings.Builder
	for i := range 12 {
		fmt.Fprintf(&script, "echo \"more $$\" >>'%s'\n", w.pick(i))
	}
	script.WriteString("test -e ../scratch/changed && exit\n: >../scratch/changed\n")
	for i := range 8 {
		fmt.Fprintf(&script, changes()[min(i, 5)], w.pick(12+i))
	}
	must(t, os.WriteFile(change, []byte(script.String()), 0o600))
	must(t, os.RemoveAll(filepath.Join(w.scratch, "changed")))
	var toml strings.Builder
	for range captures {
		fmt.Fprintf(&toml, "[[actor]]\nstep = [{ run = \"sh %s\" }]\n[[critic]]\nsay = \"DECISION: CONTINUE\\nFEEDBACK: more\"\n", change)
	}
	name := filepath.Join(w.scratch, "scenario.toml")
	must(t, os.WriteFile(name, []byte(toml.String()), 0o600))
	return name
}

// changes returns the changes to a file other than writing to it.
func changes() []string {
	const gone = "rm '%s'\n"
	return []string{gone, gone, gone, "chmod +x '%s'\n", "ln -sf elsewhere '%s'\n", "echo new >\"$(dirname '%s')/new.txt\"\n"}
}

type times []time.Duration

func (t times) String() string {
	sorted := slices.Sorted(slices.Values(t))
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return fmt.Sprintf("%.1f  %.1f  %.1f ms", ms(sorted[0]), ms(sorted[len(sorted)/2]), ms(sorted[len(sorted)-1]))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
