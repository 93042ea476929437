// Package problem turns an error into a message and a hint for a person.
package problem

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"codeloops/internal/config"
	"codeloops/internal/diff"
	"codeloops/internal/proc"
	"codeloops/internal/session"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Problem is one error as a person reads it.
type Problem struct {
	Message string
	Hint    string
}

// Of returns the problems in an error: one for each mistake in a configuration, otherwise a
// single one.
func Of(err error) []Problem {
	if many, ok := errors.AsType[config.Errors](err); ok {
		all := make([]Problem, 0, len(many))
		for _, e := range many {
			all = append(all, Of(e)...)
		}
		return all
	}
	c := Problem{Message: strings.TrimSpace(err.Error())}
	if named, ok := errors.AsType[*fs.PathError](err); ok && named.Path != "" {
		c.Message = strings.ReplaceAll(c.Message, named.Path, wording.OSPath(named.Path))
	}
	if one, ok := errors.AsType[*config.Error](err); ok {
		c.Hint = cmp.Or(one.Hint, hintFor(one))
	} else if text, ok := hint.Of(err); ok {
		c.Hint = text
	} else {
		c.Hint = hintFor(err)
	}
	return []Problem{c}
}

// hintFor returns a hint for an error that has none itself.
func hintFor(err error) string {
	for _, known := range []struct {
		err  error
		hint string
	}{
		{diff.ErrNotRepository, "run it inside a git repository, or make one: git init"},
		{diff.ErrBare, "a bare repository has no files to work on: run it in a clone or a work tree of it"},
		{session.ErrRunning, "wait for it, or stop it with Ctrl+C in its terminal"},
		{proc.ErrTooLong, "pass the prompt through standard input: prompt = \"stdin\" in the agent's table"},
		{proc.ErrDirectory, "name the program in it"},
		{proc.ErrNotFound, "install it, or add its directory to the PATH"},
		{proc.ErrNotExecutable, "make it executable (chmod +x), or name the program that runs it"},
		{proc.ErrInterpreter, "the program named in its first line (#!…) does not exist"},
		{proc.ErrFormat, "a script must begin with a line such as #!/bin/sh"},
		{fs.ErrPermission, "check its permissions"},
		{syscall.EISDIR, "name a file, not a directory"},
		{syscall.ENOTDIR, "a part of its path is a file, and no directory"},
		{syscall.ENAMETOOLONG, "use a shorter name"},
		{syscall.EROFS, "codeloops has to write there: is it mounted read-only?"},
		{syscall.EMFILE, "raise the limit of open files: ulimit -n 1024"},
	} {
		if errors.Is(err, known.err) {
			return known.hint
		}
	}
	if session.DiskFull(err) {
		return "free some space there"
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrNotExist) {
		return "is the name right? It was looked for in " + filepath.Dir(path.Path)
	}
	return ""
}
