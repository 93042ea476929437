package checkpoint

import (
	"maps"
	"strings"
	"testing"
)

// TestSetup: the setup in a checkpoint's message can be read back, and the caller's part
// of the message cannot forge it.
func TestSetup(t *testing.T) {
	t.Parallel()
	for message, setup := range map[string]map[string]string{
		"old":                             nil,
		"no settings\n":                   {},
		"one":                             {"core.autocrlf": Digest("input")},
		"odd\n\n" + setUpKnown + "\nmore": {"filter.\x1b\n.clean": Digest("a"), `a "b"`: Digest(""), "ü": Digest("\n")},
	} {
		text := (&Checkpoint{Message: message, Setup: setup}).message(nil)
		got := parseSetup("\n" + text + "\nLeft-out: and so on\n")
		if !maps.Equal(got, setup) || (got == nil) != (setup == nil) {
			t.Errorf("%q is read as %v", text, got)
		}
		if !strings.HasPrefix(text, strings.SplitN(message, "\n", 2)[0]+"\n") {
			t.Errorf("%q for %q", text, message)
		}
	}
	if got := parseSetup((&Checkpoint{Message: setUpKnown + "\n" + setUp + Digest("") + ` "a"`}).message(nil)); got != nil {
		t.Errorf("a message is read as %v", got)
	}
}

func FuzzParseSetup(f *testing.F) {
	f.Add((&Checkpoint{Setup: map[string]string{"a": Digest("b"), "c\n": Digest("")}}).message(nil))
	f.Add("\n" + setUpKnown + "\n" + setUp + "x \"\n" + setUp + "\n")
	f.Fuzz(func(t *testing.T, message string) {
		setup := parseSetup(message)
		for _, digest := range setup {
			if strings.Contains(digest, "\n") {
				t.Errorf("%q", digest)
			}
		}
	})
}
