package words

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// TestAllIsSaid: no name for machines is left to itself: not of a phase, not of a reason,
// not of a rule.
func TestAllIsSaid(t *testing.T) {
	t.Parallel()
	for s := loop.Start; s <= loop.Ended; s++ {
		if said := Phase(s); strings.Contains(said, "_") {
			t.Errorf("%s is said as %q", s, said)
		}
	}
	source, err := os.ReadFile("../../loop/outcome.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`Stop\w+ +StopReason = "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		if Stop(loop.StopReason(m[1])) == m[1] {
			t.Errorf("why a run ended with %s is not said", m[1])
		}
	}
	all := rules(t)
	if len(all) < 15 {
		t.Errorf("only the rules %q were found", all)
	}
	for _, name := range all {
		if strings.Contains(Rule(name), name) || Stop(loop.Violation(name)) != "ended "+Rule(name) {
			t.Errorf("why %s decided is not said", name)
		}
	}
	if said := Rule("new\x1b[2J one"); said != "by the rule new one" {
		t.Errorf("%q", said)
	}
	if said := Stop("new\x1b[2J one"); said != "new one" {
		t.Errorf("%q", said)
	}
}

// rules are the names of all rules, as the source has them.
func rules(t *testing.T) (all []string) {
	t.Helper()
	for _, pattern := range []string{"../../policy/*.go", "../../policy/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^(?:const|\t)\s*Rule\w* += "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
				all = append(all, m[1])
			}
		}
	}
	return all
}
