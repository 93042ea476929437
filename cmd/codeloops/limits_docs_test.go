package main

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/config"
	"codeloops/internal/loop"
	"codeloops/internal/policy/limits"
)

// TestLimitsDocs: the table of docs/limits.md agrees with the rules: their keys and defaults, the
// stop reasons and exit codes.
func TestLimitsDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defaults := map[string]string{}
	for _, e := range cfg.Entries() {
		key, value, _ := strings.Cut(e.String(), " = ")
		defaults[key] = value
	}
	want := []string{
		"allow_paths", "deny_paths", "deny_phrases", "max_files", "max_lines", "max_bytes",
		"no_new_dependencies", limits.RuleTamper,
	}
	var got []string
	row := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| `(policy\\.\\w+)` \\| `([^`]*)`.*\\| `([\\w:]+)` \\| (\\d) \\|$")
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
		reason := loop.StopReason(m[4])
		if is := defaults[m[2]]; is != m[3] && is != strconv.Quote(m[3]+"B") {
			t.Errorf("%s is %s by default, and %s in the table", m[2], is, m[3])
		}
		if reason != loop.Violation(m[1]) || strconv.Itoa(resultCode(reason.Result())) != m[5] {
			t.Errorf("%s ends with %s and exit code %d", m[1], loop.Violation(m[1]), resultCode(reason.Result()))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table has %q, want %q", got, want)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(convergence\\.\\w+)` \\| `([^`]*)` \\|").FindAllStringSubmatch(string(text), -1) {
		if defaults[m[1]] != m[2] {
			t.Errorf("%s is %s by default, and %s in the table", m[1], defaults[m[1]], m[2])
		}
		delete(defaults, m[1])
	}
	for key := range defaults {
		if strings.HasPrefix(key, "convergence.") {
			t.Errorf("docs/limits.md lacks %s", key)
		}
	}
}
