package proc

import (
	"errors"
	"slices"
	"strings"
	"syscall"
)

// A spawn is a command ready to start: everything that can be checked beforehand has
// been checked.
type spawn struct {
	Path string // of the program
	Invocation
	View
	io *streams
}

// resolve finds the program and checks its arguments and directory.
func resolve(i Invocation) (spawn, error) {
	if len(i.Argv) == 0 {
		return spawn{}, &StartError{Path: `""`, Err: ErrNotFound}
	}
	for _, list := range [][]string{i.Argv, i.Env, {i.Dir}} {
		for _, s := range list {
			if strings.ContainsRune(s, 0) {
				return spawn{}, &StartError{Path: printable(i.Argv[0]), Err: errors.New("an argument holds a NUL byte")}
			}
		}
	}
	if err := checkDir(i.Dir); err != nil {
		return spawn{}, err
	}
	path, err := LookPath(i.Argv[0], i.Dir, i.Env)
	if err != nil {
		return spawn{}, err
	}
	path, i.Argv = direct(path, i)
	i.Env = inDir(i.Env, i.Dir)
	return spawn{Path: path, Invocation: i}, nil
}

// inDir sets PWD to dir, as a shell would: an inherited PWD may name another directory.
func inDir(env []string, dir string) []string {
	others := slices.DeleteFunc(slices.Clone(env), func(v string) bool { return strings.HasPrefix(v, "PWD=") })
	return append(others, "PWD="+dir)
}

// startError explains the system's error for a program that exists.
func startError(path string, err error) error {
	switch {
	case errors.Is(err, syscall.E2BIG):
		err = ErrTooLong
	case errors.Is(err, syscall.ENOEXEC):
		err = ErrFormat
	case errors.Is(err, syscall.ENOENT):
		// The file and the directory existed a moment ago, so the interpreter that the
		// file names is missing.
		err = ErrInterpreter
	default:
		err = withoutPath(err)
	}
	return &StartError{Path: path, Err: err}
}
