package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestNearestProjectFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	deep := filepath.Join(p.repo, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	above := p.write(filepath.Join(filepath.Dir(p.repo), projectFile), "")
	find := func(dir, root string) string {
		t.Helper()
		o := p.options()
		o.WorkingDir, o.RepositoryRoot = dir, root
		paths, err := Locate(o)
		if err != nil {
			t.Fatal(err)
		}
		return paths.Project
	}
	if got := find(deep, p.repo); got != "" {
		t.Errorf("found %q above the root", got)
	}
	atRoot := p.project("")
	if got := find(deep, p.repo); got != atRoot {
		t.Errorf("found %q, want %q", got, atRoot)
	}
	nearer := p.write(filepath.Join(p.repo, "a", projectFile), "")
	if got := find(deep, p.repo); got != nearer {
		t.Errorf("found %q, want %q", got, nearer)
	}
	if got := find(deep, ""); got != "" {
		t.Errorf("outside of a repository found %q", got)
	}
	if got := find(p.repo, ""); got != atRoot {
		t.Errorf("outside of a repository found %q, want %q", got, atRoot)
	}
	if got := find(p.repo, deep); got != atRoot {
		t.Errorf("with a root below found %q, want %q", got, atRoot)
	}
	if got := find("", ""); got != "" {
		t.Errorf("without a working directory found %q", got)
	}
	if got := find(filepath.Dir(p.repo), p.repo); got != above {
		t.Errorf("above the root found %q, want %q", got, above)
	}
}

func TestProjectThroughLink(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	want := p.project("")
	if err := os.Mkdir(filepath.Join(p.repo, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(p.home, "link")
	symlink(t, filepath.Join(p.repo, "sub"), link)
	o := p.options()
	o.WorkingDir = link
	if got, err := Locate(o); err != nil || got.Project != want {
		t.Errorf("found %q, %v; want %q", got.Project, err, want)
	}
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("no symbolic links here: %v", err)
		}
		t.Fatal(err)
	}
}

func TestDirectories(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the table has paths of Unix")
	}
	tests := map[string]struct {
		goos, home     string
		env            []string
		global, logDir string
	}{
		"linux":              {"linux", "/h", nil, "/h/.config/codeloops/config.toml", "/h/.local/share/codeloops/sessions"},
		"macOS":              {"darwin", "/h", nil, "/h/Library/Application Support/codeloops/config.toml", "/h/.local/share/codeloops/sessions"},
		"Windows":            {"windows", "/h", []string{"AppData=/r", "LocalAppData=/l"}, "/r/codeloops/config.toml", "/l/codeloops/sessions"},
		"Windows, bare":      {"windows", "/h", nil, "/h/.config/codeloops/config.toml", "/h/.local/share/codeloops/sessions"},
		"XDG":                {"linux", "/h", []string{"XDG_CONFIG_HOME=/c", "XDG_DATA_HOME=/d"}, "/c/codeloops/config.toml", "/d/codeloops/sessions"},
		"XDG on macOS":       {"darwin", "/h", []string{"XDG_CONFIG_HOME=/c", "XDG_DATA_HOME=/d"}, "/c/codeloops/config.toml", "/d/codeloops/sessions"},
		"XDG without a home": {"linux", "", []string{"XDG_CONFIG_HOME=/c", "XDG_DATA_HOME=/d"}, "/c/codeloops/config.toml", "/d/codeloops/sessions"},
		"relative XDG":       {"linux", "/h", []string{"XDG_CONFIG_HOME=c", "XDG_DATA_HOME=d"}, "/h/.config/codeloops/config.toml", "/h/.local/share/codeloops/sessions"},
		"nothing":            {"linux", "", nil, "", ""},
		"relative home":      {"linux", "h", nil, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := locate(Options{Home: test.home, Env: test.env}, test.goos)
			if err != nil {
				t.Fatal(err)
			}
			want := Paths{Global: test.global, Sessions: test.logDir}
			if test.logDir != "" {
				want.Data = filepath.Dir(test.logDir)
				want.Trust = filepath.Join(want.Data, "trust.json")
			}
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestSessions(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	sub := filepath.Join(p.repo, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	p.project("")
	tests := map[string]struct {
		global string
		env    []string
		flag   string
		want   string
	}{
		"default":         {want: filepath.Join(p.home, ".local", "share", "codeloops", "sessions")},
		"global file":     {global: `session_dir = "logs"`, want: filepath.Join(p.home, ".config", "codeloops", "logs")},
		"up from a file":  {global: `session_dir = "../logs"`, want: filepath.Join(p.home, ".config", "logs")},
		"home":            {global: `session_dir = "~/logs"`, want: filepath.Join(p.home, "logs")},
		"home itself":     {global: `session_dir = "~"`, want: p.home},
		"another's home":  {global: `session_dir = "~x"`, want: filepath.Join(p.home, ".config", "codeloops", "~x")},
		"variable":        {env: []string{"CODELOOPS_SESSION_DIR=logs"}, want: filepath.Join(sub, "logs")},
		"flag":            {flag: "logs", want: filepath.Join(sub, "logs")},
		"absolute":        {flag: filepath.Join(p.home, "logs"), want: filepath.Join(p.home, "logs")},
		"empty in a file": {global: `session_dir = ""`, want: filepath.Join(p.home, ".local", "share", "codeloops", "sessions")},
	}
	for name, test := range tests { //nolint:paralleltest // the cases share one global file
		t.Run(name, func(t *testing.T) {
			p.global(test.global)
			o := p.options(test.env...)
			o.WorkingDir = sub
			if test.flag != "" {
				o.Flags = map[string][]string{"session_dir": {test.flag}}
			}
			if got, err := mustLoad(t, o).Sessions(); err != nil || got != test.want {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

func TestNoHome(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, Options{})
	_, err := c.Sessions()
	if !errors.Is(err, ErrNoHome) || !strings.Contains(hints(err), "CODELOOPS_SESSION_DIR") {
		t.Errorf("got %v", err)
	}
	_, err = Load(Options{Env: []string{"CODELOOPS_SESSION_DIR=~/logs"}})
	if err == nil || !strings.Contains(err.Error(), "home directory is unknown") {
		t.Errorf("got %v", err)
	}
	// A home that is not a directory has no configuration, as in many containers.
	mustLoad(t, Options{Home: os.DevNull, WorkingDir: t.TempDir()})
}
