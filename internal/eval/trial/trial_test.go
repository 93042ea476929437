package trial

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/proc"
)

// TestMain lets the test binary watch over the commands that it starts.
func TestMain(m *testing.M) {
	if !proc.Keep() {
		os.Exit(m.Run())
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTasks: what a task lacks is said with its name.
func TestTasks(t *testing.T) {
	t.Parallel()
	for says, files := range map[string]map[string]string{
		"holds no tasks":                  {"README.md": "x"},
		"task one: open":                  {"one/check.sh": "true"},
		"prompt.md is empty":              {"one/prompt.md": " \n", "one/check.sh": "true"},
		"check.sh":                        {"one/prompt.md": "x"},
		`there is no key "lang"`:          {"one/prompt.md": "x", "one/check.sh": "true", "one/task.toml": "lang = \"go\""},
		"read the task one: toml: line 1": {"one/prompt.md": "x", "one/check.sh": "true", "one/task.toml": "language = go"},
	} {
		dir := t.TempDir()
		write(t, dir, files)
		if _, err := Tasks(dir); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// TestRun: a trial is set up once, what its check looks at is seen by nobody before, and its result is kept.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"tasks/one/prompt.md": "make it\n", "tasks/one/files/given": "given\n", "tasks/one/setup.sh": "echo made >made\n",
		"tasks/one/check.sh":  "test -e \"$TASK/prompt.md\" && grep -q good answer || { echo no good; exit 1; }\n",
		"tasks/two/prompt.md": "make it\n", "tasks/two/check.sh": "true\n", "tasks/two/task.toml": "needs = [\"no-such-program\"]\n",
	})
	tasks, err := Tasks(filepath.Join(dir, "tasks"))
	if err != nil {
		t.Fatal(err)
	}
	runner := proc.NewRunner(time.Now)
	t.Cleanup(func() { _ = runner.Close() })
	var said []string
	played := 0
	lab := &Lab{
		Home: filepath.Join(dir, "home"), Environ: os.Environ(), Runner: runner, Jobs: 1, Timeout: time.Minute, Tell: func(s string) { said = append(said, s) },
		Play: func(_ context.Context, _ string, _ int, all []Trial, _ func(done, of int)) (map[string]End, error) {
			ends := map[string]End{}
			for _, one := range all {
				played++
				if seen := files(t, one.Dir); !slices.Equal(seen, []string{"codeloops.toml", "given", "made"}) {
					t.Errorf("whoever works on %s sees %q", one.Name, seen)
				}
				ends[one.Dir] = work(t, one)
			}
			return ends, nil
		},
	}
	configs := []Config{{Name: "sure"}, {Name: "rash"}, {Name: "lost"}}
	for range 2 {
		all, err := lab.Run(t.Context(), tasks, configs, 2)
		if err != nil {
			t.Fatal(err)
		}
		checkReport(t, NewReport(all, configs))
	}
	if played != 6 {
		t.Errorf("%d trials were played, of 6", played)
	}
	if len(said) != 2 || !strings.Contains(said[0], "the task two is left out: no-such-program is not installed") {
		t.Errorf("%q", said)
	}
	if _, err := lab.Run(t.Context(), tasks, append(configs, configs[0]), 1); err == nil || !strings.Contains(err.Error(), "two configurations are called sure") {
		t.Errorf("%v", err)
	}
}

// work plays a trial as its configuration says.
func work(t *testing.T, one Trial) End {
	t.Helper()
	answer, works := map[string]string{"sure": "good", "rash": "bad"}[one.config.Name]
	if !works {
		return End{Why: "it gave up"}
	}
	write(t, one.Dir, map[string]string{"answer": answer})
	return End{Done: true, Commit: commit(t, one.Dir)}
}

func checkReport(t *testing.T, r Report) {
	t.Helper()
	for i, want := range []struct{ solved, falseDone int }{{2, 0}, {0, 2}, {0, 0}} {
		if row := r.Rows[i]; row.Solved.K != want.solved || row.FalseDone.K != want.falseDone || row.Solved.N != 2 {
			t.Errorf("%s: %+v", row.Config, row)
		}
	}
	if p := r.Pairs[0]; p.OnlyA != 2 || p.Both+p.OnlyB+p.None != 0 {
		t.Errorf("%+v", p)
	}
	var text []string
	for _, table := range r.Tables() {
		for _, row := range table.Rows {
			text = append(text, strings.Join(row, " "))
		}
	}
	if all := strings.Join(text, "\n"); !strings.Contains(all, "one rash 1 DONE no good") || !strings.Contains(all, "one lost 2 not done it gave up") {
		t.Errorf("the report says\n%s", all)
	}
}

// files lists the files in a directory that belong to the work.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != ".git" {
			names = append(names, e.Name())
		}
	}
	return names
}

// commit commits what is there, and returns the commit.
func commit(t *testing.T, dir string) string {
	t.Helper()
	var out []byte
	for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-q", "-m", "work"}, {"rev-parse", "HEAD"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		var err error
		if out, err = cmd.Output(); err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
	}
	return strings.TrimSpace(string(out))
}
