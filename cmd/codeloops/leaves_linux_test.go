package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A project is a small one without a .gitignore, and what builds and tests it.
type project struct {
	files string // shell commands that write its files
	does  []string
	// tools are the programs that does needs. Where one is missing, what it leaves is left by the shell.
	tools, instead string
}

// deed returns the nth way to build and test, or its stand-in if a tool is missing.
func (p project) deed(t *testing.T, n int) string {
	t.Helper()
	for tool := range strings.FieldsSeq(p.tools) {
		if _, err := exec.LookPath(tool); err != nil && !strings.HasPrefix(p.does[n], "mkdir") {
			t.Logf("there is no %s: the shell leaves what it leaves", tool)
			return p.instead
		}
	}
	return p.does[n]
}

// eachProject returns projects of twelve languages, five ways to build and test each. What few machines have is not run: the shell
// leaves what it leaves.
func eachProject() map[string]project {
	const made = "mkdir -p %s && echo x >%s"
	leaves := func(files ...string) (all string) {
		var joined strings.Builder
		for i, file := range files {
			if i > 0 {
				joined.WriteString(" && ")
			}
			fmt.Fprintf(&joined, made, filepath.Dir(file), file)
		}
		all += joined.String()
		return all
	}
	return map[string]project{
		"c": {`echo 'int main(void) { return 0; }' >main.c; printf 'app: main.c\n\tcc -o app main.c\ntest: app\n\t./app\n' >Makefile`, []string{
			"gcc main.c && ./a.out", "make test", "gcc --coverage -c main.c && gcc --coverage -o t main.o && ./t && gcov main.c >cov.log",
			leaves("build/CMakeCache.txt", "build/CMakeFiles/a.o", "compile_commands.json"), leaves(".cache/clangd/index/x.idx", "core.4711", "vgcore.1"),
		}, "gcc cc make", leaves("a.out", "app", "main.gcno", "main.gcda", "main.c.gcov")},
		"c++": {`echo 'int main() { return 0; }' >main.cc`, []string{
			"g++ main.cc && ./a.out", "g++ -c main.cc -o main.o", "g++ -MMD -o t main.cc && ./t", leaves("cmake-build-debug/x.ninja", "Testing/Temporary/LastTest.log"), leaves("bazel-out/x/y", "MODULE.bazel.lock"),
		}, "g++", leaves("a.out", "main.o", "main.d")},
		"go": {`printf 'module m\n\ngo 1.21\n' >go.mod; echo 'package m' >m.go; printf 'package m\n\nimport "testing"\n\nfunc TestM(*testing.T) {}\n' >m_test.go`, []string{
			"go test -coverprofile=cover.out ./...", "go test -c -o m.test", "go vet ./... && go list -json >list.json", leaves("vendor/modules.txt", "coverage.html"), leaves("bin/app", "dist/app_linux/app", "cpu.prof"),
		}, "go", leaves("cover.out", "m.test", "list.json")},
		"java": {`echo 'class Main { public static void main(String[] a) {} }' >Main.java`, []string{
			"javac Main.java && java Main", "javac -d out Main.java && java -cp out Main", leaves("target/classes/Main.class", "target/surefire-reports/TEST-Main.xml"), leaves("build/libs/a.jar", ".gradle/8.5/fileHashes/fileHashes.bin"), leaves("bin/Main.class", "hs_err_pid1.log", "jacoco.exec"),
		}, "java javac", leaves("Main.class", "out/Main.class")},
		"javascript": {`echo '{"name": "m", "version": "1.0.0", "scripts": {"test": "node --test"}}' >package.json; echo 'require("node:test")("m", () => {})' >m.test.js`, []string{
			"node --test --test-reporter=tap m.test.js >tap.txt", "npm test --silent && npm install --offline --no-audit --no-fund --silent", leaves("node_modules/.bin/x", "node_modules/a/b/c.js", "package-lock.json"), leaves("coverage/lcov.info", "coverage/lcov-report/index.html", ".nyc_output/1.json"), leaves("dist/bundle.js", "npm-debug.log", ".eslintcache"),
		}, "node npm", leaves("tap.txt", "package-lock.json", "node_modules/.package-lock.json")},
		"perl": {`echo 'print "ok 1\n1..1\n"' >m.t`, []string{
			"perl m.t >out.tap", "perl -MStorable -e 'Storable::store([1], \"m.db\")' && perl m.t", leaves("blib/lib/M.pm", "pm_to_blib", "MYMETA.json"), leaves("cover_db/structure/x", "Makefile.old"), leaves("_build/auto", "Build", ".prove"),
		}, "perl", leaves("out.tap", "m.db")},
		"php": {`echo '<?php' >m.php`, []string{
			leaves("vendor/autoload.php", "composer.lock"), leaves(".phpunit.result.cache"), leaves(".phpunit.cache/code-coverage/x", "clover.xml"), leaves("var/cache/test/x.php", "var/log/test.log"), leaves("build/logs/junit.xml", ".php-cs-fixer.cache"),
		}, "", ""},
		"python": {`printf 'import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        import calc\n' >test_calc.py; echo 'x = 1' >calc.py`, []string{
			"python3 -m unittest -q", "python3 -m compileall -q .", leaves(".pytest_cache/CACHEDIR.TAG", ".pytest_cache/v/cache/lastfailed", ".coverage"), leaves("htmlcov/index.html", "coverage.xml", "calc.egg-info/PKG-INFO", "build/lib/calc.py"), leaves(".venv/bin/python", ".venv/lib/site.py", ".mypy_cache/3.12/x.json", ".ruff_cache/0.1/y"),
		}, "python3", leaves("__pycache__/calc.cpython-312.pyc", "__pycache__/test_calc.cpython-312.pyc")},
		"ruby": {`echo 'puts 1' >m.rb`, []string{
			leaves("coverage/.resultset.json", "coverage/index.html"), leaves("vendor/bundle/ruby/3.3.0/x", ".bundle/config", "Gemfile.lock"), leaves(".rspec_status"), leaves("tmp/cache/bootsnap/x", "log/test.log"), leaves("pkg/m-1.gem", "doc/index.html", ".yardoc/complete"),
		}, "", ""},
		"rust": {`mkdir src; echo 'fn main() {}' >src/main.rs; printf '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml`, []string{
			"rustc --test -o t src/main.rs && ./t -q", "cargo test --offline --quiet", "rustc src/main.rs && ./main", leaves("target/debug/m", "target/CACHEDIR.TAG", "Cargo.lock"), leaves("default.profraw", "tarpaulin-report.html", "lcov.info"),
		}, "rustc cargo", leaves("main", "t", "target/debug/m", "target/CACHEDIR.TAG", "Cargo.lock")},
		"shell": {`echo 'echo ok >result' >test.sh`, []string{
			"sh test.sh", "sh test.sh && cp test.sh test.sh.bak && mkdir tmp", "sh -x test.sh 2>trace.log", leaves("bats.tap", "nohup.out"), leaves("coverage/kcov/x.json", ".shellspec-quick.log"),
		}, "", ""},
		"tcl": {`echo 'puts [expr 1 + 1]' >m.tcl`, []string{
			"tclsh m.tcl >out.log", "echo 'pkg_mkIndex . *.tcl' | tclsh && tclsh m.tcl", leaves("pkgIndex.tcl"), leaves("testlog.txt", "tmp.test/x"), leaves("m.kit", "build/m.vfs/main.tcl"),
		}, "tclsh", leaves("out.log", "pkgIndex.tcl")},
	}
}

// TestLongLeaves: in a repository without a .gitignore, a critic that builds and tests is DONE at the
// first ask, with its seal and without, with checks that do the same and without.
func TestLongLeaves(t *testing.T) {
	t.Parallel()
	n := 0
	for name, p := range eachProject() {
		for i := range p.does {
			n++
			for variant := range 4 {
				short := i == 0 && variant == 3 && (name == "shell" || name == "python")
				if testing.Short() && !short || variant != (i+len(name))%4 && !short { // each project plays one of them
					continue
				}
				t.Run(fmt.Sprintf("%s/%d/%d", name, i, variant), func(t *testing.T) {
					t.Parallel()
					leave(t, p.files, p.deed(t, i), variant&1 != 0, variant&2 != 0)
				})
			}
		}
	}
	if n != 60 {
		t.Errorf("there are %d projects", n)
	}
}

// leave plays a run whose critic does something in its view.
func leave(t *testing.T, files, does string, sealed, checked bool) {
	t.Helper()
	seal := ""
	if sealed {
		seal = `\nSEAL: {seal}`
	}
	s := newStage(t, fmt.Sprintf("[[actor]]\nstep = [{ write = \"NEWS\", content = \"work\\n\" }]\n[[critic]]\nstep = [{ run = '''%s''' }]\nsay = \"DECISION: DONE\\nSUMMARY: fine%s\"\n", does, seal))
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "GOCACHE="+filepath.Join(home, ".cache", "go-build"), "GOTOOLCHAIN=local", "PYTHONDONTWRITEBYTECODE=", "RUSTUP_HOME="+filepath.Join(home, ".rustup"), "CARGO_HOME="+filepath.Join(s.dir, "cargo"))
	in := func(script string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-ec", script)
		cmd.Dir, cmd.Env = filepath.Join(s.dir, "work"), s.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	in(files + "\ngit add -A; git -c user.name=A -c user.email=a@example.com commit -qm project")
	args := []string{"-n", "1", "--yes", "do the work of the project"}
	if checked {
		args = append([]string{"--check", does}, args...)
	}
	cmd := s.codeloops(args...)
	out, err := cmd.CombinedOutput()
	if said := string(out); err != nil || strings.Contains(said, "asked again") || !strings.Contains(said, "thrown away: ") {
		t.Errorf("%s: %v\n%s", does, err, said)
	}
	if got := in("git status --porcelain"); got != "?? NEWS\n" {
		t.Errorf("%s: the tree has %q", does, got)
	}
}
