// Package demo sets up what a demonstration works on.
package demo

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/agent/scripted"
	"codeloops/internal/run/worktree"
	"codeloops/internal/strategy"
)

// scenes has a directory for each strategy but the default one: the scenario, and the
// configuration that it is played with.
//
//go:embed scenes
var scenes embed.FS

// ThrowAway is the file that says of a stage that it goes with the demonstration.
const ThrowAway = ".throw-away"

// A Stage is where a demonstration is played.
type Stage struct{ dir string }

// On returns the stage in a directory, which is there and empty.
func On(dir string) Stage { return Stage{dir} }

// MayGo says that nobody wants to look at the stage afterwards.
func (s Stage) MayGo() error { return write(filepath.Join(s.dir, ThrowAway), nil) }

// Repository is the work tree.
func (s Stage) Repository() string { return filepath.Join(s.dir, "slug") }

// Script is the file of the scenario.
func (s Stage) Script() string { return filepath.Join(s.dir, "scenario.toml") }

// Environ returns an environment in which the scene's configuration counts, and the user's own,
// which is for real work, does not.
func (s Stage) Environ(environ []string) []string {
	const ours = "CODELOOPS_"
	kept := []string{ours + "SESSION", ours + "SESSION_DIR", ours + "LOG_FORMAT"}
	own := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, ours) && !slices.Contains(kept, name)
	})
	return append(own, "XDG_CONFIG_HOME="+filepath.Join(s.dir, "config"))
}

// Set writes the scene of a strategy, and a repository with one commit. The environment is
// what [Stage.Environ] returns.
func (s Stage) Set(ctx context.Context, environ []string, strategyName string) error {
	files, scenario := scripted.Demo()
	var config []byte
	if strategyName != strategy.NameActorCritic {
		var err error
		if scenario, err = scenes.ReadFile(path.Join("scenes", strategyName, "scenario.toml")); err != nil {
			return fmt.Errorf("there is no demonstration of %s", strategyName)
		}
		if config, err = scenes.ReadFile(path.Join("scenes", strategyName, "config.toml")); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := write(filepath.Join(s.Repository(), name), []byte(text)); err != nil {
			return err
		}
	}
	if err := write(s.Script(), scenario); err != nil {
		return err
	}
	if err := write(filepath.Join(s.dir, "config", "codeloops", "config.toml"), config); err != nil {
		return err
	}
	return commit(ctx, environ, s.Repository())
}

func write(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o600)
}

// commit makes a repository with one commit.
func commit(ctx context.Context, environ []string, dir string) error {
	git := worktree.Git{Environ: append(slices.Clip(environ),
		"GIT_AUTHOR_NAME=codeloops", "GIT_AUTHOR_EMAIL=codeloops@example.com",
		"GIT_COMMITTER_NAME=codeloops", "GIT_COMMITTER_EMAIL=codeloops@example.com")}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "-A"},
		{"-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "A program with a failing test"},
	} {
		if _, err := git.In(ctx, dir, args...); err != nil {
			return err
		}
	}
	return nil
}
