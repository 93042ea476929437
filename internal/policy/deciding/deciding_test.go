package deciding

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestShell(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"sh check.sh":      {"check.sh"},
		"./check.sh --all": {"check.sh"},
		"tools/check":      {"tools/check"},
		"bash -eu -o pipefail ./tools/check.sh now":       {"tools/check.sh"},
		"sh -c './a.sh && sh b.sh'":                       {"a.sh", "b.sh"},
		"bash -ec \"sh 'my check.sh'\"":                   {"my check.sh"},
		"cd tools && ./check.sh; ./more.sh":               {"tools/check.sh", "tools/more.sh"},
		"(cd tools && ./check.sh) && ./more.sh":           {"tools/check.sh", "more.sh"},
		"python3 tools/check.py src":                      {"tools/check.py"},
		"python3.12 -W error check.py greet.py":           {"error", "check.py"},
		"python -m tools.check":                           {"tools/check.py", "tools/check/__main__.py"},
		"python -c 'import greet'":                        nil,
		"X=1 Y='a b' ./check.sh":                          {"check.sh"},
		"env -i X=1 timeout -k 5 60s sh check.sh":         {"check.sh"},
		"nice -n 5 ./check.sh":                            {"check.sh"},
		"if ./check.sh; then true; else ./other.sh; fi":   {"check.sh", "other.sh"},
		"! ./check.sh":                                    {"check.sh"},
		". ./lib.sh && greet":                             {"lib.sh"},
		"sh <check.sh":                                    {"check.sh"},
		"sort <words.txt | diff - want.txt":               nil,
		"cat a.sh b.sh | sh":                              {"a.sh", "b.sh"},
		"cat words.txt | sort":                            nil,
		"X=check.sh; sh $X":                               {"check.sh"},
		"X=check.sh && sh \"${X}\"":                       {"check.sh"},
		"for f in a.sh b.sh; do sh \"$f\"; done":          {"a.sh", "b.sh"},
		"for f in checks/*.sh; do sh $f || exit; done":    {"checks"},
		"for f in *.sh; do sh $f; done":                   nil,
		"for f in *.txt; do grep -q hello $f; done":       nil,
		"env -C tools X=1 sh check.sh; sh a.sh":           {"tools/check.sh", "a.sh"},
		"run-parts --regex=. checks":                      {"checks"},
		"sh check.sh >log 2>&1":                           {"check.sh"},
		"make test":                                       {"GNUmakefile", "makefile", "Makefile"},
		"make -C sub -f my.mk test":                       {"sub/my.mk", "sub/GNUmakefile", "sub/makefile", "sub/Makefile"},
		"npm test":                                        {"package.json"},
		"make -Csub --file=my.mk test":                    {"sub/my.mk", "sub/GNUmakefile", "sub/makefile", "sub/Makefile"},
		"npm --prefix=sub test":                           {"sub/package.json"},
		"uv run tools/check.py && uv run check.py":        {"tools/check.py", "check.py"},
		"uv run --with requests check.py":                 {"check.py"},
		"env -u GOFLAGS sh check.sh":                      {"check.sh"},
		"timeout --signal KILL 60 sh check.sh":            {"check.sh"},
		"bundle exec ruby tools/check.rb":                 {"tools/check.rb"},
		"make -j4 -s test":                                {"GNUmakefile", "makefile", "Makefile"},
		"npx tsx tools/check.ts":                          {"tools/check.ts"},
		"uv run python tools/check.py":                    {"tools/check.py"},
		"node --test":                                     nil,
		"go test ./...":                                   nil,
		"go run ./tools/check":                            {"tools/check"},
		"test -e README && echo 'sh check.sh' # ./no.sh":  nil,
		"\"$PWD/tools/check.sh\"":                         {"tools/check.sh"},
		"$(git rev-parse --show-toplevel)/tools/check.sh": {"tools/check.sh"},
		"${ROOT}/check.sh":                                {"check.sh"},
		"sh \"$SCRIPT\"":                                  nil,
		"test \"$(sh greet.sh)\" = hello":                 nil,
		"/usr/bin/env sh check.sh":                        {"/usr/bin/env", "check.sh"},
		"eval 'sh check.sh'":                              {"check.sh"},
		"xargs -0 sh check.sh <list":                      {"check.sh"},
		"sh check.sh; sh ./check.sh":                      {"check.sh"},
		"sh 'unclosed":                                    {"unclosed"},
		"sh \\":                                           nil,
		"":                                                nil,
	} {
		if got, _ := Shell(line); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"mycheck --all && sh check.sh": {"mycheck", "sh"},
		"X=1 timeout 5 mycheck":        {"timeout", "mycheck"},
		"./mycheck; \"$TOOL\" x":       nil,
		"make; make":                   {"make"},
	} {
		if _, got := Shell(line); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestArgv(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ argv, want []string }{
		{[]string{"tools/critic.sh"}, []string{"tools/critic.sh"}},
		{[]string{"sh", "tools/critic.sh"}, []string{"tools/critic.sh", "sh"}},
		{[]string{"sh", "-c", "exec tools/critic.sh"}, []string{"tools/critic.sh", "sh"}},
		{[]string{"python3", "tools/critic.py", "--config=tools/critic.json", "-v"}, []string{"tools/critic.py", "python3", "tools/critic.json"}},
		{[]string{"mine", "{prompt}", "--rules", "rules.txt"}, []string{"mine", "rules.txt"}},
	} {
		if got := Argv(x.argv); !slices.Equal(got, x.want) {
			t.Errorf("%q: %q, want %q", x.argv, got, x.want)
		}
	}
}

// Within returns paths relative to the root, and drops files outside of it.
func TestWithin(t *testing.T) {
	t.Parallel()
	root := filepath.FromSlash("/home/me/work")
	if filepath.VolumeName(t.TempDir()) != "" {
		root = `C:\work`
	}
	files := []string{"a.sh", "../b.sh", "../../c.sh", filepath.ToSlash(filepath.Join(root, "tools", "d.sh")), "/bin/sh", ".."}
	want := []string{"sub/a.sh", "b.sh", "tools/d.sh"}
	if got := Within(root, filepath.Join(root, "sub"), files); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzShell(f *testing.F) {
	for _, line := range []string{"sh -c 'a;b' <x", "cd $(x)/y; ${z}/w", "`a` \"$(b 'c)\" {d,e} # f", "((", "$((1+2))", "sh -c"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		files, _ := Shell(line)
		for _, file := range files {
			if file == "" || file == "." {
				t.Errorf("%q names %q", line, file)
			}
		}
	})
}
