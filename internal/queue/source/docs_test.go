package source

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDocumented: the examples in the documentation are read as it says.
func TestDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "queue-sources.md"))
	if err != nil {
		t.Fatal(err)
	}
	example := func(form string) string {
		found := regexp.MustCompile("(?s)```" + form + "\n(.*?)```\n").FindSubmatch(page)
		if found == nil {
			t.Fatalf("the page has no %s", form)
		}
		return string(found[1])
	}
	last := digest("document it")
	want := "T001 \"T001 add the type `Week`\" done\n" +
		`T002 "T002 make the parser accept ISO weeks\n\nwith tests; the format is described in docs/weeks.md\n\n- [ ] the first week of a year\n- [ ] years with 53 weeks"
T003 "T003 print them"
T004 "T004 add both to the command line" after T002,T003 priority 2
` + last + " \"document it\" after T002,T004\n"
	if got := listed(t, newChecklist(t, example("markdown"))); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	want = `US-001 "Accept ISO weeks\n\nAs a planner, I want to write 2026-W07 where a date is asked for.\n\nAcceptance criteria:\n\n- 2026-W07 is the Monday of that week\n- 2026-W54 is refused"
US-002 "Print ISO weeks" after US-001
`
	if got := listed(t, newStories(t, example("json"))); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct{ kind, name string }{
		{KindOf("a/TASKS.md"), filepath.Join(dir, "tasks.md")},
		{KindOf("a/prd.JSON"), filepath.Join(dir, "prd.json")},
		{"command", filepath.Join(dir, "tasks")},
	} {
		s, err := Open(c.kind, c.name, Means{Dir: dir})
		if err != nil || s.Kind() != c.kind || s.Name() != c.name {
			t.Errorf("%v: got %v, %v", c, s, err)
		}
	}
	if _, err := Open("carrier pigeon", "x", Means{}); err == nil || err.Error() != `tasks of the kind "carrier pigeon" are not known` {
		t.Errorf("got %v", err)
	}
}
