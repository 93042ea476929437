package words

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// TestAllIsSaid: every machine-readable name of a phase, a reason or a rule has a wording.
func TestAllIsSaid(t *testing.T) {
	t.Parallel()
	for s := loop.Start; s <= loop.Ended; s++ {
		if said := Phase(s); strings.Contains(said, "_") {
			t.Errorf("%s has the wording %q", s, said)
		}
	}
	source, err := os.ReadFile("../../loop/outcome.go")
	if err != nil {
		t.Fatal(err)
	}
	testReasons(t, string(source))
	all := names(t, `(?m)^(?:const|\t)\s*Rule(?:[A-Z]\w*)? += "(\w+)"`, "../../policy/*.go", "../../policy/*/*.go", "../../loop/*.go")
	all = append(all, names(t, `\{Name: "(\w+_\w+)"`, "../../run/policy.go")...)
	if len(all) < 18 {
		t.Errorf("only the rules %q were found", all)
	}
	for _, name := range all {
		if strings.Contains(Rule(name), name) || Stop(loop.Violation(name)) != "ended "+Rule(name) {
			t.Errorf("the rule %s has no wording", name)
		}
	}
	for _, name := range names(t, `(?m)^(?:const|\t)\s*Note\w* += "([\w.]+)"`, "../../loop/*.go", "../../strategy/*.go") {
		if said := Note(name); strings.ContainsAny(said, "._") {
			t.Errorf("%s has the wording %q", name, said)
		}
	}
	for _, said := range []string{Rule("new\x1b[2J one"), Stop("new\x1b[2J one"), Outcome("new\x1b[2J one"), Note("new\x1b[2J one")} {
		if strings.TrimPrefix(said, "by the rule ") != "new one" {
			t.Errorf("%q", said)
		}
	}
}

func testReasons(t *testing.T, source string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`Stop\w+ +StopReason = "(\w+)"`).FindAllStringSubmatch(source, -1) {
		if Stop(loop.StopReason(m[1])) == m[1] {
			t.Errorf("the reason %s has no wording", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`\w+ +Result = "(\w+)"`).FindAllStringSubmatch(source, -1) {
		if said := Outcome(m[1]); said == "" || strings.Contains(said, "_") {
			t.Errorf("the result %s has the wording %q", m[1], said)
		}
	}
}

// names returns the names that a pattern matches in the source.
func names(t *testing.T, name string, patterns ...string) (all []string) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(name).FindAllStringSubmatch(string(source), -1) {
				all = append(all, m[1])
			}
		}
	}
	if len(all) == 0 {
		t.Errorf("no names are found in %s", name)
	}
	return all
}

// TestConfidence: a value on the border between two words gets the better one.
func TestConfidence(t *testing.T) {
	t.Parallel()
	for c, want := range map[float64]string{
		1: "high", 0.9: "high", 0.899: "good", 0.7: "good", 0.699: "moderate", 0.5: "moderate", 0.499: "low", 0: "low",
	} {
		if said, _, _ := strings.Cut(Confidence(c), ":"); said != want {
			t.Errorf("%g is %s, want %s", c, said, want)
		}
	}
}
