package verdict

import (
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

func TestMark(t *testing.T) {
	t.Parallel()
	for point, want := range map[string]struct {
		weight Weight
		rest   string
	}{
		"MUST: mend it":                {Must, "mend it"},
		"**MAY:** be shorter":          {May, "be shorter"},
		"[may]: be shorter":            {May, "be shorter"},
		"Must：mend it":                 {Must, "mend it"},
		"MUST_INCLUDE \"a phrase\"":    {Unmarked, "MUST_INCLUDE \"a phrase\""},
		"must be mended: all of it":    {Unmarked, "must be mended: all of it"},
		"It may be that MUST: is said": {Unmarked, "It may be that MUST: is said"},
	} {
		if w, rest := Mark(point); w != want.weight || rest != want.rest {
			t.Errorf("%q: %v, %q", point, w, rest)
		}
	}
}

// TestSplit: all that is not marked MAY is binding; without a MUST, everything is.
func TestSplit(t *testing.T) {
	t.Parallel()
	for feedback, want := range map[string][2]string{
		"mend a\nMAY: rename b": {"mend a\nMAY: rename b", ""},
		"MAY: rename b":         {"MAY: rename b", ""},
		"MUST: mend a":          {"MUST: mend a", ""},
		"MUST: mend a\nMAY: rename b\nand c\n- and d\n\nThen e.": {"MUST: mend a\n- and d\n\nThen e.", "MAY: rename b\nand c"},
		"1. **MUST**: mend a\n2. **MAY**: rename b":              {"1. **MUST**: mend a", "2. **MAY**: rename b"},
		"MUST: mend a\n```\nMAY: is printed\n```\nMAY: b":        {"MUST: mend a\n```\nMAY: is printed\n```", "MAY: b"},
		"MUST: mend a\n> MAY: quoted\nmore of a":                 {"MUST: mend a\n> MAY: quoted\nmore of a", ""},
	} {
		if musts, mays := Split(feedback); musts != want[0] || mays != want[1] {
			t.Errorf("%q:\n got %q, %q\nwant %q, %q", feedback, musts, mays, want[0], want[1])
		}
	}
	if got := Mays("Done.\n- MAY: rename b,\nand c\nMAY: d"); !reflect.DeepEqual(got, []string{"rename b, and c", "d"}) {
		t.Errorf("%q", got)
	}
}

// TestDoneHasNoMust: a DONE with a MUST is refused; a MAY, or a MUST above the decision, does not prevent it.
func TestDoneHasNoMust(t *testing.T) {
	t.Parallel()
	p := Parser{Seal: "abcdef"}
	for reply, problem := range map[string]string{
		"DECISION: DONE\nSUMMARY: It works.\nMUST: mend a\nSEAL: abcdef":               "names what is open",
		"DECISION: DONE\nSUMMARY: It works.\n- **MUST:** mend a\nSEAL: abcdef":         "names what is open",
		"DECISION: DONE\nSUMMARY: It works.\nSEAL: abcdef\nMUST: mend a":               "MUST: mend a",
		`{"decision": "done", "summary": "It works.\nMUST: mend a", "seal": "abcdef"}`: "names what is open",
		"DECISION: DONE\nSUMMARY: It works.\nMAY: a shorter name for b\nSEAL: abcdef":  "",
		"MUST: exit with 0. Seen.\n\nDECISION: DONE\nSUMMARY: It works.\nSEAL: abcdef": "",
		"DECISION: DONE\nSUMMARY: It works. What must be there is.\nSEAL: abcdef":      "",
		"DECISION: DONE\nSUMMARY: It prints:\n```\nMUST: exit 0\n```\nSEAL: abcdef":    "",
		"DECISION: CONTINUE\nFEEDBACK: MUST: mend a\nMAY: b\nSEAL: abcdef":             "",
		"DECISION: DONE\nSUMMARY: It works.\nMAY: the tests still fail\nSEAL: abcdef":  "",
	} {
		v, _, got := p.Read(reply)
		if (got == "") != (problem == "") || !strings.Contains(got, problem) || got == "" && v.Decision == "" {
			t.Errorf("%q: %q, %v", reply, got, v.Decision)
		}
	}
	if v, _, _ := p.Read("DECISION: CONTINUE\nFEEDBACK: MUST: mend a\nMAY: b\nSEAL: abcdef"); v.Decision != loop.Continue || v.Feedback != "MUST: mend a\nMAY: b" {
		t.Errorf("%+v", v)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("MUST: mend a\nMAY: rename b")
	f.Add("- MAY: a\n```\nMUST: b\n```\n> MAY: c")
	f.Fuzz(func(t *testing.T, text string) {
		musts, mays := Split(text)
		if mays == "" && musts != text && strings.TrimSpace(musts) != strings.TrimSpace(text) {
			t.Errorf("%q became %q", text, musts)
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !strings.Contains(musts, line) && !strings.Contains(mays, line) {
				t.Errorf("%q: %q is lost", text, line)
			}
		}
	})
}
