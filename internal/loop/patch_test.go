package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

func TestPatchLines(t *testing.T) {
	t.Parallel()
	const patch = "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -3,2 +3,3 @@ func f() {\n a\n-b\n+c\n+d\n\\ No newline at end of file\n@@ -9 +10,0 @@\n-x\n@@ -12,0 +13 @@\n+--- y\n"
	var got []string
	for l := range loop.PatchLines(patch) {
		got = append(got, fmt.Sprintf("%d %d %c%s", l.Old, l.New, l.Op, strings.TrimSuffix(l.Text, "\n")))
	}
	want := []string{
		"3 3 @@ -3,2 +3,3 @@ func f() {", "3 3  a", "4 4 -b", "5 4 +c", "5 5 +d", `5 6 \ No newline at end of file`,
		"9 11 @@ -9 +10,0 @@", "9 11 -x", "13 13 @@ -12,0 +13 @@", "13 13 +--- y",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for range loop.PatchLines("diff --git a/f b/f\nBinary files differ\n") {
		t.Error("a patch without hunks has lines")
	}
}

func FuzzPatchLines(f *testing.F) {
	f.Add("@@ -1 +1 @@\n-a\n+b\n")
	f.Add("x\n@@ -,0 +99999999999 @@\n\n \n")
	f.Fuzz(func(t *testing.T, patch string) {
		_, hunks, _ := strings.Cut("\n"+patch, "\n@@ ")
		text := ""
		for l := range loop.PatchLines(patch) {
			if text += string(l.Op) + l.Text; l.Old < 0 || l.New < 0 {
				t.Errorf("line %d, %d", l.Old, l.New)
			}
		}
		if text != "" && text != "@@ "+hunks {
			t.Errorf("%q is read as %q", patch, text)
		}
	})
}
