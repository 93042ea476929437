package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// LookPath returns the absolute path of the program name, looked up in the PATH of env
// ("NAME=value" strings). Relative directories in PATH are ignored, so that the current
// directory never decides what runs. A name that is a path is only checked; a relative
// one is relative to dir. Errors are a [*StartError].
func LookPath(name, dir string, env []string) (string, error) {
	switch {
	case name == "":
		return "", &StartError{Path: `""`, Err: ErrNotFound}
	case filepath.IsAbs(name):
		return lookFile(name, env)
	case isPath(name):
		return lookFile(filepath.Join(dir, name), env)
	}
	found := error(&StartError{Path: name, Err: ErrNotFound})
	for _, dir := range filepath.SplitList(Getenv(env, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path, err := lookFile(filepath.Join(dir, name), env)
		if err == nil {
			return path, nil
		}
		// "Not executable" tells more than "not found", but a later directory may still
		// hold an executable one.
		if errors.Is(err, ErrNotExecutable) && errors.Is(found, ErrNotFound) {
			found = err
		}
	}
	return "", found
}

// lookFile returns the first spelling of path that can be executed.
func lookFile(path string, env []string) (string, error) {
	var first error
	for _, candidate := range spellings(path, env) {
		err := checkProgram(candidate)
		if err == nil {
			return candidate, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

func checkProgram(path string) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return &StartError{Path: path, Err: withoutPath(err)}
	case st.IsDir():
		return &StartError{Path: path, Err: ErrDirectory}
	case !executable(st):
		return &StartError{Path: path, Err: ErrNotExecutable}
	}
	return nil
}

func checkDir(dir string) error {
	st, err := os.Stat(dir)
	if err != nil {
		return &StartError{Path: dir, Err: withoutPath(err)}
	}
	if !st.IsDir() {
		return &StartError{Path: dir, Err: ErrNotDirectory}
	}
	return nil
}

// withoutPath removes the path from err, because a StartError already names it.
func withoutPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// LookupEnv returns the value of a variable in env, and whether it is there. The last entry
// of a name counts.
func LookupEnv(env []string, name string) (string, bool) {
	for _, entry := range slices.Backward(env) {
		if key, value, ok := strings.Cut(entry, "="); ok && sameEnvName(key, name) {
			return value, true
		}
	}
	return "", false
}

// Getenv returns the value of a variable in env, "" if it is not there.
func Getenv(env []string, name string) string {
	value, _ := LookupEnv(env, name)
	return value
}
