package config

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite golden files")

// A place is a test's own home and repository.
type place struct {
	t    *testing.T
	home string
	repo string
}

func newPlace(t *testing.T) place {
	t.Helper()
	root := resolved(t.TempDir()) // on macOS it is behind a symbolic link
	p := place{t, filepath.Join(root, "home"), filepath.Join(root, "repo")}
	for _, dir := range []string{p.home, p.repo} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// options returns the options of a run in the repository without settings. The XDG
// variables make the paths the same on every system.
func (p place) options(env ...string) Options {
	return Options{
		Env: append([]string{
			"XDG_CONFIG_HOME=" + filepath.Join(p.home, ".config"),
			"XDG_DATA_HOME=" + filepath.Join(p.home, ".local", "share"),
		}, env...),
		Home:           p.home,
		WorkingDir:     p.repo,
		RepositoryRoot: p.repo,
	}
}

func (p place) project(content string) string {
	return p.write(filepath.Join(p.repo, projectFile), content)
}

func (p place) global(content string) string {
	return p.write(filepath.Join(p.home, ".config", "codeloops", "config.toml"), content)
}

func (p place) write(file, content string) string {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return file
}

func mustLoad(t *testing.T, o Options) *Config {
	t.Helper()
	c, err := Load(o)
	if err != nil {
		t.Fatalf("Load: %v\n%s", err, hints(err))
	}
	return c
}

// golden compares got with a file, or rewrites the file if -update is given.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s differs; run with -update if it should\n--- got\n%s--- want\n%s", file, got, want)
	}
}
