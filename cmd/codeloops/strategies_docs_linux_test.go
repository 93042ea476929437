package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"codeloops/internal/strategy"
)

// TestStrategiesPage: the page has a section for each strategy and its parameters, and its examples
// end as it says.
func TestStrategiesPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/strategies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range strategy.All() {
		_, part, ok := strings.Cut(string(page), "\n## "+k.Name+"\n")
		part, _, _ = strings.Cut(part, "\n## ")
		if !ok || !strings.Contains(string(page), "]("+"#"+k.Name+")") {
			t.Errorf("%s has no section", k.Name)
		}
		for _, p := range k.Parameters {
			key := p.Key
			if key == "max_turns" && k.Name != strategy.NameReAct || key == "base" && k.Name != strategy.NameSelfRefine {
				continue // described elsewhere
			}
			if !strings.Contains(part, "`"+key) {
				t.Errorf("%s: %s is not described", k.Name, key)
			}
		}
	}
	for name, shows := range map[string]string{
		strategy.NameReflexion: "thrown away: attempt_1",
		strategy.NameDebate:    "how alike the answers are: 0.35",
		strategy.NameReWOO:     "E2 = ask: With a line break",

		strategy.NameRouter:     "route: writer, confidence 0.90",
		strategy.NameSupervisor: "\n  I greet the world.\n",
		strategy.NameSwarm:      `handed over: writer to speller: {"file": "greeting"}`,
		strategy.NameBlackboard: "noted: writer: look at the spelling again",
		strategy.NamePlan:       "step done: 2. Write bye into the file farewell.",
	} {
		_, part, _ := strings.Cut(string(page), "\n## "+name+"\n")
		part, _, _ = strings.Cut(part, "\n## ")
		playsAsTold(t, part, shows)
	}
}

// playsAsTold plays the example of a section.
func playsAsTold(t *testing.T, part, shows string) {
	t.Helper()
	blocks := regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(part, 2)
	line := regexp.MustCompile(`(?m)^    ((?:CODELOOPS_\w+=\w+ )*)codeloops --agent scripted --script scenario.toml (.*) '(.*)'$`).FindStringSubmatch(part)
	if blocks == nil || line == nil {
		t.Fatalf("%s has no example", part)
	}
	s := newStage(t, blocks[len(blocks)-1][1])
	if len(blocks) > 1 {
		s.write("work/codeloops.toml", blocks[0][1])
	}
	var args []string
	for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line[2], -1) {
		args = append(args, strings.Trim(word, "'"))
	}
	cmd := s.codeloops(append(args, line[3])...)
	cmd.Env = append(cmd.Env, strings.Fields(line[1])...)
	out, err := cmd.CombinedOutput()
	text, _ := os.ReadFile(filepath.Join(s.dir, "work", "greeting"))
	if err != nil || string(text) != "hello\n" || !strings.Contains(string(out), shows) {
		t.Errorf("%v, %q\n%s", err, text, out)
	}
}
