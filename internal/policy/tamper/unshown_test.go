package tamper_test

import (
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/policy/tamper"
)

// kinds returns the kind of each sign in a change, with its path.
func kinds(c loop.Change) map[string]tamper.Kind {
	found := map[string]tamper.Kind{}
	for _, s := range tamper.Inspect(c, tamper.Tree{}) {
		found[s.Path] = s.Kind
	}
	return found
}

// Changes without a patch are inspected like those with one.
func TestUnshown(t *testing.T) {
	t.Parallel()
	const header = "diff --git a/test_a.py b/test_a.py\n--- a/test_a.py\n+++ b/test_a.py\n@@ -1,4 +1,2 @@\n"
	binary := loop.FileChange{Path: "test_a.py", Status: loop.FileModified, Binary: true, Patch: "Binary files a/test_a.py and b/test_a.py differ\n"}
	for name, c := range map[string]struct {
		change loop.Change
		path   string
		want   tamper.Kind
	}{
		"text that turned binary": {loop.Change{
			Files:   []loop.FileChange{{Path: "notes.txt", Status: loop.FileModified, Binary: true}},
			Unshown: []loop.Unshown{{Path: "notes.txt", Why: loop.TurnedBinary, Status: loop.FileModified}},
		}, "notes.txt", tamper.GateChanged},
		"a test in text that is binary to git": {loop.Change{
			Files:   []loop.FileChange{binary},
			Unshown: []loop.Unshown{{Path: "test_a.py", Why: loop.BinaryText, Status: loop.FileModified, Text: header + "-def test_a():\n-    assert f() == 1\n \\x00\n+pass\n"}},
		}, "test_a.py", tamper.TestGone},
		"a file that is hidden": {loop.Change{
			Unshown: []loop.Unshown{{
				Path: "conftest.py", Why: loop.Hidden, Status: loop.FileAdded,
				Text: "diff --git a/conftest.py b/conftest.py\nnew file mode 100644\n--- /dev/null\n+++ b/conftest.py\n@@ -0,0 +1 @@\n+collect_ignore = [\"test_a.py\"]\n",
			}},
		}, "conftest.py", tamper.GateChanged},
		"a comment where the diff has an assertion": {loop.Change{
			Files: []loop.FileChange{{
				Path: "test_a.py", Status: loop.FileModified, Patch: header + " def test_a():\n-    assert f() == 1\n+    #\n+    assert f() == 1\n",
			}},
			Unshown: []loop.Unshown{{
				Path: "test_a.py", Why: loop.Converted, Status: loop.FileModified, Via: "working-tree-encoding=UTF-7",
				Text: header + " def test_a():\n-    assert f() == 1\n+    #+AAoAIAAgACAAIA-assert f() == 1\n+    pass\n",
			}},
		}, "test_a.py", tamper.FewerAssertions},
		"ignored settings": {loop.Change{
			Unshown: []loop.Unshown{{Path: ".claude/settings.local.json", Why: loop.IgnoredSettings, Status: loop.FileModified}},
		}, ".claude/settings.local.json", tamper.GateChanged},
		"a directory of settings": {loop.Change{
			Unshown: []loop.Unshown{{Path: ".claude/", Why: loop.HiddenCache, Status: loop.FileAdded, Files: 30}},
		}, ".claude/", tamper.GateChanged},
		"a picture":     {loop.Change{Files: []loop.FileChange{{Path: "a.png", Status: loop.FileModified, Binary: true}}}, "a.png", ""},
		"what is built": {loop.Change{Unshown: []loop.Unshown{{Path: "dist/", Why: loop.Hidden, Status: loop.FileAdded, Files: 4000}}}, "dist/", ""},
		"a text file that was always binary to git": {loop.Change{
			Files:   []loop.FileChange{{Path: "a.rc", Status: loop.FileModified, Binary: true}},
			Unshown: []loop.Unshown{{Path: "a.rc", Why: loop.BinaryText, Status: loop.FileModified, Text: header + "-one\n+two\n"}},
		}, "a.rc", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if found := kinds(c.change); found[c.path] != c.want {
				t.Errorf("signs %v, want %q of %s", found, c.want, c.path)
			}
		})
	}
}

// A change of any agent's settings is a sign.
func TestAgentSettings(t *testing.T) {
	t.Parallel()
	for _, name := range tamper.Standard().Agents.Names {
		for _, path := range []string{name, "sub/" + name} {
			if strings.HasPrefix(path, "sub/.github/") {
				continue // they count at the root only
			}
			file := loop.FileChange{Path: path, Status: loop.FileAdded}
			in := loop.FileChange{Path: path + "/x.md", Status: loop.FileAdded}
			if found := kinds(loop.Change{Files: []loop.FileChange{file, in}}); found[path] != tamper.GateChanged && found[in.Path] != tamper.GateChanged {
				t.Errorf("a change of %s is not a sign", path)
			}
		}
	}
}
