// Package trial plays small tasks under several configurations, and compares how often each solves them.
//
// A task is a directory; see docs/eval.md. What its check looks at is seen by nobody who works on it.
package trial

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Task is what is to be done, and how to tell that it is.
type Task struct {
	Name     string
	Dir      string
	Prompt   string
	Language string   // "" is not said
	Needs    []string // programs that its check and setup run
}

// The files of a task.
const (
	promptFile = "prompt.md"
	taskFile   = "task.toml"
	filesDir   = "files"
	setupFile  = "setup.sh"
	checkFile  = "check.sh"
	scriptFile = "script.toml"
)

// Tasks reads the tasks in a directory, by name.
func Tasks(dir string) (all []Task, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read the tasks: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		t, err := read(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the task %s: %w", e.Name(), err)
		}
		all = append(all, t)
	}
	if len(all) == 0 {
		return nil, hint.Errorf("a task is a directory with "+promptFile+" and "+checkFile+" in it; see docs/eval.md", "%s holds no tasks", dir)
	}
	return all, nil
}

func read(dir string) (t Task, err error) {
	t = Task{Name: filepath.Base(dir), Dir: dir}
	text, err := os.ReadFile(filepath.Join(dir, promptFile))
	if err != nil {
		return t, err
	}
	if t.Prompt = strings.TrimSpace(string(text)); t.Prompt == "" {
		return t, errors.New(promptFile + " is empty")
	}
	if _, err := os.Stat(filepath.Join(dir, checkFile)); err != nil {
		return t, err
	}
	var said struct {
		Language string   `toml:"language"`
		Needs    []string `toml:"needs"`
	}
	meta, err := toml.DecodeFile(filepath.Join(dir, taskFile), &said)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if unknown := meta.Undecoded(); err == nil && len(unknown) > 0 {
		err = hint.Errorf("it has language and needs", "%s: there is no key %q", taskFile, unknown[0])
	}
	t.Language, t.Needs = said.Language, said.Needs
	return t, err
}

// A Config is a configuration to try: a file of the form of a project's codeloops.toml.
type Config struct {
	Name string // of the file, without its ending
	Text string
}

// ReadConfig reads a configuration.
func ReadConfig(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("read a configuration to try: %w", err)
	}
	return Config{Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), Text: string(text)}, nil
}

// A Trial is one try at a task under a configuration.
type Trial struct {
	Name   string
	Dir    string // its repository, absolute
	Prompt string
	Flags  []loop.Flag

	task   Task
	config Config
	n      int
}

// An End is how the loop took a trial to have ended.
type End struct {
	Done   bool
	Commit string // with the result
	Why    string // it is not done
	Task   string // ID in the queue
}

// plan lists the trials of some tasks, in the order in which they are played.
func plan(home string, tasks []Task, configs []Config, times int) (all []Trial) {
	for n := range times {
		for _, t := range tasks {
			for _, c := range configs {
				name := fmt.Sprintf("%s.%s.%d", t.Name, c.Name, n+1)
				one := Trial{Name: name, Dir: filepath.Join(home, "trials", name, "repo"), Prompt: t.Prompt, task: t, config: c, n: n + 1}
				one.Flags = []loop.Flag{{Name: "session-dir", Values: []string{filepath.Join(home, "sessions")}}}
				if script := filepath.Join(t.Dir, scriptFile); scripted().MatchString(c.Text) && exists(script) {
					one.Flags = append(one.Flags, loop.Flag{Name: "script", Values: []string{script}})
				}
				all = append(all, one)
			}
		}
	}
	return all
}

// scripted finds the built-in agent in a configuration.
var scripted = wording.Pattern(`(?m)^\s*agent\s*=\s*["']scripted["']`)

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// distinct rejects configurations of the same name, whose results could not be told apart.
func distinct(configs []Config) error {
	var names []string
	for _, c := range configs {
		if slices.Contains(names, c.Name) {
			return hint.Errorf("rename one of the files", "two configurations are called %s", c.Name)
		}
		names = append(names, c.Name)
	}
	return nil
}
