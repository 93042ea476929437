//go:build unix

package proc_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"codeloops/internal/proc"
)

func TestWhatCannotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		// A process that is forked meanwhile would hold the file open for writing until
		// its exec, so that it could not be run.
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := file("plain", "x", 0o600)
	orphan := file("orphan", "#!/no/such/interpreter\n", 0o700)
	garbage := file("garbage", "x", 0o700)
	long := make([]string, 4)
	for i := range long {
		long[i] = strings.Repeat("x", 2<<20)
	}
	for _, tt := range []struct {
		name string
		argv []string
		dir  string
		path string
		err  error
	}{
		{"nothing", nil, dir, `""`, proc.ErrNotFound},
		{"empty name", []string{""}, dir, `""`, proc.ErrNotFound},
		{"unknown name", []string{"no-such-program"}, dir, "no-such-program", proc.ErrNotFound},
		{"missing file", []string{"./missing"}, dir, filepath.Join(dir, "missing"), os.ErrNotExist},
		{"directory", []string{dir}, dir, dir, proc.ErrDirectory},
		{"not executable", []string{plain}, dir, plain, proc.ErrNotExecutable},
		{"no interpreter", []string{orphan}, dir, orphan, proc.ErrInterpreter},
		{"no program", []string{garbage}, dir, garbage, proc.ErrFormat},
		{"too long", append([]string{"/bin/sh"}, long...), dir, "/bin/sh", proc.ErrTooLong},
		{"missing directory", []string{"/bin/sh"}, filepath.Join(dir, "no"), filepath.Join(dir, "no"), os.ErrNotExist},
		{"file as directory", []string{"/bin/sh"}, plain, plain, proc.ErrNotDirectory},
		{"NUL", []string{"/bin/sh", "a\x00b"}, dir, "/bin/sh", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, tt.argv)
			cmd.Dir = tt.dir
			res, err := newRunner(t).Run(t.Context(), cmd)
			assertStartError(t, err, tt.path, tt.err)
			assertResult(t, res, proc.Result{})
			_, err = proc.Output(t.Context(), proc.Call{Invocation: proc.Invocation{Argv: tt.argv, Dir: tt.dir, Env: cmd.Env}})
			assertStartError(t, err, tt.path, tt.err)
		})
	}
}

func assertStartError(t *testing.T, err error, path string, cause error) {
	t.Helper()
	se, ok := errors.AsType[*proc.StartError](err)
	if !ok || se.Path != path || (cause != nil && !errors.Is(err, cause)) {
		t.Errorf("got %v, want %s: %v", err, path, cause)
	}
}

// TestOutputFileThatCannotBe: an output file that cannot be created is an error that
// names it.
func TestOutputFileThatCannotBe(t *testing.T) {
	t.Parallel()
	cmd := script(t, `:`)
	cmd.Stderr = filepath.Join(cmd.Dir, "no", "stderr")
	_, err := newRunner(t).Run(t.Context(), cmd)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "stderr") {
		t.Errorf("got %v", err)
	}
}
