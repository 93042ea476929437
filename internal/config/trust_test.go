package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const guardedProject = `agent = "mine"
checks = ["make"]
[agents.mine]
command = ["mine"]
`

// Every guarded key of a project file needs trust, even alone; other keys do not.
func TestGuardedKeys(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		content string
		guarded string // the keys that the error names, "" if the file may be used
		line    int
	}{
		"nothing guarded":  {"agent = \"codex\"\nlog_format = \"json\"\nmax_iterations = 3\n[actor]\ntimeout = \"5m\"\n", "", 0},
		"no agent in it":   {"[agents]\n", "", 0},
		"checks":           {"\nchecks = [\"make\"]", "checks", 2},
		"empty checks":     {"checks = []", "checks", 1},
		"session_dir":      {`session_dir = "x"`, "session_dir", 1},
		"screen":           {"ci = \"none\"\nnotify = \"bell\"\ntitle = true", "ci, notify, title", 1},
		"env_deny":         {`env_deny = []`, "env_deny", 1},
		"profile":          {`profile = "default"`, "profile", 1},
		"threshold":        {"approval_threshold = 0.1", "approval_threshold", 1},
		"policy":           {"[policy]\nauto_revise = true\nmax_risks = 9", "policy.auto_revise, policy.max_risks", 2},
		"limits":           {"[policy]\ntamper = \"off\"\nmax_files = 9\ndeny_paths = []\ndeny_phrases = []", "policy.tamper, policy.max_files, policy.deny_paths, policy.deny_phrases", 2},
		"templates":        {"critique_template = \"{prompt}{diff}\"\nrefine_template = \"\"", "critique_template, refine_template", 1},
		"agent":            {"[agents.mine]\ncommand = [\"x\"]", "agents.mine", 2},
		"agent, inline":    {`agents = { mine = { command = ["x"] } }`, "agents.mine", 1},
		"agent, dotted":    {"\nagents.mine.command = [\"x\"]", "agents.mine", 2},
		"catalogue's name": {"[agents.claude]\ncommand = [\"x\"]", "agents.claude", 2},
		"several":          {guardedProject, "checks, agents.mine", 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			file := p.project(test.content)
			o := p.options()
			_, err := Load(o)
			if test.guarded == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			got, _ := errors.AsType[*Error](err)
			if !errors.Is(err, ErrUntrusted) || got.File != file || got.Line != test.line ||
				!strings.HasPrefix(got.Problem, test.guarded+" count") {
				t.Fatalf("got %v", err)
			}
			for _, way := range []string{"codeloops config trust", "--trust-project"} {
				if !strings.Contains(got.Hint, way) {
					t.Errorf("the hint %q lacks %q", got.Hint, way)
				}
			}
			o.TrustProject = true
			mustLoad(t, o)
			if _, err := os.Stat(filepath.Join(p.home, ".local")); err == nil {
				t.Error("trust for one run left something behind")
			}
		})
	}
}

func TestGlobalFileNeedsNoTrust(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.global(guardedProject)
	if c := mustLoad(t, p.options()); len(c.Checks) != 1 || c.Actor.Agent != "mine" {
		t.Errorf("got %+v", c)
	}
}

func TestTrust(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.options()
	isTrusted := func(file string) bool {
		t.Helper()
		trusted, err := Trusted(o, file)
		if err != nil {
			t.Fatal(err)
		}
		return trusted
	}
	file := p.project(guardedProject)
	if isTrusted("") {
		t.Fatal("trusted from the start")
	}
	trusted, keys, err := Trust(o, "")
	if want := []string{"checks", "agents.mine"}; err != nil || trusted != file || !reflect.DeepEqual(keys, want) {
		t.Fatalf("trusted %s for %q, %v; want %q", trusted, keys, err, want)
	}
	if mustLoad(t, o); !isTrusted("") || !isTrusted(file) {
		t.Error("not trusted after all")
	}

	p.project(guardedProject + "# changed\n")
	if _, err := Load(o); !errors.Is(err, ErrUntrusted) || isTrusted("") {
		t.Errorf("a changed file is still trusted: %v", err)
	}
	p.project(guardedProject)
	mustLoad(t, o) // the content that was trusted

	// The same content at another path is another file.
	other := p.write(filepath.Join(p.repo, "other", projectFile), guardedProject)
	if isTrusted(other) {
		t.Error("a copy is trusted")
	}
	if _, _, err := Trust(o, other); err != nil {
		t.Fatal(err)
	}
	if !isTrusted(other) || !isTrusted("") {
		t.Error("trust in one file touched trust in the other")
	}
}

func TestTrustSeesThroughLinks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	target := p.write(filepath.Join(p.home, "shared.toml"), guardedProject)
	link := filepath.Join(p.repo, projectFile)
	symlink(t, target, link)
	o := p.options()
	if _, _, err := Trust(o, link); err != nil {
		t.Fatal(err)
	}
	mustLoad(t, o)
	p.write(target, guardedProject+"env_deny = []\n")
	if _, err := Load(o); err == nil {
		t.Error("the link's new target is trusted")
	}
}

func TestTrustStoreIsPrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes are those of Unix")
	}
	p := newPlace(t)
	p.project(guardedProject)
	if _, _, err := Trust(p.options(), ""); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(p.home, ".local", "share", "codeloops")
	for name, want := range map[string]fs.FileMode{dir: fs.ModeDir | 0o700, filepath.Join(dir, "trust.json"): 0o600} {
		status, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := status.Mode(); got != want {
			t.Errorf("%s has mode %v, want %v", name, got, want)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[1].Name() != "trust.json.lock" {
		t.Errorf("%s holds %v, %v", dir, entries, err)
	}
}

func TestTrustRefuses(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.options()
	if _, _, err := Trust(o, ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	if _, _, err := Trust(o, filepath.Join(p.repo, "none.toml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without that file: %v", err)
	}
	p.project("checks = 5")
	if _, _, err := Trust(o, ""); err == nil || !strings.Contains(err.Error(), "must be a list") {
		t.Errorf("a file with problems: %v", err)
	}
	p.project(guardedProject)
	if _, _, err := Trust(Options{WorkingDir: p.repo}, ""); !errors.Is(err, ErrNoHome) {
		t.Errorf("without a home: %v", err)
	}
	if _, err := Load(Options{WorkingDir: p.repo}); !errors.Is(err, ErrUntrusted) {
		t.Errorf("without a home: %v", err)
	}
}

func TestBrokenTrustStore(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "{", `{"files": 3}`, "null\n null"} {
		p := newPlace(t)
		p.project(guardedProject)
		store := p.write(filepath.Join(p.home, ".local", "share", "codeloops", "trust.json"), content)
		for name, use := range map[string]func() error{
			"Load":    func() error { _, err := Load(p.options()); return err },
			"Trust":   func() error { _, _, err := Trust(p.options(), ""); return err },
			"Trusted": func() error { _, err := Trusted(p.options(), ""); return err },
		} {
			err := use()
			if problem, ok := errors.AsType[*Error](err); !ok || problem.File != store || problem.Hint == "" {
				t.Errorf("%s with %q: %v", name, content, err)
			}
		}
		// The store is not read if there is nothing to trust.
		p.project(`agent = "codex"`)
		mustLoad(t, p.options())
	}
	for _, content := range []string{"null", "{}", `{"files": {}, "later": true}`} {
		p := newPlace(t)
		p.project(guardedProject)
		p.write(filepath.Join(p.home, ".local", "share", "codeloops", "trust.json"), content)
		if _, _, err := Trust(p.options(), ""); err != nil {
			t.Errorf("%q: %v", content, err)
		}
	}
}

// Trusted reports whether the user trusts a project file as it is now. "" is the file
// that applies in the working directory.
func Trusted(o Options, file string) (bool, error) {
	paths, err := Locate(o)
	if err != nil {
		return false, err
	}
	if file != "" {
		paths.Project = file
	}
	content, err := readFile(paths.Project)
	if err != nil {
		return false, err
	}
	known, err := readTrusted(paths.Trust)
	return known.holds(paths.Project, digest(content)), err
}

// TestTrustAtOnce: of files that are trusted at the same time, none is lost.
func TestTrustAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "data", "trusted.json")
	const files = 20
	var all sync.WaitGroup
	for i := range files {
		all.Go(func() {
			if err := addTrusted(store, filepath.Join(dir, strconv.Itoa(i)), "digest"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i := range files {
		if known, err := readTrusted(store); !known.holds(filepath.Join(dir, strconv.Itoa(i)), "digest") || err != nil {
			t.Errorf("file %d is not trusted: %v", i, err)
		}
	}
}
