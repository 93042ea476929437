package repo

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A step does something in a sandbox.
type step func(*sandbox)

func steps(all ...step) step {
	return func(s *sandbox) {
		for _, do := range all {
			do(s)
		}
	}
}

func initial(name string, args ...string) step { return func(s *sandbox) { s.init(name, args...) } }

func write(name, text string) step { return func(s *sandbox) { s.write(name, text) } }

func git(dir string, args ...string) step {
	return func(s *sandbox) { s.git(filepath.Join(s.home, dir), args...) }
}

func move(from, to string) step {
	return func(s *sandbox) { s.must(os.Rename(filepath.Join(s.home, from), filepath.Join(s.home, to))) }
}

// lead makes a symbolic link.
func lead(name, to string) step {
	return func(s *sandbox) {
		_ = os.Remove(filepath.Join(s.home, name))
		s.must(os.Symlink(to, filepath.Join(s.home, name)))
	}
}

// rewrite changes a file without changing its size or its time.
func rewrite(name, from, to string) step {
	return func(s *sandbox) {
		path := filepath.Join(s.home, name)
		info, err := os.Stat(path)
		s.must(err)
		data, err := os.ReadFile(path)
		s.must(err)
		s.write(name, strings.Replace(string(data), from, to, 1))
		s.must(os.Chtimes(path, time.Time{}, info.ModTime()))
	}
}

// set sets a variable; HOME in its value is the sandbox's.
func set(name, value string) step {
	return func(s *sandbox) { s.vars[name] = strings.ReplaceAll(value, "HOME", s.home) }
}

// found describes what Open finds.
func (s *sandbox) found(dir string) string {
	r, err := Open(dir, s.env)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %s %s %+v", r.GitDir, r.CommonDir, r.WorkTree, r.Config.Entries())
}

func notOnWindows(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no time there proves anything")
	}
}

// later is a time as seen from which all that the tests write is old.
func later() time.Time { return time.Now().Add(time.Hour) }

// seen checks that a change after which Open finds something else in a directory
// is noticed.
func (s *sandbox) seen(dir string, change step) {
	s.t.Helper()
	dir = filepath.Join(s.home, dir)
	was := s.found(dir)
	r, err := Open(dir, s.env)
	s.must(err)
	if !r.Current(later()) {
		s.t.Fatalf("nothing has changed: %s", was)
	}
	time.Sleep(30 * time.Millisecond) // the tick of the file system's clock
	change(s)
	if now := s.found(dir); now == was {
		s.t.Fatalf("that changes nothing: %s", was)
	}
	if r.Current(later()) {
		s.t.Error("Current after a change")
	}
}

func TestCurrentSettings(t *testing.T) {
	t.Parallel()
	notOnWindows(t)
	const text, another = "[a]\nb = 1\n", "[a]\nb = 2\n"
	include := func(section string) step {
		return steps(write("inc", text), write(".gitconfig", "["+section+"]\npath = inc\n"))
	}
	elsewhere := steps(move("r/.git/config", "elsewhere"), lead("r/.git/config", "../../elsewhere"))
	remote := steps(include(`includeIf "hasconfig:remote.*.url:here"`), git("r", "config", "remote.o.url", "here"))
	variables := steps(set("GIT_CONFIG_COUNT", "1"), set("GIT_CONFIG_KEY_0", "a.b"), set("GIT_CONFIG_VALUE_0", "1"))
	nothing := steps()
	for name, c := range map[string]struct{ before, change step }{
		"system":                {nothing, write("system", text)},
		"user":                  {nothing, write(".gitconfig", text)},
		"user by XDG":           {nothing, write(".config/git/config", text)},
		"user gone":             {write(".gitconfig", text), move(".gitconfig", "old")},
		"another home":          {write("h/.gitconfig", text), set("HOME", "HOME/h")},
		"own":                   {nothing, git("r", "config", "a.b", "1")},
		"own in its place":      {nothing, rewrite("r/.git/config", "true", "TRUE")},
		"own by a link":         {elsewhere, rewrite("elsewhere", "true", "TRUE")},
		"own by another link":   {elsewhere, steps(write("new", text), lead("r/.git/config", "../../new"))},
		"of the work tree":      {git("r", "config", "extensions.worktreeConfig", "true"), write("r/.git/config.worktree", text)},
		"included":              {include("include"), write("inc", another)},
		"included comes":        {steps(include("include"), move("inc", "x")), move("x", "inc")},
		"included by a link":    {steps(include("include"), move("inc", "x"), lead("inc", "none")), write("none", text)},
		"included by directory": {include(`includeIf "gitdir:~/r/"`), write("inc", another)},
		"included by remote":    {remote, write("inc", another)},
		"remote":                {remote, git("r", "config", "remote.o.url", "none")},
		"variables":             {nothing, variables},
		"value of a variable":   {variables, set("GIT_CONFIG_VALUE_0", "2")},
		"parameters":            {nothing, set("GIT_CONFIG_PARAMETERS", "'a.b=1'")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.init("r")
			c.before(s)
			s.seen("r", c.change)
		})
	}
}

func TestCurrentPlace(t *testing.T) {
	t.Parallel()
	notOnWindows(t)
	below := func(s *sandbox) { s.mkdir(filepath.Join(s.home, "r", "d")) }
	separate := steps(move("r", "old"), initial("r", "--separate-git-dir=../r.git"))
	linked := steps(git("r", "commit", "-q", "--allow-empty", "-m", "m"), git("r", "worktree", "add", "-q", "../linked"))
	nothing := steps()
	for name, c := range map[string]struct {
		before step
		dir    string
		change step
	}{
		"GIT_DIR":               {nothing, "r", set("GIT_DIR", "HOME/other/.git")},
		"GIT_WORK_TREE":         {nothing, "r", set("GIT_WORK_TREE", "HOME")},
		"ceiling":               {below, "r/d", set("GIT_CEILING_DIRECTORIES", "HOME/r")},
		"ceiling by a link":     {steps(below, set("GIT_CEILING_DIRECTORIES", "HOME/c")), "r/d", lead("c", "r")},
		"a nearer one":          {below, "r/d", initial("r/d")},
		"a bare one around":     {below, "r/d", steps(git("", "clone", "-q", "--bare", "r", "bare"), move("r/d", "old"), move("bare", "r/d"))},
		"another in its place":  {git("other", "config", "a.b", "1"), "r", steps(move("r/.git", "old"), move("other/.git", "r/.git"))},
		"gone":                  {nothing, "r", move("r/.git", "old")},
		"without HEAD":          {nothing, "r", move("r/.git/HEAD", "old")},
		"with a bad HEAD":       {nothing, "r", write("r/.git/HEAD", "none")},
		"without refs":          {nothing, "r", move("r/.git/refs", "old")},
		"without objects":       {nothing, "r", move("r/.git/objects", "old")},
		"directory gone":        {nothing, "r", move("r", "old")},
		"a link instead":        {nothing, "r", steps(move("r", "old"), lead("r", "old"))},
		"by another link":       {lead("l", "r"), "l", lead("l", "other")},
		"by a link to another":  {steps(lead("l", "m"), lead("m", "r")), "l", lead("m", "other")},
		"moved behind links":    {steps(lead("l", "m"), lead("m", "r")), "l", steps(move("r", "new"), lead("m", "new"))},
		"a link to another":     {steps(move("r/.git", "r.git"), lead("r/.git", "../r.git")), "r", lead("r/.git", "../other/.git")},
		".git file":             {separate, "r", write("r/.git", "gitdir: ../other/.git\n")},
		"commondir":             {linked, "linked", write("r/.git/worktrees/linked/commondir", "../../../../other/.git\n")},
		"commondir comes":       {nothing, "r", write("r/.git/commondir", "../../other/.git\n")},
		"a work tree by a link": {steps(move("other", "w"), git("r", "config", "core.worktree", "../../w")), "r", steps(move("w", "new"), lead("w", "new"))},
		"another work tree":     {git("r", "config", "core.worktree", "../../r"), "r", git("r", "config", "core.worktree", "../../other")},
		"GIT_COMMON_DIR":        {nothing, "r", set("GIT_COMMON_DIR", "HOME/other/.git")},
		"GIT_OBJECT_DIRECTORY":  {nothing, "r", set("GIT_OBJECT_DIRECTORY", "HOME/none")},
		"a HEAD that is a link": {steps(move("r/.git/HEAD", "old"), lead("r/.git/HEAD", "refs/heads/main")), "r", lead("r/.git/HEAD", "none")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			s.init("r")
			s.init("other")
			c.before(s)
			s.seen(c.dir, c.change)
		})
	}
}

// TestCurrentInATick: a file that was written when it was read may have been
// written since without a trace, and so may a link have been made.
func TestCurrentInATick(t *testing.T) {
	t.Parallel()
	notOnWindows(t)
	s := newSandbox(t)
	dir := s.init("r")
	written, err := os.Stat(filepath.Join(dir, ".git", "config"))
	s.must(err)
	opened := written.ModTime() // however long ago that is by now
	r, err := Open(dir, s.env)
	s.must(err)
	if r.Current(opened) {
		t.Error("new files prove that nothing has changed")
	}
	lead("link", "/")(s)
	for path, want := range map[string]bool{
		filepath.Join(dir, ".git", "config"): false,
		filepath.Join(s.home, "link"):        false,
		dir:                                  true,
		filepath.Join(dir, "none"):           true,
	} {
		a, err := answerOf(path)
		s.must(err)
		if got := a.settled(opened); got != want {
			t.Errorf("%s is settled: %v", path, got)
		}
	}
}

// TestCurrentUnknown: what is not asked again is never taken to be the same.
func TestCurrentUnknown(t *testing.T) {
	t.Parallel()
	notOnWindows(t)
	for _, text := range []string{"[includeIf \"onbranch:main\"]\npath = inc\n", "[include]\npath = ~root/none\n"} {
		s := newSandbox(t)
		dir := s.init("r")
		s.write(".gitconfig", text)
		r, err := Open(dir, s.env)
		s.must(err)
		if r.Current(later()) {
			t.Errorf("Current with %q", text)
		}
	}
}
