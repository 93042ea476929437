package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// TestStopReasons: the table of docs/ends.md lists every stop reason with its exit code, and each
// occurs in a script.
func TestStopReasons(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	for _, name := range scripts {
		seen.WriteString(text(t, name))
	}
	told := map[string]bool{}
	row := regexp.MustCompile("(?m)^\\|.*\\| ((?:`[\\w:]+`(?:, )?)+) \\| (\\d+) \\|$")
	_, table, _ := strings.Cut(text(t, "../../docs/ends.md"), "\n## What ends a run\n")
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		for reason := range strings.SplitSeq(m[1], ", ") {
			reason = strings.Trim(reason, "`")
			told[reason] = true
			if code := strconv.Itoa(resultCode(loop.StopReason(reason).Result())); code != m[2] {
				t.Errorf("%s ends with exit code %s, and in the table with %s", reason, code, m[2])
			}
			if !strings.Contains(seen.String(), `"stop_reason":"`+reason+`"`) {
				t.Errorf("no script ends with %s", reason)
			}
		}
	}
	constant := regexp.MustCompile(`Stop\w+ +StopReason = "(\w+)"`)
	for _, m := range constant.FindAllStringSubmatch(text(t, "../../internal/loop/outcome.go"), -1) {
		if !told[m[1]] {
			t.Errorf("the table lacks %s", m[1])
		}
	}
	violation := regexp.MustCompile("`(policy_violation:\\w+)`")
	for _, m := range violation.FindAllStringSubmatch(text(t, "../../docs/ends.md")+text(t, "../../docs/policy.md")+text(t, "../../docs/limits.md"), -1) {
		if !told[m[1]] {
			t.Errorf("the table lacks %s", m[1])
		}
	}
}

func text(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
