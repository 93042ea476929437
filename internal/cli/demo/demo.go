// Package demo sets up the repository of a demonstration.
package demo

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"codeloops/internal/git"
)

// scenes has a directory for each strategy, with its scenario and configuration.
//
//go:embed scenes
var scenes embed.FS

// repository is a small program with a task. Its test needs a POSIX shell.
//
//go:embed repository
var repository embed.FS

// ThrowAway is a file that marks a stage that may be deleted after the demonstration.
const ThrowAway = ".throw-away"

// unhurried is how much longer agents take where people watch them.
const unhurried = 18

// A Stage is the directory of a demonstration.
type Stage struct{ dir string }

// NewStage returns the stage in an existing, empty directory.
func NewStage(dir string) Stage { return Stage{dir} }

// MarkDisposable marks the stage as one that may be deleted.
func (s Stage) MarkDisposable() error { return write(filepath.Join(s.dir, ThrowAway), nil) }

// Repository is the work tree.
func (s Stage) Repository() string { return filepath.Join(s.dir, "slug") }

// Script is the scenario file.
func (s Stage) Script() string { return filepath.Join(s.dir, "scenario.toml") }

// Environ returns an environment with the scene's configuration instead of the user's.
func (s Stage) Environ(environ []string) []string {
	const ours = "CODELOOPS_"
	kept := []string{ours + "SESSION", ours + "SESSION_DIR", ours + "LOG_FORMAT"}
	own := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, ours) && !slices.Contains(kept, name)
	})
	return append(own, "XDG_CONFIG_HOME="+filepath.Join(s.dir, "config"))
}

// Set writes the scene of a strategy and a repository with one commit. environ is the result
// of [Stage.Environ]. watched: the agents take so long that people can follow.
func (s Stage) Set(ctx context.Context, environ []string, strategyName string, watched bool) error {
	scenario, err := scenes.ReadFile(path.Join("scenes", strategyName, "scenario.toml"))
	if err != nil {
		return fmt.Errorf("there is no demonstration of %s", strategyName)
	}
	config, err := scenes.ReadFile(path.Join("scenes", strategyName, "config.toml"))
	if err != nil {
		return err
	}
	if watched {
		scenario = slowed(scenario)
	}
	if err := write(s.Script(), scenario); err != nil {
		return err
	}
	if err := write(filepath.Join(s.dir, "config", "codeloops", "config.toml"), config); err != nil {
		return err
	}
	program, err := fs.Sub(repository, "repository")
	if err != nil {
		return err
	}
	if err := os.CopyFS(s.Repository(), program); err != nil {
		return err
	}
	return commit(ctx, environ, s.Repository())
}

// slowed makes the pauses of a scenario longer.
func slowed(scenario []byte) []byte {
	return regexp.MustCompile(`\bsleep = "\w+"`).ReplaceAllFunc(scenario, func(pause []byte) []byte {
		_, quoted, _ := strings.Cut(string(pause), " = ")
		d, err := time.ParseDuration(strings.Trim(quoted, `"`))
		if err != nil {
			return pause
		}
		return fmt.Appendf(nil, "sleep = %q", d*unhurried)
	})
}

func write(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o600)
}

// commit creates a repository with one commit.
func commit(ctx context.Context, environ []string, dir string) error {
	g := git.Git{Environ: append(slices.Clip(environ),
		"GIT_AUTHOR_NAME=codeloops", "GIT_AUTHOR_EMAIL=codeloops@example.com",
		"GIT_COMMITTER_NAME=codeloops", "GIT_COMMITTER_EMAIL=codeloops@example.com")}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "-A"},
		{"-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "A program with a failing test"},
	} {
		if _, err := g.In(ctx, dir, args...); err != nil {
			return err
		}
	}
	return nil
}
