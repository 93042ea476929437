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
)

// A NotFoundError is an agent whose program is missing.
type NotFoundError struct {
	Agent   string
	Binary  string // as it was looked up
	Install string // what to do about it; "" when the agent does not say
}

// Error implements error.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("the agent %s is not installed: no program %q found", e.Agent, e.Binary)
}

// Hint returns how to install it.
func (e *NotFoundError) Hint() string {
	return cmp.Or(e.Install, "install it, or choose another agent")
}

// An UnsetError is an agent without a variable that it needs.
type UnsetError struct {
	Agent     string
	Variables []string // any one of them is enough
}

// Error implements error.
func (e *UnsetError) Error() string {
	return fmt.Sprintf("the agent %s needs the variable %s", e.Agent, strings.Join(e.Variables, " or "))
}

// Hint returns what to do about it.
func (e *UnsetError) Hint() string {
	return "set it where you start codeloops: export " + e.Variables[0] + "=…"
}

// Equipped returns an [*UnsetError] when the environment lacks a variable that the agent
// needs.
func (s Spec) Equipped(env []string) error {
	for _, names := range s.Requires {
		if !slices.ContainsFunc(names, func(name string) bool { return proc.LookEnv(env, name) != "" }) {
			return &UnsetError{Agent: s.Name, Variables: names}
		}
	}
	return nil
}

// Resolve returns the absolute path of the program to start. dir is the working
// directory, absolute; env holds the PATH. The error is a [*NotFoundError] when there is
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
	return "", &NotFoundError{Agent: s.Name, Binary: s.binaries(access)[0], Install: s.Setup()}
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
