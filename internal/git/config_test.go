package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func settingsOf(t *testing.T, s *sandbox, dir string) *Config {
	t.Helper()
	r, err := Open(dir, s.environ())
	if err != nil {
		t.Fatal(err)
	}
	settings, err := r.Config()
	if err != nil {
		t.Fatal(err)
	}
	return settings
}

// TestConfig: the settings are those of all files and of the environment, and nothing that we add.
func TestConfig(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	s.write(".gitconfig", "[a]\nx = user\nbare\nempty =\n[Sec \"Sub\"] Key = \"two\\nlines\"\n")
	s.git(dir, "config", "a.x", "own")
	user := s.with(map[string]string{
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.x", "GIT_CONFIG_VALUE_0": "counted", "GIT_CONFIG_PARAMETERS": "'a.x'='last'",
	})
	settings := settingsOf(t, user, dir)
	if got, want := settings.All("A.x"), []string{"user", "own", "counted", "last"}; !slices.Equal(got, want) {
		t.Errorf("a.x = %q, want %q", got, want)
	}
	for _, want := range []Entry{{"a.bare", "", true}, {"a.empty", "", false}, {"sec.Sub.key", "two\nlines", false}} {
		if !slices.Contains(settings.Entries(), want) {
			t.Errorf("no %+v in %+v", want, settings.Entries())
		}
	}
	if _, set := settings.String("safe.directory"); set {
		t.Error("safe.directory is ours")
	}
}

// TestConditionThroughSymlink: a conditional include compares with the path that the user came by.
func TestConditionThroughSymlink(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("real/r")
	if err := os.Symlink("real", filepath.Join(s.home, "work")); err != nil {
		t.Fatal(err)
	}
	s.write("inc", "[hit]\nx\n")
	s.write(".gitconfig", "[includeIf \"gitdir:~/work/\"]\npath = inc\n")
	for start, want := range map[string]bool{dir: false, filepath.Join(s.home, "work", "r"): true} {
		if got, _ := settingsOf(t, s, start).Bool("hit.x", false); got != want {
			t.Errorf("from %s: included = %v, want %v", start, got, want)
		}
	}
}

// TestConfigRefuses: a file that git cannot read is named.
func TestConfigRefuses(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	user := s.write(".gitconfig", "[a]\n1x = y\n")
	_, err := Open(dir, s.environ())
	if bad, is := errors.AsType[*SyntaxError](err); !is || bad.File != user {
		t.Errorf("the user's: %v", err)
	}
	s.write(".gitconfig", "")
	own := s.write("r/.git/config", "[a")
	_, err = Open(dir, s.environ())
	if bad, is := errors.AsType[*SyntaxError](err); !is || bad.File != own {
		t.Errorf("its own: %v", err)
	}
	if _, err := Parse([]byte("[a]\nx = \\q\n")); !errors.As(err, new(*SyntaxError)) {
		t.Errorf("a text: %v", err)
	}
}

// TestParse reads a text alone: no include, and nothing of the user's.
func TestParse(t *testing.T) {
	t.Parallel()
	settings, err := Parse([]byte("[include]\npath = /nowhere\n[a]\nx = 1\nx = 2\n"))
	want := []Entry{{"include.path", "/nowhere", false}, {"a.x", "1", false}, {"a.x", "2", false}}
	if err != nil || !slices.Equal(settings.Entries(), want) {
		t.Errorf("%+v, %v; want %+v", settings, err, want)
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	s.write(".gitconfig", "[v]\nyes = Yes\nno = off\nempty =\nzero = 0\ntwo = 2\nbad = maybe\nimplicit\n"+
		"[p]\nhome = ~/x\nroot = ~root/x\nplain = a/b\nempty =\n")
	settings := settingsOf(t, s, dir)
	for key, want := range map[string]bool{"yes": true, "no": false, "empty": false, "zero": false, "two": true, "implicit": true} {
		if got, err := settings.Bool("v."+key, !want); got != want || err != nil {
			t.Errorf("%s = %v, %v", key, got, err)
		}
	}
	if _, err := settings.Bool("v.bad", false); err == nil {
		t.Error("maybe is a boolean")
	}
	for key, want := range map[string]string{"home": filepath.Join(s.home, "x"), "root": "/root/x", "plain": filepath.Join(dir, "a/b"), "empty": ""} {
		if got, set, err := settings.Path("p." + key); got != want || !set || err != nil {
			t.Errorf("%s = %q, %v, %v; want %q", key, got, set, err, want)
		}
	}
}
