package proc

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
)

// A spawn is a command ready to start: everything that can be checked
// beforehand has been.
type spawn struct {
	path string // of the program
	Invocation
	View
	io *streams
}

// resolve finds the program and checks that all of it can be handed over.
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
	name := i.Argv[0]
	if isPath(name) && !filepath.IsAbs(name) {
		name = filepath.Join(i.Dir, name)
	}
	path, err := LookPath(name, i.Env)
	if err != nil {
		return spawn{}, err
	}
	i.Env = inDir(i.Env, i.Dir)
	return spawn{path: path, Invocation: i}, nil
}

// inDir returns an environment that names the directory in which a program begins, as
// a shell would: the name that it has from elsewhere may lead elsewhere by now.
func inDir(env []string, dir string) []string {
	in := make([]string, 0, len(env)+1)
	for _, variable := range env {
		if !strings.HasPrefix(variable, "PWD=") {
			in = append(in, variable)
		}
	}
	return append(in, "PWD="+dir)
}

// startError explains what the system said to a program that was there.
func startError(path string, err error) error {
	switch {
	case errors.Is(err, syscall.E2BIG):
		err = ErrTooLong
	case errors.Is(err, syscall.ENOEXEC):
		err = ErrFormat
	case errors.Is(err, syscall.ENOENT):
		// The file and the directory were there a moment ago, so what is
		// missing is the interpreter that the file names.
		err = ErrInterpreter
	default:
		err = withoutPath(err)
	}
	return &StartError{Path: path, Err: err}
}
