package ui

import (
	"strings"
	"testing"
)

// shown writes lines as the page shows them: [ ] is what is marked.
func shown(p pair) string {
	words := func(s side) string {
		var b strings.Builder
		for _, one := range s.Pieces {
			if one.Marked {
				b.WriteString("[" + one.Text + "]")
			} else {
				b.WriteString(one.Text)
			}
		}
		return b.String()
	}
	return p.Hunk + words(p.Old) + "|" + words(p.New)
}

func TestPairs(t *testing.T) {
	t.Parallel()
	patch := "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,4 +3,5 @@ func x() {\n same\n-\treturn oldName(1)\n-gone\n+\treturn newName(1, 2)\n+quite other\n+more\n last\n\\ No newline at end of file\n"
	var got []string
	for _, p := range pairs(patch) {
		got = append(got, shown(p))
	}
	want := []string{"@@ -3,4 +3,5 @@ func x() {|", "same|same", "\treturn [oldName](1)|\treturn [newName](1[, 2])", "gone|quite other", "|more", "last|last", "\\ No newline at end of file|"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	all := pairs(patch)
	if all[2].Old.Number != 4 || all[2].New.Number != 4 || all[4].New.Number != 6 || all[5].Old.Number != 6 || all[5].New.Number != 7 {
		t.Errorf("numbers: %+v", all)
	}
}

// FuzzMarked: whatever is marked, each line is whole.
func FuzzMarked(f *testing.F) {
	f.Add("return oldName(1)", "return newName(1, 2)")
	f.Add("", "x")
	f.Add("\xff é", "é\xff")
	f.Fuzz(func(t *testing.T, was, is string) {
		before, after := marked(was, is)
		var a, b strings.Builder
		for _, p := range before {
			a.WriteString(p.Text)
		}
		for _, p := range after {
			b.WriteString(p.Text)
		}
		if a.String() != text(was) && a.String() != was || b.String() != text(is) && b.String() != is {
			t.Errorf("%q became %q, %q became %q", was, a.String(), is, b.String())
		}
	})
}
