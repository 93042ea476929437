package git

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A sandbox is a user with their own home, for both git and Open.
type sandbox struct {
	t    *testing.T
	home string
	vars map[string]string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &sandbox{t: t, home: home, vars: map[string]string{
		"HOME":                home,
		"PATH":                os.Getenv("PATH"),
		"GIT_CONFIG_SYSTEM":   filepath.Join(home, "system"),
		"GIT_AUTHOR_NAME":     "A",
		"GIT_AUTHOR_EMAIL":    "a@example.com",
		"GIT_AUTHOR_DATE":     "2020-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME":  "C",
		"GIT_COMMITTER_EMAIL": "c@example.com",
		"GIT_COMMITTER_DATE":  "2020-01-01T00:00:00Z",
	}}
}

// with returns the sandbox with additional variables.
func (s *sandbox) with(vars map[string]string) *sandbox {
	c := *s
	c.vars = maps.Clone(s.vars)
	maps.Copy(c.vars, vars)
	return &c
}

func (s *sandbox) environ() (environ []string) {
	for name, value := range s.vars {
		environ = append(environ, name+"="+value)
	}
	return environ
}

// try runs git in dir and returns its output.
func (s *sandbox) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = s.environ()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return string(out), errors.Join(err, errors.New(stderr.String()))
	}
	return string(out), nil
}

// git runs git in dir and returns its output without the last newline. Git must succeed.
func (s *sandbox) git(dir string, args ...string) string {
	s.t.Helper()
	out, err := s.try(dir, args...)
	if err != nil {
		s.t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSuffix(out, "\n")
}

// init creates a repository in a subdirectory of the home.
func (s *sandbox) init(name string, args ...string) string {
	s.t.Helper()
	dir := filepath.Join(s.home, name)
	s.git(s.home, append([]string{"init", "-q", "-b", "main", dir}, args...)...)
	return dir
}

// write writes a file below the home and returns its path.
func (s *sandbox) write(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.home, filepath.FromSlash(name))
	s.mkdir(filepath.Dir(path))
	s.must(os.WriteFile(path, []byte(text), 0o644))
	return path
}

func (s *sandbox) mkdir(path string) string {
	s.t.Helper()
	s.must(os.MkdirAll(path, 0o755))
	return path
}

func (s *sandbox) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *sandbox) commit(dir string) {
	s.t.Helper()
	s.git(dir, "commit", "-q", "--allow-empty", "-m", "m")
}
