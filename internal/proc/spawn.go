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
	dir  string // absolute
	argv []string
	env  []string
	io   *streams
}

// resolve finds the program and checks that all of it can be handed over.
func resolve(argv []string, dir string, env []string) (spawn, error) {
	if len(argv) == 0 {
		return spawn{}, &StartError{Path: `""`, Err: ErrNotFound}
	}
	for _, list := range [][]string{argv, env, {dir}} {
		for _, s := range list {
			if strings.ContainsRune(s, 0) {
				return spawn{}, &StartError{Path: printable(argv[0]), Err: errors.New("an argument holds a NUL byte")}
			}
		}
	}
	if err := checkDir(dir); err != nil {
		return spawn{}, err
	}
	name := argv[0]
	if isPath(name) && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	path, err := LookPath(name, env)
	if err != nil {
		return spawn{}, err
	}
	return spawn{path: path, dir: dir, argv: argv, env: inDir(env, dir)}, nil
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
