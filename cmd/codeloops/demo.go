package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/scripted"
	"codeloops/internal/session"
)

func newDemoCmd(a *app) *cobra.Command {
	var keep bool
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole loop on a throw-away repository: no key, no network",
		Long: `Show the whole loop on a throw-away repository, with the built-in scripted agent
in both roles: a small program has a failing test, the first change is wrong,
the critic runs the test and says why, the second change is right. Processes,
git and the session log are real; no key and no network are needed.

` + exitHelp(),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), a, o, keep) },
	}
	f := cmd.Flags()
	f.BoolVar(&keep, "keep", false, "keep the repository, and say where it is")
	f.BoolVar(&o.jsonOutput, "json-output", false, "print one JSON object on standard output at the end")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "also show what the agents print while they work")
	return cmd
}

// demoDir is how the name of a throw-away directory begins.
const demoDir = "codeloops-demo-"

// ofDemo reports whether a session is a demonstration: it says nothing of what has
// been worked on.
func ofDemo(one session.Summary) bool {
	s := one.Session
	return s.Actor.Agent == scriptedName && strings.HasPrefix(filepath.Base(filepath.Dir(s.WorkingDir)), demoDir)
}

func runDemo(ctx context.Context, a *app, o *runOptions, keep bool) (err error) {
	// GIT_DIR and its like would lead away from the throw-away repository.
	a.env = slices.DeleteFunc(slices.Clone(a.env), func(entry string) bool {
		return strings.HasPrefix(entry, "GIT_") && !strings.HasPrefix(entry, "GIT_CONFIG_")
	})
	dir, err := os.MkdirTemp("", demoDir)
	if err != nil {
		return fmt.Errorf("make a directory for the demonstration: %w", err)
	}
	if keep {
		defer func() { fmt.Fprintf(a.Err, "the repository is in %s\n", dir) }() //nolint:errcheck // a courtesy
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	repository, script := filepath.Join(dir, "slug"), filepath.Join(dir, "scenario.toml")
	if err := a.demoRepository(ctx, repository, script); err != nil {
		return fmt.Errorf("set up the demonstration: %w", err)
	}
	o.workingDir, o.script = repository, script
	// What the user has configured is for real work.
	o.set = map[string]any{
		"agent": scriptedName, "model": "", "fallback": []string{}, "max_iterations": 5, "checks": []string{},
		"actor.agent": scriptedName, "critic.agent": scriptedName, "actor.model": "", "critic.model": "",
	}
	return runRun(ctx, a, o)
}

// demoRepository writes the scenario, and a repository with one commit.
func (a *app) demoRepository(ctx context.Context, dir, script string) error {
	files, scenario := scripted.Demo()
	if err := os.WriteFile(script, scenario, 0o600); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	git := gitProgram{env: append(slices.Clip(a.env),
		"GIT_AUTHOR_NAME=codeloops", "GIT_AUTHOR_EMAIL=codeloops@example.com",
		"GIT_COMMITTER_NAME=codeloops", "GIT_COMMITTER_EMAIL=codeloops@example.com")}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "-A"},
		{"-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "A program with a failing test"},
	} {
		if _, err := git.in(ctx, dir, args...); err != nil {
			return err
		}
	}
	return nil
}
