package transcript

import (
	"reflect"
	"testing"

	"codeloops/internal/loop"
)

// TestCounts: the counts of all models in a usage file are added up.
func TestCounts(t *testing.T) {
	t.Parallel()
	// Written by copilot 1.0.102, with a second model added.
	document := `{"totalUserRequests": 1, "modelMetrics": {
		"a": {"requests": {"count": 1, "cost": 0}, "usage": {"inputTokens": 1000, "outputTokens": 20, "cacheReadTokens": 300,
			"cacheWriteTokens": 70, "reasoningTokens": 5}},
		"b": {"usage": {"inputTokens": 1, "outputTokens": 2}}}, "currentModel": "a"}`
	for name, test := range map[string]struct {
		format, document string
		want             *loop.Tokens
	}{
		"two models":     {"copilot-json", document, &loop.Tokens{Input: 631, Output: 22, CacheRead: 300, CacheWrite: 70, Reasoning: 5}},
		"another format": {"codex-json", document, nil},
		"torn":           {"copilot-json", document[:90], nil},
		"nothing used":   {"copilot-json", `{"modelMetrics": {}}`, nil},
		"no object":      {"copilot-json", `[1]`, nil},
	} {
		if got := Counts(test.format, []byte(test.document)); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
