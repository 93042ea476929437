package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/git"
	"codeloops/internal/loop/progress"
	"codeloops/internal/proc"
	"codeloops/internal/session"
)

// A Lab plays trials.
type Lab struct {
	Home    string // where repositories, sessions and results are kept
	Environ []string
	Runner  *proc.Runner
	// Play plays trials through the queue in a directory, and returns how they ended, by their directories.
	Play    func(ctx context.Context, dir string, jobs int, all []Trial, ended func(done, of int)) (map[string]End, error)
	Jobs    int
	Timeout time.Duration // of a check
	Tell    func(sentence string)
	Ended   func(done, of int)
}

// A Result is what came of a trial.
type Result struct {
	Task     string   `json:"task"`
	Language string   `json:"language,omitempty"`
	Config   string   `json:"config"`
	N        int      `json:"n"`
	Done     bool     `json:"done"`   // the loop took it for done
	Passed   bool     `json:"passed"` // and its check passed
	Why      string   `json:"why,omitempty"`
	Rounds   int      `json:"rounds"`
	CostUSD  *float64 `json:"cost_usd"` // nil: not known
	Seconds  float64  `json:"secs"`
}

// Run plays each task so many times under each configuration, unless it was played before, and returns all results. A task
// whose programs are not there is named, and left out.
func (l *Lab) Run(ctx context.Context, tasks []Task, configs []Config, times int) (all []Result, err error) {
	if err := distinct(configs); err != nil {
		return nil, err
	}
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(t Task) bool {
		for _, program := range t.Needs {
			if _, err := proc.LookPath(program, t.Dir, l.Environ); err != nil {
				l.Tell(fmt.Sprintf("the task %s is left out: %s is not installed", t.Name, program))
				return true
			}
		}
		return false
	})
	trials := plan(l.Home, tasks, configs, times)
	var open []Trial
	for _, t := range trials {
		r, known, err := l.known(t)
		switch {
		case err != nil:
			return nil, err
		case known:
			all = append(all, r)
			continue
		}
		if err := l.setUp(ctx, t); err != nil {
			return nil, fmt.Errorf("set up the trial %s: %w", t.Name, err)
		}
		open = append(open, t)
	}
	if len(open) == 0 {
		return all, nil
	}
	ends, err := l.Play(ctx, filepath.Join(l.Home, "queue"), l.Jobs, open, l.Ended)
	if err != nil {
		return nil, err
	}
	spent, err := l.sessions()
	if err != nil {
		return nil, err
	}
	for _, t := range open {
		r, err := l.judge(ctx, t, ends[t.Dir], spent)
		if err != nil {
			return nil, fmt.Errorf("check the trial %s: %w", t.Name, err)
		}
		all = append(all, r)
	}
	return all, nil
}

func (t Trial) resultFile() string { return filepath.Join(filepath.Dir(t.Dir), "result.json") }

// known returns the result of a trial that was played before.
func (l *Lab) known(t Trial) (r Result, known bool, err error) {
	text, err := os.ReadFile(t.resultFile())
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	return r, err == nil, err
}

// setUp makes the repository of a trial, unless an earlier call has.
func (l *Lab) setUp(ctx context.Context, t Trial) error {
	ready := filepath.Join(filepath.Dir(t.Dir), "ready")
	if exists(ready) {
		return nil
	}
	if err := os.RemoveAll(filepath.Dir(t.Dir)); err != nil { // half of one
		return err
	}
	if err := l.files(ctx, t); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "--template="},
		{"add", "-A"},
		{"-c", "user.name=codeloops", "-c", "user.email=eval@codeloops.invalid", "-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "-m", "The task as it is given"},
	} {
		if err := l.git(ctx, t.Dir, args...); err != nil {
			return err
		}
	}
	return errors.Join(configure(t), file.Write(ready, nil, 0o600))
}

// files makes the files of a task.
func (l *Lab) files(ctx context.Context, t Trial) error {
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return err
	}
	if from := filepath.Join(t.task.Dir, filesDir); exists(from) {
		if err := os.CopyFS(t.Dir, os.DirFS(from)); err != nil {
			return err
		}
	}
	setup := filepath.Join(t.task.Dir, setupFile)
	if !exists(setup) {
		return nil
	}
	passed, said, err := l.sh(ctx, t, setup, t.Dir)
	if err == nil && !passed {
		err = errors.New(setupFile + " failed: " + said)
	}
	return err
}

// configure gives a repository its configuration, which is no part of what is worked on.
func configure(t Trial) error {
	const project = "codeloops.toml"
	info := filepath.Join(t.Dir, ".git", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(info, "exclude"), []byte("/"+project+"\n"), 0o600),
		os.WriteFile(filepath.Join(t.Dir, project), []byte(t.config.Text), 0o600),
	)
}

func (l *Lab) git(ctx context.Context, dir string, args ...string) error {
	_, err := git.Git{Environ: git.WithoutRepository(l.Environ)}.Run(ctx, git.Call{Dir: dir, Args: append([]string{"-c", "core.hooksPath=" + os.DevNull}, args...)})
	return err
}

// sh runs a script of a task, which finds the task in $TASK.
func (l *Lab) sh(ctx context.Context, t Trial, script, dir string) (passed bool, said string, err error) {
	const most = 1 << 20
	res, err := l.Runner.Run(ctx, proc.Command{
		Invocation: proc.Invocation{Argv: []string{"sh", script}, Dir: dir, Env: append(slices.Clip(l.Environ), "TASK="+t.task.Dir)},
		Limits:     proc.Limits{Timeout: l.Timeout, MaxOutput: most, Keep: most / 16},
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	return res.ExitCode == 0 && res.Stop == "", string(res.Stdout.Text) + string(res.Stderr.Text), err
}

// judge runs the check of a task on the result of a trial, and keeps what came of it.
func (l *Lab) judge(ctx context.Context, t Trial, end End, spent map[string]cost) (r Result, err error) {
	of := spent[end.Task]
	r = Result{Task: t.task.Name, Language: t.task.Language, Config: t.config.Name, N: t.n, Done: end.Done, Why: end.Why, Rounds: of.rounds, Seconds: of.secs, CostUSD: of.usd}
	if end.Done {
		result := filepath.Join(filepath.Dir(t.Dir), "result")
		if err := os.RemoveAll(result); err != nil {
			return r, err
		}
		if err := l.git(ctx, t.Dir, "worktree", "add", "-q", "--force", "--detach", result, end.Commit); err != nil {
			return r, err
		}
		script, err := filepath.Abs(filepath.Join(t.task.Dir, checkFile))
		if err != nil {
			return r, err
		}
		if r.Passed, r.Why, err = l.sh(ctx, t, script, result); err != nil {
			return r, err
		}
	}
	return r, file.Replace(t.resultFile(), 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(r) })
}

// cost is what the sessions of a trial have used.
type cost struct {
	usd    *float64
	secs   float64
	rounds int
}

// sessions adds up the sessions of all trials, by the queue's task.
func (l *Lab) sessions() (map[string]cost, error) {
	store, err := session.NewStore(filepath.Join(l.Home, "sessions"))
	if err != nil {
		return nil, err
	}
	logs, err := store.Survey()
	if err != nil {
		return nil, err
	}
	session.Count(logs)
	all := map[string]cost{}
	for _, one := range logs {
		c := all[one.Session.Task]
		c.secs += one.Duration.Seconds()
		if one.Tally != nil {
			c.rounds += one.Tally.Iterations
			if usd, known := priced(*one.Tally); known {
				c.usd = new(usd)
			}
		}
		all[one.Session.Task] = c
	}
	return all, nil
}

// priced is what a session has cost; known is false if no turn tells.
func priced(t progress.Tally) (usd float64, known bool) {
	return t.Actor.Usage.CostUSD + t.Critic.Usage.CostUSD, t.Actor.Usage.Priced+t.Critic.Usage.Priced > 0
}
