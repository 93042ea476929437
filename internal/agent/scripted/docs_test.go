package scripted

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func documentation(tb testing.TB) string {
	tb.Helper()
	page, err := os.ReadFile("../../../docs/scripted-agent.md")
	if err != nil {
		tb.Fatal(err)
	}
	return string(page)
}

// documentedScenarios returns the examples on the page.
func documentedScenarios(tb testing.TB) []string {
	tb.Helper()
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)```toml\n(.*?)```").FindAllStringSubmatch(documentation(tb), -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) < 4 {
		tb.Fatalf("only %d examples found", len(blocks))
	}
	return blocks
}

func TestDocumentedScenariosParse(t *testing.T) {
	t.Parallel()
	for _, block := range documentedScenarios(t) {
		if _, err := parse("scripted-agent.md", []byte(block)); err != nil {
			t.Errorf("%v in:\n%s", err, block)
		}
	}
}

// asked returns the keys that read requests from a table.
func asked(read func(*table)) []string {
	t := &table{source: &source{}}
	read(t)
	return t.asked
}

// rows returns the cells of each row of the table in a section.
func rows(page, section string) [][]string {
	_, text, _ := strings.Cut(page, "\n## "+section+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var out [][]string
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `") {
			out = append(out, cells)
		}
	}
	return out
}

var documentedKey = regexp.MustCompile("`([a-z_]+)(?: = [^`]*)?`")

func documentedKeys(cell string) []string {
	var keys []string
	for _, m := range documentedKey.FindAllStringSubmatch(cell, -1) {
		keys = append(keys, m[1])
	}
	return keys
}

func TestEveryKeyIsDocumented(t *testing.T) {
	t.Parallel()
	page := documentation(t)
	for section, read := range map[string]func(*table){
		"The file": func(t *table) { readScenario(t) },
		"A turn":   func(t *table) { readTurn(t); readTurns(t, "again", true) },
	} {
		var got []string
		for _, cells := range rows(page, section) {
			got = append(got, documentedKeys(cells[0])...)
		}
		want := asked(read)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: documented are %v, read are %v", section, got, want)
		}
	}

	got, want := map[string]string{}, map[string]string{}
	var order []string
	for _, cells := range rows(page, "A step") {
		action := documentedKeys(cells[0])[0]
		order = append(order, action)
		got[action] = strings.Join(documentedKeys(cells[1]), " ")
	}
	for i, a := range actions() {
		options := asked(func(t *table) { a.read(t) })
		options = slices.DeleteFunc(options, func(key string) bool { return key == a.key })
		want[a.key] = strings.Join(options, " ")
		if i < len(order) && order[i] != a.key {
			t.Errorf("row %d documents %s, not %s", i+1, order[i], a.key)
		}
	}
	for key := range want {
		if g, ok := got[key]; !ok || g != want[key] {
			t.Errorf("%s: documented options are %q, read are %q", key, g, want[key])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d actions are documented, there are %d", len(got), len(want))
	}
}
