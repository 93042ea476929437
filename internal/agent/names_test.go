package agent

import "testing"

func TestIsName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"claude": true, "my-agent_2.0": true, "0": true,
		"": false, "-p": false, ".x": false, "_x": false, "a b": false, "a/b": false, "caf\u00e9": false, "a\n": false,
	} {
		if got := isName(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
