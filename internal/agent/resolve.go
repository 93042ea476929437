package agent

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

// What keeps an agent from playing.
var (
	ErrUnknown      = errors.New("no agent is named")
	ErrNotInstalled = errors.New("is not installed")
	ErrUnset        = errors.New("needs the variable")
)

// Equipped returns [ErrUnset] when the environment lacks a variable that the agent
// needs.
func (s Spec) Equipped(env []string) error {
	for _, names := range s.Requires {
		if !slices.ContainsFunc(names, func(name string) bool { return proc.Getenv(env, name) != "" }) {
			return hint.Errorf("set it where you start codeloops: export "+names[0]+"=…", "the agent %s %w %s", s.Name, ErrUnset, strings.Join(names, " or "))
		}
	}
	return nil
}

// Resolve returns the absolute path of the program to start. dir is the working
// directory, absolute; env holds the PATH. The error is [ErrNotInstalled] when there is
// no such program, and wraps a [*proc.StartError] when it cannot be run.
func (s Spec) Resolve(access loop.Access, dir string, env []string) (string, error) {
	var unusable error
	for _, name := range s.binaries(access) {
		path, err := proc.LookPath(name, dir, env)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, proc.ErrDirectory) || errors.Is(err, proc.ErrNotExecutable) {
			unusable = fmt.Errorf("the agent %s cannot be run: %w", s.Name, err)
		}
	}
	if unusable != nil {
		return "", unusable
	}
	return "", hint.Errorf(cmp.Or(s.Setup(), "install it, or choose another agent"),
		"the agent %s %w: no program %q found", s.Name, ErrNotInstalled, s.binaries(access)[0])
}

// Setup says what to do when the program is missing.
func (s Spec) Setup() string {
	if s.Install == "" || s.SignIn == "" {
		return s.Install
	}
	return s.Install + ", then " + s.SignIn
}

// Outdated reports whether a program comes from the CLI's former package.
func (s Spec) Outdated(path string) bool {
	if s.Former == "" {
		return false
	}
	whole, err := filepath.EvalSymlinks(path)
	return err == nil && strings.Contains(filepath.ToSlash(whole), "/node_modules/"+s.Former+"/")
}
