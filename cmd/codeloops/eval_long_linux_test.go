package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEvalTasksLong plays all tasks that come with codeloops, with a critic and without. A task whose programs are not here is
// left out, and named.
func TestEvalTasksLong(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a script plays some of them")
	}
	s := newStage(t, "")
	tasks, err := filepath.Abs("../../testdata/eval")
	if err != nil {
		t.Fatal(err)
	}
	cmd := s.codeloops()
	play := exec.CommandContext(t.Context(), cmd.Path, "eval", "tasks", filepath.Join(tasks, "tasks"), "--jobs", "4", "--json",
		"--config", filepath.Join(tasks, "critic.toml"), "--config", filepath.Join(tasks, "alone.toml"))
	play.Dir, play.Env = cmd.Dir, append(s.env, "GOCACHE="+os.Getenv("GOCACHE"))
	if cache, err := os.UserCacheDir(); os.Getenv("GOCACHE") == "" && err == nil {
		play.Env = append(play.Env, "GOCACHE="+filepath.Join(cache, "go-build"))
	}
	var stderr strings.Builder
	play.Stderr = &stderr
	out, err := play.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var report struct {
		Trials []struct {
			Task, Language, Config, Why string
			Done, Passed                bool
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatal(err)
	}
	missing := strings.Count(stderr.String(), "is left out: ")
	if got := len(report.Trials); got != 2*(20-missing) {
		t.Errorf("%d trials, and %d tasks left out\n%s", got, missing, &stderr)
	}
	// The critics of these do not look well, and the actors of those are right at once.
	missed, right := []string{"sh-dotenv", "py-median", "go-reverse"}, []string{"awk-uniq", "js-table", "go-duration"}
	languages := map[string]bool{}
	for _, r := range report.Trials {
		languages[r.Language] = true
		solved := slices.Contains(right, r.Task) || r.Config == "critic" && !slices.Contains(missed, r.Task)
		if !r.Done || r.Passed != solved {
			t.Errorf("%s, %s: done %t, passed %t: %s", r.Task, r.Config, r.Done, r.Passed, r.Why)
		}
	}
	if missing == 0 && len(languages) != 5 {
		t.Errorf("these are no five languages: %v", languages)
	}
}
