package limits_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"codeloops/internal/diff/difftest"
	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/policy/limits"
	"codeloops/internal/policy/tamper"
)

type tree map[string]string

// change returns the change between two trees, with patches as git prints them.
func change(before, after tree) loop.Change {
	return difftest.Change(files(before), files(after))
}

func files(t tree) map[string]difftest.File {
	all := map[string]difftest.File{}
	for path, content := range t {
		all[path] = difftest.File{Mode: 0o100644, Content: content}
	}
	return all
}

// revised returns the case of an iteration that turned before into after, in a session that began at base.
func revised(base, before, after tree) loop.Case {
	c := loop.Case{Iteration: 1, Change: change(base, after), Delta: change(before, after)}
	c.Change.State = "after"
	if before != nil {
		c.Iteration = 2
		previous := change(base, before)
		previous.State = "before"
		c.History = []loop.Round{loop.Round{Iteration: 1, Change: previous}.Outline()}
	} else {
		c.Delta = change(base, after)
	}
	return c
}

func why(i policy.Inspector, c loop.Case) string {
	b := i.Inspect(c, &loop.Inspection{})
	if b == nil {
		return ""
	}
	if b.Feedback == "" || b.Back {
		return "no feedback"
	}
	return b.Why
}

func TestPaths(t *testing.T) {
	t.Parallel()
	c := loop.Case{Change: change(tree{"src/a.go": "a\n", "docs/b/c.md": "c\n"}, tree{"src/a.go": "b\n", "src/x/y.go": "y\n", ".env": "z\n"})}
	for name, r := range map[string]struct {
		rule policy.Inspector
		want string
	}{
		"all allowed":            {limits.AllowPaths{"**"}, ""},
		"one pattern each":       {limits.AllowPaths{"src/**", "docs/", ".env"}, ""},
		"a star stops at /":      {limits.AllowPaths{"src/*.go", "docs/*/*.md", ".e?v"}, "only src/*.go, docs/*/*.md, .e?v may be changed, but so was src/x/y.go"},
		"a directory":            {limits.AllowPaths{"./src", "docs"}, "only ./src, docs may be changed, but so was .env"},
		"removed counts":         {limits.AllowPaths{"src/**", "{.env,x}"}, "only src/**, {.env,x} may be changed, but so was docs/b/c.md"},
		"nothing denied matches": {limits.DenyPaths{"vendor/**", "*.md", "b"}, ""},
		"denied":                 {limits.DenyPaths{"**/*.md", "src"}, "docs/b/c.md, src/a.go, src/x/y.go was changed and must not be"},
	} {
		if got := strings.ReplaceAll(why(r.rule, c), `"`, ""); got != r.want {
			t.Errorf("%s: got %q, want %q", name, got, r.want)
		}
	}
}

func TestDenyPhrases(t *testing.T) {
	t.Parallel()
	const was = "func a() {\n\tconsole.log(1)\n}\n"
	for name, r := range map[string]struct {
		before, after tree
		want          string
	}{
		"none":                  {nil, tree{"a.txt": "unresolved, and logged to the consoles.log\n"}, ""},
		"written":               {nil, tree{"a.txt": "It is RESOLVED.\n", "b.txt": "resolved\n"}, `denied phrases were written: "resolved" in "a.txt", "b.txt"`},
		"over a line break":     {tree{"a.txt": "x\n"}, tree{"a.txt": "x\nall  tests\n\tpass!\n"}, `denied phrases were written: "All tests pass" in "a.txt"`},
		"a part of a name":      {nil, tree{"a.js": "my_resolved(resolved2)\n"}, ""},
		"beside letters of all": {nil, tree{"a.txt": "straßenresolved\n"}, ""},
		"it stood there":        {tree{"a.js": was}, tree{"a.js": was + "x\n"}, ""},
		"in a line that changed": {
			tree{"a.js": was}, tree{"a.js": "func a() {\n\tconsole.log(2)\n}\n"}, "",
		},
		"moved":      {tree{"a.js": was}, tree{"b.js": was}, ""},
		"once more":  {tree{"a.js": was}, tree{"a.js": was, "b.js": was}, `denied phrases were written: "console.log" in "b.js"`},
		"twice of 1": {nil, tree{"a.js": "console.log(console.log)"}, `denied phrases were written: "console.log" in "a.js"`},
		"removed":    {tree{"a.js": was}, nil, ""},
		"binary":     {nil, tree{"a.bin": "\x00resolved\n"}, ""},
	} {
		rule := limits.DenyPhrases{"resolved", "All tests pass", "console.log"}
		c := loop.Case{Change: change(r.before, r.after)}
		if got := why(rule, c); strings.ReplaceAll(got, `"`, "") != strings.ReplaceAll(r.want, `"`, "") {
			t.Errorf("%s: got %q, want %q", name, got, r.want)
		}
		if got := why(limits.DenyPhrases{}, c); got != "" {
			t.Errorf("%s: without phrases: %q", name, got)
		}
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	c := loop.Case{Change: change(tree{"a": "one\ntwo\n", "b": "x\n", "bin": "\x00\x01"}, tree{"a": "one\nTWO\nthree", "bin": "\x00\x02\x03"})}
	for _, r := range []struct {
		rule policy.Inspector
		want string
	}{
		{limits.Most(3, "file", limits.Files), ""},
		{limits.Most(2, "file", limits.Files), "2 files may be changed, but 3 are"},
		{limits.Most(4, "line", limits.Lines), ""},
		{limits.Most(3, "line", limits.Lines), "3 lines may be changed, but 4 are"},
		{limits.Most(4+9+2+5, "byte", limits.Bytes), ""},
		{limits.Most(4+9+2+4, "byte", limits.Bytes), "19 bytes may be changed, but 20 are"},
	} {
		if got := why(r.rule, c); got != r.want {
			t.Errorf("%+v: got %q, want %q", r.rule, got, r.want)
		}
	}
}

func TestNoNewDependencies(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/dependencies.txtar")
	if err != nil {
		t.Fatal(err)
	}
	before, after, want := map[string]tree{}, map[string]tree{}, map[string]string{}
	for _, f := range archive.Files {
		name, rest, _ := strings.Cut(f.Name, "/")
		when, path, _ := strings.Cut(rest, "/")
		if before[name] == nil {
			before[name], after[name] = tree{}, tree{}
		}
		switch when {
		case "before":
			before[name][path] = string(f.Data)
		case "after":
			after[name][path] = string(f.Data)
		default:
			want[name] = string(f.Data)
		}
	}
	for name := range want {
		read := func(path string) ([]byte, error) { return []byte(after[name][path]), nil }
		b := limits.NoNewDependencies{On: true, Tree: tamper.Tree{Read: read}}.Inspect(loop.Case{Change: change(before[name], after[name])}, nil)
		var wanted []string
		for line := range strings.Lines(want[name]) {
			wanted = append(wanted, strings.ReplaceAll(strings.TrimSpace(line), `"`, ""))
		}
		got := ""
		if b != nil {
			got = strings.ReplaceAll(strings.TrimPrefix(b.Why, "new dependencies: "), `"`, "")
		}
		if got != strings.Join(wanted, ", ") {
			t.Errorf("%s: got %q, want %q", name, got, wanted)
		}
	}
}

// TestOff: rules that are not configured let everything pass.
func TestOff(t *testing.T) {
	t.Parallel()
	c := revised(tree{}, tree{"a": "x\n", "go.mod": "module x\n"}, tree{
		"a": strings.Repeat("y\n", 1000), "go.mod": "module x\n\nrequire example.com/a v1.0.0\n", "b_test.go": "package b\n",
	})
	for _, i := range []policy.Inspector{
		limits.Audit{},
		limits.AllowPaths{},
		limits.DenyPaths{},
		limits.Most(0, "file", limits.Files), limits.Most(0, "line", limits.Lines), limits.Most(0, "byte", limits.Bytes),
		limits.NoNewDependencies{},
		limits.Tamper{},
	} {
		if got := why(i, c); got != "" {
			t.Errorf("%T: %s", i, got)
		}
	}
}

func FuzzNoNewDependencies(f *testing.F) {
	f.Add("go.mod", "@@ -1 +1 @@ require (\n+\texample.com/a v1.0.0\n")
	f.Add("package.json", "@@ -1 +1 @@\n+  \"a\": \"^1\",\n }\n+{\n")
	f.Add("Cargo.toml", "@@\n+[dependencies.x]\n+[\n+]")
	f.Add("pyproject.toml", "@@ @@ dependencies = [\n+\"a\"]\n+\n")
	rule := limits.NoNewDependencies{On: true, Tree: tamper.Tree{}}
	f.Fuzz(func(_ *testing.T, path, patch string) {
		c := loop.Case{Change: loop.Change{Files: []loop.FileChange{{Path: path, Status: loop.FileModified, Patch: patch, OldSize: 10}}}}
		c.Delta = c.Change
		for _, i := range []policy.Inspector{rule, limits.Audit{}, limits.Most(1, "byte", limits.Bytes), limits.AllowPaths{"a"}} {
			i.Inspect(c, &loop.Inspection{})
		}
	})
}

// TestTamper: signs of tampering are always reported, and break the rule only if Block is set.
func TestTamper(t *testing.T) {
	t.Parallel()
	c := loop.Case{Change: change(tree{"a_test.go": "package a\n\nfunc TestA(t *testing.T) {\n}\n\nfunc TestB(t *testing.T) {\n}\n"}, tree{"a_test.go": "package a\n"})}
	rule := limits.Tamper{On: true}
	var found loop.Inspection
	if b := rule.Inspect(c, &found); b != nil {
		t.Errorf("signs that are only reported broke the rule: %+v", b)
	}
	want := []loop.Concern{{Rule: "tamper", Kind: "test_gone", Text: "tests are gone, or are where they are not run", Places: []loop.Place{
		{At: "a_test.go:3", What: "the test TestA is gone"},
		{At: "a_test.go:6", What: "the test TestB is gone"},
	}}}
	if !reflect.DeepEqual(found.Concerns, want) {
		t.Errorf("got %+v", found.Concerns)
	}
	rule.Block = []string{"skip_added"}
	if got := why(rule, c); got != "" {
		t.Errorf("a sign that does not block broke the rule: %s", got)
	}
	rule.Block = []string{"test_gone", "expectation_changed"}
	if got, want := why(rule, c), "tests, or what decides about them, were changed: a_test.go:3: the test TestA is gone, and 1 more"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := why(rule, loop.Case{Change: change(nil, tree{"a_test.go": "package a\n"})}); got != "" {
		t.Errorf("found %q where nothing is wrong", got)
	}
}

// TestTamperAsked: a changed expectation is as asked for if the task names its file or its test; a test that is gone is not.
func TestTamperAsked(t *testing.T) {
	t.Parallel()
	before := tree{"a_test.go": "package a\n\nfunc TestA(t *testing.T) {\n\tassert.Equal(t, 3, A())\n}\n\nfunc TestB(t *testing.T) {\n}\n"}
	expects := change(before, tree{"a_test.go": strings.Replace(before["a_test.go"], "3", "4", 1)})
	gone := change(before, tree{"a_test.go": before["a_test.go"][:strings.Index(before["a_test.go"], "func TestB")]})
	rule := limits.Tamper{On: true, Block: []string{"test_gone", "expectation_changed"}}
	for _, x := range []struct {
		change loop.Change
		task   string
		broken bool
	}{
		{expects, "make A return 4", true},
		{expects, "have TestA expect 4", false},
		{expects, "A is 4 now: adapt a_test.go", false},
		{gone, "A is 4 now: adapt a_test.go", true},
		{gone, "TestB fails", true},
	} {
		if got := why(rule, loop.Case{Task: x.task, Change: x.change}); (got != "") != x.broken {
			t.Errorf("%s: %q", x.task, got)
		}
	}
	var found loop.Inspection
	rule.Inspect(loop.Case{Task: "have TestA expect 4", Change: expects}, &found)
	if what := found.Concerns[0].Places[0].What; !strings.HasSuffix(what, "; the task names it") {
		t.Errorf("told as %q", what)
	}
}

// TestTamperFlooded: thousands of signs are all listed, and the worst comes first, for the actor and for people.
func TestTamperFlooded(t *testing.T) {
	t.Parallel()
	before := tree{"z_test.go": "package a\n\nfunc TestZ(t *testing.T) {\n}\n"}
	after := tree{"z_test.go": "package a\n"}
	for i := range 3000 {
		after[fmt.Sprintf("a%d/Makefile", i)] = "test:\n"
	}
	var found loop.Inspection
	b := limits.Tamper{On: true, Block: []string{"test_gone", "gate_changed"}}.Inspect(loop.Case{Change: change(before, after)}, &found)
	if n := len(found.Concerns); n != 2 || len(found.Concerns[1].Places) != 3000 || found.Concerns[0].Places[0].At != "z_test.go:3" {
		t.Fatalf("%d concerns: %.1000v", n, found.Concerns)
	}
	if !strings.Contains(b.Why, ": z_test.go:3: the test TestZ is gone, and 3000 more") || !strings.Contains(b.Feedback, "TestZ") || len(b.Feedback) > 10<<10 {
		t.Errorf("%q\n%.1000s", b.Why, b.Feedback)
	}
}

// TestAudit: an audit measures the change of one iteration.
func TestAudit(t *testing.T) {
	t.Parallel()
	c := revised(tree{"a": "one\ntwo\nthree\n"}, tree{"a": "one\ntwo\nthree\nfour\n"}, tree{"a": "one\n2\nthree\nfour\n", "b": "new\n"})
	var got loop.Inspection
	limits.Audit{Base: "base"}.Inspect(c, &got)
	want := loop.Audit{
		Before: "before", After: "after", Files: 2, Insertions: 2, Deletions: 1,
		Bytes: 2, Excerpt: c.Delta.Patch(),
	}
	if !reflect.DeepEqual(got.Audit, want) {
		t.Errorf("got  %+v\nwant %+v", got.Audit, want)
	}

	got = loop.Inspection{}
	limits.Audit{Base: "base"}.Inspect(revised(nil, nil, tree{"a": "x\n"}), &got)
	if got.Audit.Before != "base" || got.Audit.Bytes != 2 {
		t.Errorf("the first iteration: %+v", got.Audit)
	}
}

// TestExcerptIsBounded: an excerpt is cut between lines, never inside a character.
func TestExcerptIsBounded(t *testing.T) {
	t.Parallel()
	for _, content := range []string{
		strings.Repeat("short\n", 100), strings.Repeat("é", 5000), strings.Repeat("日本語"+strings.Repeat("x", 97)+"\n", 50), "x" + strings.Repeat("😀", 2000),
	} {
		var got loop.Inspection
		limits.Audit{}.Inspect(revised(nil, nil, tree{"a": content}), &got)
		text := got.Audit.Excerpt
		if len(text) > 2<<10 || len(text) < 100 || strings.Count(text, "\n") > 20 || !utf8.ValidString(text) {
			t.Errorf("%d bytes, %d lines, UTF-8 %t", len(text), strings.Count(text, "\n"), utf8.ValidString(text))
		}
	}
}

// A change without a patch counts like one with a patch.
func TestUnshown(t *testing.T) {
	t.Parallel()
	unshown := func(path string, why loop.UnshownWhy, text string) loop.Case {
		return loop.Case{Change: loop.Change{Unshown: []loop.Unshown{{Path: path, Why: why, Status: loop.FileAdded, Text: text}}}}
	}
	const phrase, dependency = "@@ -0,0 +1 @@\n+all tests pass\n", "@@ -0,0 +1 @@\n+evil==1.0\n"
	for name, c := range map[string]struct {
		rule    policy.Inspector
		matter  loop.Case
		refused bool
	}{
		"a denied path that is hidden":        {limits.DenyPaths{"**/conftest.py"}, unshown("a/conftest.py", loop.Hidden, ""), true},
		"a denied path that is converted":     {limits.DenyPaths{"run.sh"}, unshown("run.sh", loop.Converted, ""), true},
		"a denied directory that is hidden":   {limits.DenyPaths{".claude/**"}, unshown(".claude/", loop.HiddenCache, ""), true},
		"denied settings":                     {limits.DenyPaths{".claude"}, unshown(".claude/settings.json", loop.IgnoredSettings, ""), true},
		"a hidden path that is not denied":    {limits.DenyPaths{"**/conftest.py"}, unshown("dist/", loop.Hidden, ""), false},
		"a path outside that is hidden":       {limits.AllowPaths{"src"}, unshown("conftest.py", loop.Hidden, ""), true},
		"a directory outside that is hidden":  {limits.AllowPaths{"src"}, unshown("dist/", loop.Hidden, ""), true},
		"a path within that is hidden":        {limits.AllowPaths{"src"}, unshown("src/x", loop.Hidden, ""), false},
		"a cache":                             {limits.AllowPaths{"src"}, unshown(".mypy_cache/", loop.HiddenCache, ""), false},
		"settings that have been ignored":     {limits.AllowPaths{"src"}, unshown(".claude/settings.json", loop.IgnoredSettings, ""), false},
		"a denied phrase that is hidden":      {limits.DenyPhrases{"all tests pass"}, unshown("x", loop.Hidden, phrase), true},
		"a dependency that is hidden":         {limits.NoNewDependencies{On: true, Tree: tamper.Tree{}}, unshown("requirements.txt", loop.Hidden, dependency), true},
		"a dependency in what is no manifest": {limits.NoNewDependencies{On: true, Tree: tamper.Tree{}}, unshown("x.txt", loop.Hidden, dependency), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if b := c.rule.Inspect(c.matter, &loop.Inspection{}); (b != nil) != c.refused {
				t.Errorf("%+v", b)
			}
		})
	}
}
