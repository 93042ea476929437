package diff_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"codeloops/internal/diff"
)

// A trap is a situation in which it is easy to compare work trees incorrectly. The
// expected result is git's, initially and after each step.
type trap struct {
	name  string
	setup func(*sandbox)   // in an empty repository
	steps []func(*sandbox) // after the baseline
	linux bool             // only on Linux
}

// runTraps runs each trap twice, without and with pauses. In short mode it alternates
// between the two.
func runTraps(t *testing.T, traps []trap) {
	t.Helper()
	for i, trap := range traps {
		if !testing.Short() || i%2 == 0 {
			t.Run(trap.name, func(t *testing.T) {
				t.Parallel()
				trap.run(t, func() {})
			})
		}
		if !testing.Short() || i%2 == 1 {
			t.Run(trap.name+", slowly", func(t *testing.T) {
				t.Parallel()
				trap.run(t, settle)
			})
		}
	}
}

// run calls wait before each capture, because what a capture may trust depends on the age
// of the last change.
func (trap trap) run(t *testing.T, wait func()) {
	t.Helper()
	if trap.linux && runtime.GOOS != "linux" {
		t.Skip("only on Linux are names case-sensitive and any bytes")
	}
	s := newRepo(t)
	trap.setup(s)
	wait()
	tree, o := s.begin(), newOracle(s)
	if c := o.capture(tree); !c.Empty() {
		t.Fatalf("changed before anything happened:\n%s", c.Patch())
	}
	for _, step := range trap.steps {
		step(s)
		wait()
		want := o.capture(tree)
		if again, err := tree.Capture(t.Context()); err != nil || !reflect.DeepEqual(again, want) {
			t.Errorf("again: %v\n%s", err, again.Patch())
		}
	}
}

func second[T any](_ T, err error) error { return err }

// stale sets a file's time, so that its stat proves nothing.
func (s *sandbox) stale(name string) {
	s.t.Helper()
	at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	s.must(os.Chtimes(s.path(name), at, at))
}

func (s *sandbox) append(name, more string) {
	s.t.Helper()
	content, err := os.ReadFile(s.path(name))
	s.must(err)
	s.must(os.WriteFile(s.path(name), append(content, more...), 0o644))
}

func (s *sandbox) home(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.base, "home", name)
	s.must(os.MkdirAll(filepath.Dir(path), 0o755))
	s.must(os.WriteFile(path, []byte(content), 0o644))
}

// writes returns a step that writes a file.
func writes(name, content string) func(*sandbox) {
	return func(s *sandbox) { s.write(name, content) }
}

func appends(name, more string) func(*sandbox) {
	return func(s *sandbox) { s.append(name, more) }
}

func removes(name string) func(*sandbox) { return func(s *sandbox) { s.remove(name) } }

func runs(args ...string) func(*sandbox) { return func(s *sandbox) { s.git(args...) } }

// converted returns a trap with one tracked file whose stat is stale.
func converted(name, attributes, content, more string, config ...string) trap {
	return trap{
		name: name,
		setup: func(s *sandbox) {
			for i := 0; i < len(config); i += 2 {
				s.git("config", config[i], config[i+1])
			}
			if attributes != "" {
				s.write(".gitattributes", attributes+"\n")
				s.stale(".gitattributes") // its stat proves something to git once it is committed
			}
			s.write("f", content)
			s.commit("first")
			s.stale("f")
		},
		steps: []func(*sandbox){
			appends("f", more), writes("new", content+more), runs("add", "-A"), removes("f"),
		},
	}
}

func TestConversionTraps(t *testing.T) {
	t.Parallel()
	upper := []string{"filter.up.clean", "tr a-z A-Z", "filter.up.smudge", "tr A-Z a-z"}
	utf16 := "\xff\xfea\x00\n\x00b\x00\n\x00"
	runTraps(t, []trap{
		converted("autocrlf", "", "one\r\ntwo\r\n", "three\r\n", "core.autocrlf", "true"),
		converted("text auto", "* text=auto", "one\r\ntwo\n", "three\r\n"),
		converted("ident", "* ident", "$Id: 0123 $\n", "more\n"),
		converted("encoding", "f working-tree-encoding=UTF-16", utf16, "c\x00\n\x00"),
		converted("filter", "* filter=up", "one\ntwo\n", "three\n", upper...),
		{
			name: "attributes in info and home",
			setup: func(s *sandbox) {
				s.home(".config/git/attributes", "*.a text\n")
				s.write(".git/info/attributes", "*.b text\n")
				s.write("f.a", "one\r\n")
				s.write("f.b", "one\r\n")
				s.commit("first")
				s.stale("f.a")
				s.stale("f.b")
			},
			steps: []func(*sandbox){appends("f.a", "two\r\n"), appends("f.b", "two\r\n")},
		},
		{
			name:  "attributes and settings that come later",
			setup: writes("old", "one\r\n"),
			steps: []func(*sandbox){
				writes("new", "one\r\n"), writes(".gitattributes", "new text\n"), appends("old", "two\r\n"),
				runs("config", "core.autocrlf", "input"), removes(".gitattributes"), writes("d/.gitattributes", "f text\n"),
				writes("d/f", "one\r\n"), removes("d/.gitattributes"),
			},
		},
		{
			name:  "filter and an odd name",
			linux: true,
			setup: func(s *sandbox) {
				s.git("config", "filter.up.clean", "tr a-z A-Z")
				s.write(".gitattributes", "* filter=up\n")
			},
			steps: []func(*sandbox){writes("new\nline", "a\n"), writes("\"quoted\"", "b\n"), writes(" \xff", "c\n")},
		},
	})
}

// TestStagedMode: without file modes in the work tree, a mode that is staged during the
// session is part of the change.
func TestStagedMode(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "f\n")
	s.commit("first")
	s.git("config", "core.fileMode", "false")
	tree := s.begin()
	s.git("update-index", "--chmod=+x", "f")
	c, err := tree.Capture(t.Context())
	if want := "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"; err != nil || c.Patch() != want {
		t.Errorf("%v\n%s", err, c.Patch())
	}
	s.git("update-index", "--chmod=-x", "f")
	if c, err := tree.Capture(t.Context()); err != nil || !c.Empty() {
		t.Errorf("unstaged: %v\n%s", err, c.Patch())
	}
}

func TestModeTraps(t *testing.T) {
	t.Parallel()
	executable := func(mode os.FileMode) func(*sandbox) {
		return func(s *sandbox) { s.chmod("f", mode) }
	}
	committed := func(more ...func(*sandbox)) func(*sandbox) {
		return func(s *sandbox) {
			s.write("f", "f\n")
			s.write("d/a", "a\n")
			s.write("d/b", "b\n")
			s.link("f", "l")
			for _, step := range more {
				step(s)
			}
			s.commit("first")
		}
	}
	runTraps(t, []trap{
		{name: "fileMode false, local", setup: committed(runs("config", "core.fileMode", "false")), steps: []func(*sandbox){executable(0o755), appends("f", "x\n")}},
		{name: "fileMode false, global", setup: committed(runs("config", "--unset", "core.fileMode"), func(s *sandbox) {
			s.home(".gitconfig", "[core]\n\tfileMode = false\n")
		}), steps: []func(*sandbox){executable(0o755)}},
		{name: "fileMode false, included", setup: committed(runs("config", "--unset", "core.fileMode"), func(s *sandbox) {
			s.home(".gitconfig", "[include]\n\tpath = more\n")
			s.home("more", "[core]\n\tfileMode = false\n")
		}), steps: []func(*sandbox){executable(0o755)}},
		{name: "fileMode false, of an executable", setup: committed(executable(0o755), runs("config", "core.fileMode", "false"), func(s *sandbox) {
			s.git("update-index", "--add", "--chmod=+x", "f")
		}), steps: []func(*sandbox){
			executable(0o644), appends("f", "x\n"), runs("rm", "-q", "--cached", "f"), appends("f", "x\n"),
			runs("config", "core.fileMode", "true"),
		}},
		{name: "fileMode false, later", setup: committed(), steps: []func(*sandbox){
			executable(0o755), runs("config", "core.fileMode", "false"), runs("config", "core.fileMode", "true"),
		}},
		{name: "fileMode false, later, of what was not staged", setup: func(s *sandbox) {
			committed()(s)
			s.chmod("f", 0o755)
			s.chmod("d/b", 0o755)
		}, steps: []func(*sandbox){
			runs("config", "core.fileMode", "false"), appends("f", "x\n"), executable(0o644), runs("add", "f"), runs("config", "core.fileMode", "true"),
		}},
		{name: "permissions that git does not record", setup: committed(), steps: []func(*sandbox){executable(0o600), executable(0o654), executable(0o744), executable(0o644)}},
		{name: "symlink to another target", setup: committed(), steps: []func(*sandbox){func(s *sandbox) { s.remove("l"); s.link("d", "l") }}},
		{name: "directory to symlink", setup: committed(), steps: []func(*sandbox){func(s *sandbox) {
			s.must(os.Rename(s.path("d"), s.path("e")))
			s.link("e", "d")
		}}},
		{name: "symlink to file", setup: committed(), steps: []func(*sandbox){func(s *sandbox) { s.remove("l"); s.write("l", "f") }}},
		{name: "file to symlink", setup: committed(), steps: []func(*sandbox){func(s *sandbox) { s.remove("f"); s.link("d/a", "f") }}},
		{name: "file to directory and back", setup: committed(), steps: []func(*sandbox){
			func(s *sandbox) { s.remove("f"); s.write("f/x", "f\n") },
			func(s *sandbox) { s.remove("f"); s.write("f", "f\n") },
		}},
		{name: "directory to file", setup: committed(), steps: []func(*sandbox){func(s *sandbox) { s.remove("d"); s.write("d", "d\n") }}},
		{name: "symlinks false", setup: committed(runs("config", "core.symlinks", "false"), func(s *sandbox) {
			s.git("add", "-A")
			s.remove("l")
			s.git("checkout", "l")
		}), steps: []func(*sandbox){writes("l", "d/a")}},
		{name: "long symlinks", setup: committed(), steps: []func(*sandbox){func(s *sandbox) {
			for _, n := range []int{255, 256, 257, 512, 4000} {
				s.link(strings.Repeat("x/", n)[:n], fmt.Sprint("to", n))
			}
		}}},
		{name: "symlinks false, later", setup: committed(), steps: []func(*sandbox){
			func(s *sandbox) { s.remove("l"); s.write("l", "f") },
			runs("config", "core.symlinks", "false"), writes("l", "d/a"), runs("config", "core.symlinks", "true"),
		}},
		{name: "staged rename", setup: committed(), steps: []func(*sandbox){runs("mv", "f", "g")}},
		{name: "rename in case only", setup: committed(), steps: []func(*sandbox){runs("mv", "f", "F")}, linux: true},
		{name: "empty file of which git has been told", setup: committed(), steps: []func(*sandbox){
			writes("new", "x\n"), runs("add", "-N", "new"), writes("new", ""), writes("new", "y\n"),
		}},
		{name: "empty directories", setup: committed(), steps: []func(*sandbox){func(s *sandbox) { s.must(os.MkdirAll(s.path("x/y/z"), 0o755)) }, removes("x")}},
	})
}

// TestSymlinksAsFiles: attributes do not apply to a symlink that is checked out as a
// file. Git itself converts such a file, but not on checkout, so that it is changed at
// once.
func TestSymlinksAsFiles(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.link("f", "filtered")
	s.link("f", "text")
	s.commit("first")
	tree := s.begin()
	s.git("config", "core.symlinks", "false")
	s.git("config", "filter.up.clean", "tr a-z A-Z")
	s.write(".git/info/attributes", "filtered filter=up\ntext text\n")
	for _, name := range []string{"filtered", "text"} {
		s.remove(name)
		s.git("checkout", name)
	}
	c, err := tree.Capture(t.Context())
	s.must(err)
	if !c.Empty() {
		t.Errorf("captured %s", c.Patch())
	}
	for _, name := range []string{"filtered", "text"} {
		s.write(name, "a\r\n")
	}
	c, err = tree.Capture(t.Context())
	s.must(err)
	if got := summary(c); got != "M filtered\nM text\n" || strings.Count(c.Patch(), "\n+a\r\n") != 2 || c.Files[0].NewMode != diff.Symlink {
		t.Errorf("captured %s", c.Patch())
	}
}

func TestRepositoryTraps(t *testing.T) {
	t.Parallel()
	nest := func(dir string) func(*sandbox) {
		return func(s *sandbox) {
			s.write(dir+"/file", "file\n")
			s.gitIn(s.path(dir), "init", "-q")
			s.gitIn(s.path(dir), "add", ".")
			s.gitIn(s.path(dir), "commit", "-q", "-m", "inner")
		}
	}
	commit := func(dir string) func(*sandbox) {
		return func(s *sandbox) {
			s.gitIn(s.path(dir), "commit", "-q", "--allow-empty", "-m", "more")
		}
	}
	submodule := func(s *sandbox) {
		other := filepath.Join(s.base, "other")
		s.must(os.Mkdir(other, 0o755))
		s.gitIn(other, "init", "-q")
		s.must(os.WriteFile(filepath.Join(other, "file"), []byte("file\n"), 0o644))
		s.gitIn(other, "add", ".")
		s.gitIn(other, "commit", "-q", "-m", "other")
		s.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "sub")
		s.commit("first")
	}
	runTraps(t, []trap{
		{name: "submodule with a new commit", setup: submodule, steps: []func(*sandbox){commit("sub"), runs("add", "sub")}},
		{name: "submodule with changes", setup: submodule, steps: []func(*sandbox){appends("sub/file", "more\n"), writes("sub/new", "new\n")}},
		{name: "submodule that goes", setup: submodule, steps: []func(*sandbox){removes("sub")}},
		{name: "submodule not checked out", setup: func(s *sandbox) {
			submodule(s)
			s.git("submodule", "--quiet", "deinit", "-f", "sub")
		}, steps: []func(*sandbox){
			writes("other", "x\n"), runs("update-index", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",sub"), writes("sub/file", "x\n"),
		}},
		{name: "submodule to file", setup: submodule, steps: []func(*sandbox){func(s *sandbox) { s.remove("sub"); s.write("sub", "sub\n") }}},
		{name: "gitlink without .gitmodules", setup: func(s *sandbox) {
			nest("inner")(s)
			s.commit("first")
			s.remove("inner/.git")
		}, steps: []func(*sandbox){writes("inner/new", "new\n")}},
		{name: "untracked repository", setup: nest("inner"), steps: []func(*sandbox){writes("inner/new", "new\n"), commit("inner"), removes("inner/.git")}},
		{name: "repository that appears", setup: writes("f", "f\n"), steps: []func(*sandbox){nest("inner"), nest("d/e/inner"), removes("d")}},
		{name: "repository in a directory with known files", setup: writes("inner/known", "f\n"), steps: []func(*sandbox){
			nest("inner"), writes("other", "x\n"), runs("-c", "advice.addEmbeddedRepo=false", "add", "inner"),
		}},
		{name: "directory that only looks like a repository", setup: writes("inner/.git/config", ""), steps: []func(*sandbox){
			writes("inner/f", "f\n"),
			func(s *sandbox) { // becomes a repository, while the directory itself is unchanged
				s.gitIn(s.path("inner"), "init", "-q")
				s.gitIn(s.path("inner"), "add", ".")
				s.gitIn(s.path("inner"), "commit", "-q", "-m", "inner")
			},
		}},
		{name: "ignored directory in the place of a file, and a repository then", setup: func(s *sandbox) {
			s.write("d/f", "f\n")
			s.commit("first")
			s.write(".gitignore", "f/\n")
		}, steps: []func(*sandbox){
			func(s *sandbox) { s.remove("d/f"); s.write("d/f/g", "g\n") },
			func(s *sandbox) {
				s.gitIn(s.path("d/f"), "init", "-q")
				s.gitIn(s.path("d/f"), "add", ".")
				s.gitIn(s.path("d/f"), "commit", "-q", "-m", "inner")
			},
			removes("d/f/.git"),
		}},
		{name: "submodule that is not checked out, in the place of a file", setup: func(s *sandbox) {
			s.write("f", "f\n")
			s.commit("first")
		}, steps: []func(*sandbox){
			func(s *sandbox) { s.remove("f"); s.write("f/g", "g\n") },
			runs("rm", "-q", "--cached", "f"),
			runs("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",f"),
			runs("add", "-A"),
		}},
		{name: "ignored repository", setup: writes(".gitignore", "inner\n"), steps: []func(*sandbox){nest("inner")}},
	})
}

func TestIgnoreTraps(t *testing.T) {
	t.Parallel()
	home := func(file, content string, more ...func(*sandbox)) func(*sandbox) {
		return func(s *sandbox) {
			s.home(file, content)
			s.write("f", "f\n")
			for _, step := range more {
				step(s)
			}
		}
	}
	both := []func(*sandbox){writes("x.log", "log\n"), writes("x.txt", "txt\n")}
	runTraps(t, []trap{
		{name: "info/exclude", setup: writes(".git/info/exclude", "*.log\n"), steps: both},
		{name: "excludesFile, global", setup: home(".gitconfig", "[core]\n\texcludesFile = ~/rules\n", func(s *sandbox) { s.home("rules", "*.log\n") }), steps: both},
		{name: "excludesFile, local", setup: home("rules", "*.log\n", runs("config", "core.excludesFile", "~/rules")), steps: both},
		{name: "excludesFile, XDG config", setup: home(".config/git/config", "[core]\n\texcludesFile = ~/rules\n", func(s *sandbox) { s.home("rules", "*.log\n") }), steps: both},
		{name: "excludesFile, included", setup: home(".gitconfig", "[include]\n\tpath = more\n", func(s *sandbox) {
			s.home("more", "[core]\n\texcludesFile = ~/rules\n")
			s.home("rules", "*.log\n")
		}), steps: both},
		{name: "XDG git/ignore", setup: home(".config/git/ignore", "*.log\n"), steps: both},
		{name: "ignoreCase", setup: func(s *sandbox) {
			s.git("config", "core.ignoreCase", "true")
			s.write(".gitignore", "*.LOG\n")
		}, steps: both},
		{name: "rules that are a symlink", setup: func(s *sandbox) {
			s.write("rules", "*.log\n")
			s.link("rules", ".gitignore")
		}, steps: both},
		{name: "tracked but ignored", setup: func(s *sandbox) {
			s.write("x.log", "one\n")
			s.write("d/x.log", "one\n")
			s.commit("first")
			s.write(".gitignore", "*.log\nd\n")
		}, steps: []func(*sandbox){appends("x.log", "two\n"), appends("d/x.log", "two\n"), writes("d/new", "new\n"), removes("d")}},
		{name: "tracked by force later", setup: func(s *sandbox) {
			s.write(".gitignore", "*.log\n")
			s.write("x.log", "one\n")
		}, steps: []func(*sandbox){runs("add", "-f", "x.log"), appends("x.log", "two\n"), runs("rm", "-q", "-f", "--cached", "x.log")}},
		{name: "rules that come later", setup: func(s *sandbox) {
			s.write("d/x.log", "one\n")
		}, steps: []func(*sandbox){
			writes("d/y.log", "two\n"), writes(".gitignore", "*.log\n"), appends("d/x.log", "more\n"),
			writes("d/.gitignore", "!y.log\n.gitignore\n"), removes("d/.gitignore"), removes(".gitignore"),
		}},
		{name: "rules told by the configuration later", setup: writes("f", "f\n"), steps: []func(*sandbox){
			writes("x.log", "log\n"),
			func(s *sandbox) { s.home("rules", "*.log\n"); s.git("config", "core.excludesFile", "~/rules") },
			func(s *sandbox) { s.home("rules", "f2\n") },
			writes(".git/info/exclude", "x*\n"),
		}},
		{name: "ignored directory with many files", setup: func(s *sandbox) {
			s.write(".gitignore", "node_modules\n")
			for d := range strings.FieldsSeq("a b c d") {
				s.write("node_modules/"+d+"/index.js", "x\n")
			}
		}, steps: []func(*sandbox){appends("node_modules/a/index.js", "more\n"), writes("f", "f\n")}},
	})
}
