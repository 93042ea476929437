package loop_test

import (
	"fmt"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

func places(n int, what string) (all []loop.Place) {
	for i := range n {
		all = append(all, loop.Place{At: fmt.Sprintf("file%04d:%d", i, i), What: what})
	}
	return all
}

func TestOutline(t *testing.T) {
	t.Parallel()
	gone := loop.Concern{Text: "tests are gone", Places: []loop.Place{{At: "a:1", What: "TestA"}, {At: "b:2", What: "TestB"}, {At: "c:3", What: "TestA"}}}
	plain := loop.Concern{Text: "one of another rule"}
	for name, c := range map[string]struct {
		concerns []loop.Concern
		most     int
		want     string
		cut      bool
	}{
		"nothing": {},
		"all of it, the same things together": {
			[]loop.Concern{gone, plain},
			1 << 20,
			"tests are gone (3 places):\n- a:1, c:3: TestA\n- b:2: TestB\none of another rule\n", false,
		},
		"one place": {
			[]loop.Concern{{Text: "x", Places: places(1, "")}}, 1 << 20, "x (1 place):\n- file0000:0\n", false,
		},
		"names are counted": {
			[]loop.Concern{{Text: "quiet", Places: places(60, "`# noqa`")}},
			60,
			"quiet (60 places):\n- file0000:0, file0001:1, file0002:2 and 57 more: `# noqa`\n", true,
		},
		"no room at all": {
			[]loop.Concern{gone}, 0, "tests are gone (3 places):\n- a:1 and 1 more: TestA\n- and 1 more place\n", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, cut := loop.Outline(c.concerns, c.most)
			if got != c.want || cut != c.cut {
				t.Errorf("cut %t\n%s\nwant %t\n%s", cut, got, c.cut, c.want)
			}
		})
	}
}

// TestOutlineFlooded: very many places of one kind do not crowd out other concerns, or other places
// of the same concern.
func TestOutlineFlooded(t *testing.T) {
	t.Parallel()
	const most = 4 << 10
	few := loop.Place{At: "the_test.go:1", What: "gutted"}
	for name, flood := range map[string][]loop.Place{
		"the same":     places(3000, "`# noqa`"),
		"long names":   {{At: strings.Repeat("x", 4<<10), What: "y"}, {At: strings.Repeat("z", 4<<10), What: "y"}},
		"other things": {},
	} {
		if name == "other things" {
			for i := range 3000 {
				flood = append(flood, loop.Place{At: "f", What: fmt.Sprintf("marker %d", i)})
			}
		}
		all := []loop.Concern{{Text: "first", Places: flood}, {Text: "second", Places: []loop.Place{few}}, {Text: "third", Places: flood}}
		got, cut := loop.Outline(all, most)
		if !strings.Contains(got, "- the_test.go:1: gutted\n") || !strings.Contains(got, "third (") || !cut {
			t.Errorf("%s: %t\n%.3000s", name, cut, got)
		}
		if len(flood) > 100 && len(got) > most+most/4 {
			t.Errorf("%s: %d bytes of %d", name, len(got), most)
		}
		if n := strings.Count(loop.Listing(all), "\n"); n != 2*len(flood)+1+3 {
			t.Errorf("%s: the whole list has %d lines", name, n)
		}
	}
	one := loop.Concern{Text: "one", Places: append(places(3000, "`# noqa`"), few)}
	if got, _ := loop.Outline([]loop.Concern{one}, most); !strings.Contains(got, "- the_test.go:1: gutted\n") {
		t.Errorf("within one concern:\n%.3000s", got)
	}
	if got := one.Summary(200); len(got) > 300 || !strings.Contains(got, "gutted") || strings.Contains(got, "\n") {
		t.Errorf("the summary: %q", got)
	}
}
