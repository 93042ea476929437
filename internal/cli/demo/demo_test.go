package demo

import (
	"slices"
	"strings"
	"testing"

	"codeloops/internal/strategy"
)

// TestEachStrategyHasAScene: every strategy has a demonstration.
func TestEachStrategyHasAScene(t *testing.T) {
	t.Parallel()
	entries, err := scenes.ReadDir("scenes")
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	for _, name := range strategy.Names() {
		if !slices.Contains(have, name) {
			t.Errorf("%s has no demonstration: write scenes/%s/scenario.toml and config.toml", name, name)
		}
	}
	for _, name := range have {
		if !slices.Contains(strategy.Names(), name) {
			t.Errorf("there is a demonstration of %s, which is not a strategy", name)
		}
	}
}

// TestEnviron: the demo ignores the user's configuration, but writes its logs to the usual place.
func TestEnviron(t *testing.T) {
	t.Parallel()
	got := NewStage("/stage").Environ([]string{
		"HOME=/home/u", "XDG_CONFIG_HOME=/home/u/config", "CODELOOPS_AGENT=claude", "CODELOOPS_STRATEGY_MAX_ATTEMPTS=1",
		"CODELOOPS_SESSION_DIR=/logs", "CODELOOPS_SESSION=x", "PATH=/bin",
	})
	const want = "HOME=/home/u|XDG_CONFIG_HOME=/home/u/config|CODELOOPS_SESSION_DIR=/logs|CODELOOPS_SESSION=x|PATH=/bin|XDG_CONFIG_HOME="
	if all := strings.Join(got, "|"); !strings.HasPrefix(all, want) || !strings.Contains(got[len(got)-1], "stage") {
		t.Errorf("got %s", all)
	}
}

// TestSlowed: where people watch, every pause of a scene is longer, and nothing else differs.
func TestSlowed(t *testing.T) {
	t.Parallel()
	got := string(slowed([]byte("step = [\n  { sleep = \"120ms\" },\n  { run = \"sh test.sh\" },\n  { sleep = \"1s\" },\n]")))
	if want := "step = [\n  { sleep = \"2.16s\" },\n  { run = \"sh test.sh\" },\n  { sleep = \"18s\" },\n]"; got != want {
		t.Errorf("got %s", got)
	}
}
