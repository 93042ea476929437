package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"codeloops/internal/wording/hint"
)

// written writes a file for a test.
func written(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		tb.Fatal(err)
	}
	return path
}

func newChecklist(tb testing.TB, text string) *File {
	tb.Helper()
	c, err := NewChecklist(written(tb, "tasks.md", text))
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// listed formats the items of a source for comparison: the key, the prompt, and all else that is set.
func listed(t *testing.T, s Source) string {
	t.Helper()
	items, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return said(items)
}

func said(items []Item) string {
	var out strings.Builder
	for _, item := range items {
		fmt.Fprintf(&out, "%s %q", item.Key, item.Prompt)
		if len(item.After) > 0 {
			fmt.Fprintf(&out, " after %s", strings.Join(item.After, ","))
		}
		if item.Priority != 0 {
			fmt.Fprintf(&out, " priority %d", item.Priority)
		}
		if item.Done {
			out.WriteString(" done")
		}
		out.WriteString("\n")
	}
	return out.String()
}

func TestChecklist(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"markers": {
			"# One\n\n- [ ] T001 a\n* [x] T002 b\n+ [X] T003 c\n1. [ ] T004 d\n2) [ ] T005 e\n",
			`T001 "T001 a"
T002 "T002 b" done
T003 "T003 c" done
T004 "T004 d" after T001
T005 "T005 e" after T004
`,
		},
		"done, and after one that is not": {
			"- [ ] T001 a\n  after: T002\n- [x] T002 b\n",
			`T001 "T001 a" after T002
T002 "T002 b" done
`,
		},
		"beside others": {
			"- [ ] T001 setup\n- [ ] T002 [P] [US1] model in src/a.py\n- [ ] [P] T003 other\n## Next\n- [ ] T004 join\n- [ ] T005 [P] last\n",
			`T001 "T001 setup"
T002 "T002 [US1] model in src/a.py" after T001
T003 "T003 other" after T001
T004 "T004 join" after T002,T003
T005 "T005 last" after T004
`,
		},
		"details": {
			"- [ ] T001 a\n  goes on\n\n  - a bullet\n    - [ ] a step\n  - [x] another\n\n  ```go\n  - [ ] T009 no item\n  \tx := 1\n  ```\n\nA paragraph of its own.\n- [ ] T002 b\n",
			`T001 "T001 a\n\ngoes on\n\n- a bullet\n  - [ ] a step\n- [x] another\n\n` + "```go\\n- [ ] T009 no item\\n  x := 1\\n```" + `"
T002 "T002 b" after T001
`,
		},
		"directives": {
			"- [ ] T001 a\n\n  Text.\n  priority: 3\n- [ ] T002 [P] b\n        after: T001 T003\n- [ ] T003 [P] c\n",
			`T001 "T001 a\n\nText." priority 3
T002 "T002 b" after T001,T003
T003 "T003 c" after T001
`,
		},
		"no items": {
			"- [ ] T001 a\n\n```\n- [ ] T010 in code\n```\n<!--\n- [ ] T011 in a comment\n-->\n~~~\n- [ ] T012\n```\n~~~\n> - [ ] T013 quoted\n\n- [ ]\n- []  x\n- [y] x\n[ ] x\n- [ ]x\n",
			`T001 "T001 a"
`,
		},
		"comments": {
			"- [ ] T001 a\n  <!-- hidden -->\n  seen\n  <!--\n  priority: 9\n  -->\n",
			`T001 "T001 a\n\nseen"
`,
		},
		"code that the item ends": {
			"- [ ] T001 a\n  ```\n  code\n- [ ] T002 b\n",
			`T001 "T001 a\n\n` + "```\\ncode" + `"
T002 "T002 b" after T001
`,
		},
		"below bullets": {
			"- Phase\n  - [ ] T001 a\n    more\n  - [ ] T002 b\n- Phase\n\t- [ ] T003 c\n\t\tmore\n",
			`T001 "T001 a\n\nmore"
T002 "T002 b" after T001
T003 "T003 c\n\nmore" after T002
`,
		},
		"IDs": {
			"- [ ] **T001**: bold\n- [ ] `AB-0002` code\n- [ ] T003: colon\n- [ ] UTF-8 is text\n",
			`T001 "**T001**: bold"
AB-0002 "` + "`AB-0002`" + ` code" after T001
T003 "T003: colon" after AB-0002
` + digest("UTF-8 is text") + ` "UTF-8 is text" after T003
`,
		},
		"ends of lines": {
			mark + "- [ ] T001 a\r\n  more\r\n- [x] T002 b",
			`T001 "T001 a\n\nmore"
T002 "T002 b" done
`,
		},
		"ticked too early": {
			"- [ ] T001 a\n- [x] T002 b\n- [x] T003 [P] c\n- [x] T004 [P] d\n- [ ] T005 e\n- [ ] T006 f\n",
			`T001 "T001 a"
T002 "T002 b" done
T003 "T003 c" done
T004 "T004 d" done
T005 "T005 e" after T001
T006 "T006 f" after T005
`,
		},
		"a priority that is no number": {
			"- [ ] T001 a\n  priority: high\n",
			`T001 "T001 a\n\npriority: high"
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := listed(t, newChecklist(t, c.text)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// TestKeysStay: editing a list does not change the keys of items whose text stays the same.
func TestKeysStay(t *testing.T) {
	t.Parallel()
	keys := func(text string) (keys []string) {
		for _, b := range boxes([]byte(text)) {
			keys = append(keys, b.Key)
		}
		slices.Sort(keys)
		return keys
	}
	want := keys("- [ ] Add a parser\n- [ ] Add a printer\n")
	for _, text := range []string{
		"- [x] Add a parser\n- [ ] Add a printer\n",
		"# New\n\n* [ ] Add a printer\n\n## Below\n\n  - [ ] [P] Add  a parser \n    with details\n    - [x] a step\n",
	} {
		if got := keys(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := keys("- [ ] Add a parser\n- [ ] Add a printer!\n"); slices.Equal(got, want) {
		t.Error("an item with another text has the same key")
	}
}

func TestChecklistRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no boxes":   {"# Notes\n\n- one\n", "is no checklist: it has no boxes"},
		"empty":      {"", "has no boxes"},
		"twice":      {"- [ ] a b\n\n- [x] a  b\n", `the items "a b" and "a b" cannot be told apart`},
		"same ID":    {"- [ ] T001 a\n- [ ] T001 b\n", `the items "T001 a" and "T001 b" cannot be told apart`},
		"binary":     {"- [ ] a\x00\n", "is not UTF-8 text"},
		"Latin-1":    {"- [ ] a\n- [ ] caf\xe9\n", "is not UTF-8 text"},
		"huge":       {strings.Repeat("- [ ] a\n", largest/8+1), "file is too large"},
		"after none": {"- [ ] T001 a\n  after: T002\n", `"T001 a" comes after "T002", which is none of the items`},
		"very many":  {many(most + 1), "has 5001 items"},
		"a NUL late": {"- [ ] a\n" + strings.Repeat("x", 1<<16) + "\x00", "is not UTF-8 text"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newChecklist(t, c.text).List(t.Context())
			if tip, ok := hint.Of(err); err == nil || !strings.Contains(err.Error(), c.want) || !ok || tip == "" {
				t.Errorf("got %v with hint %q, want %q", err, tip, c.want)
			}
		})
	}
	for name, path := range map[string]string{"not a regular file": t.TempDir(), "no such file": filepath.Join(t.TempDir(), "none.md")} {
		c, err := NewChecklist(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.List(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want %q", path, err, name)
		}
		if err := c.Done(t.Context(), "T001", Result{}); err == nil {
			t.Errorf("%s: no error from Done", path)
		}
	}
}

func many(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "- [ ] T%04d x\n", i)
	}
	return out.String()
}

// TestTick: ticking an item changes one character of the file; ticking it again changes nothing.
func TestTick(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"- [ ] T001 a\n- [ ] T002 b\n",
		mark + "# Täsks\r\n\r\n- [ ] T001 a\r\n\t* [ ] x\r\n1.  [ ] **T002** b",
	} {
		c := newChecklist(t, text)
		for range 2 {
			if err := c.Done(t.Context(), "T002", Result{}); err != nil {
				t.Fatal(err)
			}
		}
		at := strings.LastIndex(text, "[ ]") + 1
		got, err := os.ReadFile(c.Name())
		if err != nil || string(got) != text[:at]+"x"+text[at+1:] {
			t.Errorf("got %q, %v", got, err)
		}
		if info, err := os.Stat(c.Name()); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if err := c.Done(t.Context(), "T009", Result{}); !errors.Is(err, ErrGone) {
			t.Errorf("an item that is gone: got %v", err)
		}
		left, err := os.ReadDir(filepath.Dir(c.Name()))
		if err != nil || len(left) != 1 {
			t.Errorf("files left: %v, %v", left, err)
		}
	}
}

// TestTickThroughLink: a symbolic link stays a link, and its target is changed.
func TestTickThroughLink(t *testing.T) {
	t.Parallel()
	path := written(t, "tasks.md", "- [ ] T001 a\n")
	link := filepath.Join(t.TempDir(), "link.md")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	c, err := NewChecklist(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Done(t.Context(), "T001", Result{}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if to, linkErr := os.Readlink(link); err != nil || linkErr != nil || to != path || string(got) != "- [x] T001 a\n" {
		t.Errorf("got %q, %v; the link leads to %q, %v", got, err, to, linkErr)
	}
}

// TestTickTogether: items can be ticked concurrently.
func TestTickTogether(t *testing.T) {
	t.Parallel()
	const n = 20
	path := newChecklist(t, many(n)).Name()
	var ticking sync.WaitGroup
	for i := range n {
		ticking.Go(func() {
			c, err := NewChecklist(path)
			if err == nil {
				err = c.Done(context.Background(), fmt.Sprintf("T%04d", i), Result{})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	ticking.Wait()
	got, err := os.ReadFile(path)
	if want := strings.ReplaceAll(many(n), "[ ]", "[x]"); err != nil || string(got) != want {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestTickMeanwhile: what the user writes while an item is ticked is kept.
func TestTickMeanwhile(t *testing.T) {
	t.Parallel()
	c := newChecklist(t, "- [ ] T001 a\n")
	asked, ticks := 0, c.done
	c.done = func(text []byte, at int) ([]byte, error) {
		if asked++; asked == 1 {
			if err := os.WriteFile(c.Name(), []byte("A new line.\n\n- [ ] T001 a\n"), 0o600); err != nil {
				t.Error(err)
			}
		}
		return ticks(text, at)
	}
	err := c.Done(t.Context(), "T001", Result{})
	got, readErr := os.ReadFile(c.Name())
	if err != nil || readErr != nil || string(got) != "A new line.\n\n- [x] T001 a\n" {
		t.Errorf("got %q, %v, %v", got, err, readErr)
	}
}

// FuzzChecklist: in every text that can be read, ticking an item changes one byte and no other item.
func FuzzChecklist(f *testing.F) {
	for _, text := range []string{
		"- [ ] T001 a\n- [ ] T002 [P] b\n  - [ ] step\n  after: T001\n", mark + "1. [ ] a\r\n```\n- [ ] b\n```\n<!--\n- [ ] c\n-->\n* [x] d",
		"- x\n\t- [ ] y\n\t\tz\n", "- [ ] a\nlazy\n> q\n- [ ] \u00a0b\n", "- [ ] a\n  ~~~\n- [ ] b\n  ~~~\n- [ ] c\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		ticked(t, &File{path: "it", parse: checklist, done: tick}, text, 1)
	})
}

// ticked ticks each open item of a text. That changes no other item, and at most so many bytes; 0 is any number.
func ticked(t *testing.T, f *File, text []byte, most int) {
	t.Helper()
	before, err := f.items(text)
	if err != nil || check("it", before) != nil {
		return
	}
	for i, item := range before {
		done, err := f.Tick(text, item.Key, Result{})
		if err != nil || (done == nil) != item.Done {
			t.Fatalf("%s: %v, done %v", item.Key, err, item.Done)
		}
		if done == nil {
			continue
		}
		after, err := f.items(done)
		if err != nil {
			t.Fatal(err)
		}
		changed := 0
		for j := range min(len(text), len(done)) {
			if text[j] != done[j] {
				changed++
			}
		}
		if most > 0 && (changed != most || len(text) != len(done)) {
			t.Errorf("%s: %d bytes differ", item.Key, changed)
		}
		want := slices.Clone(before)
		want[i].Done = true
		for n := range want { // who waits for whom differs
			want[n].After, after[n].After = nil, nil
		}
		if !reflect.DeepEqual(after, want) {
			t.Errorf("%s: got\n%swant\n%s", item.Key, said(after), said(want))
		}
	}
}
