package wording_test

import (
	"strings"
	"testing"

	"codeloops/internal/wording"
)

func TestName(t *testing.T) {
	t.Parallel()
	repeat := strings.Repeat
	for name, want := range map[string]string{
		"":                                  "",
		"d/a file":                          "d/a file",
		"d/é":                               "d/é",
		"d\n/\x1b\"":                        `"d\n/\x1b\""`,
		"d\xff":                             `"d\xff"`,
		repeat("d/", 128):                   repeat("d/", 128),
		repeat("d/", 5000) + "f":            repeat("d/", 62) + "…" + repeat("/d", 61) + "/f",
		"a" + repeat("é", 5000):             "a" + repeat("é", 61) + "…" + repeat("é", 62),
		repeat("é", 5000) + "b":             repeat("é", 62) + "…" + repeat("é", 62) + "b",
		repeat("d", 300) + "\n":             `"` + repeat("d", 124) + "…" + repeat("d", 123) + `\n"`,
		repeat("\xbf", 300):                 `"` + repeat(`\xbf`, 124) + "…" + repeat(`\xbf`, 124) + `"`,
		repeat("x", 123) + repeat("🙂", 100): repeat("x", 123) + "…" + repeat("🙂", 31),
	} {
		if got := wording.Name(name); got != want {
			t.Errorf("%.20q… of %d bytes:\n%s\nwant\n%s", name, len(name), got, want)
		}
	}
}

// TestFile: the path of a file is shown as it is, unless it contains anything but printable characters.
func TestFile(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		`C:\logs\a "b".jsonl`: `C:\logs\a "b".jsonl`,
		"/logs/a\n/b":         `"/logs/a\n/b"`,
		"/logs/\xff":          `"/logs/\xff"`,
		"/logs/\u202eb":       `"/logs/\u202eb"`,
	} {
		if got := wording.OSPath(path); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}
