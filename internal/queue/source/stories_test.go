package source

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/wording/hint"
)

func newStories(t *testing.T, text string) *File {
	t.Helper()
	s, err := NewStories(written(t, "prd.json", text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// prd is a file as most tools write it.
const prd = `{
  "project": "Shop",
  "branchName": "ralph/cart",
  "userStories": [
    {
      "id": "US-002",
      "title": "Show the cart",
      "description": "As a buyer, I want to see what I buy.",
      "acceptanceCriteria": ["The cart lists items", "Typecheck passes"],
      "priority": 2,
      "passes": false,
      "notes": ""
    },
    {"id": "US-001", "title": "Add the table", "priority": 1, "passes": true},
    {"id": "US-003", "title": "Count items", "priority": 2,  "passes" :  false , "notes": "see US-002"}
  ],
  "n": 1.00
}
`

func TestStories(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"as most write it": {prd, `US-001 "Add the table" done
US-002 "Show the cart\n\nAs a buyer, I want to see what I buy.\n\nAcceptance criteria:\n\n- The cart lists items\n- Typecheck passes"
US-003 "Count items\n\nNotes:\n\n- see US-002"
`},
		"a bare list": {
			mark + `[{"category": "ui", "description": "User can send\nby pressing Enter", "steps": ["Open", "Send"], "passes": false}, {"description": "b", "passes": true}]`,
			digest("User can send") + ` "User can send\n\nby pressing Enter\n\nSteps that show that it works:\n\n- Open\n- Send"
` + digest("b") + ` "b" done
`,
		},
		"a status, and what is needed": {
			`{"stories": [{"id": 2, "name": "b", "priority": 7, "status": "in_progress", "dependsOn": [1]}, {"id": 1, "name": "a", "status": "Done", "dependsOn": []}]}`,
			`2 "b" after 1 priority -7
1 "a" done
`,
		},
		"criteria that are no texts": {
			`{"tasks": [{"id": "a", "title": "a", "priority": 2, "acceptanceCriteria": ["one", {"other": 1}]}, {"id": "b", "title": "b", "priority": "1", "passes": true}]}`,
			`b "b" done
a "a\n\nAcceptance criteria:\n\n- one\n- {\"other\": 1}"
`,
		},
		"none": {`{"userStories": [ {"title": "a"} ]}`, digest("a") + " \"a\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := listed(t, newStories(t, c.text)); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// TestPass: marking a story as done changes its state and not one byte more.
func TestPass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, key, want string }{
		"false":   {prd, "US-003", strings.Replace(prd, `"passes" :  false `, `"passes" :  true `, 1)},
		"done":    {prd, "US-001", prd},
		"BOM":     {mark + "[{\"id\": \"ä\", \"title\": \"a\", \"passes\": null}]\r\n", "ä", mark + "[{\"id\": \"ä\", \"title\": \"a\", \"passes\": true}]\r\n"},
		"status":  {`{"stories":[{"id":"a","title":"a","status":"open"},{"id":"b","title":"b","status":"completed"}]}`, "a", `{"stories":[{"id":"a","title":"a","status":"completed"},{"id":"b","title":"b","status":"completed"}]}`},
		"both":    {`[{"status":"todo","id":"a","title":"a","passes":false}]`, "a", `[{"status":"done","id":"a","title":"a","passes":true}]`},
		"a part":  {`[{"id":"a","title":"a","complete":40,"status":{"n":1}}]`, "a", `[{"id":"a","title":"a","complete":40,"status":{"n":1},"passes":true}]`},
		"neither": {"[\n  {\n    \"id\": \"a\",\n    \"title\": \"a\"\n  }\n]", "a", "[\n  {\n    \"id\": \"a\",\n    \"title\": \"a\",\"passes\":true\n  }\n]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStories(t, c.text)
			for range 2 {
				if err := s.Done(t.Context(), c.key, Result{}); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(s.Name()); err != nil || string(got) != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	if err := newStories(t, prd).Done(t.Context(), "US-009", Result{}); !errors.Is(err, ErrGone) {
		t.Errorf("got %v", err)
	}
}

func TestStoriesRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no JSON":     {"# Stories\n", "prd.json: it cannot be read as JSON: "},
		"a comma":     {"{\"ä\": 1,\n \"userStories\": [{\"id\" 1}]}", `within "/userStories/0/id" after offset 33`},
		"not whole":   {`{"userStories": [{"id": "a"`, "jsontext: unexpected EOF"},
		"more":        {`[{"title": "a"}] x`, "after offset 17"},
		"empty":       {"", "unexpected EOF"},
		"none":        {`{"stories": []}`, "has no list of user stories"},
		"another":     {`{"name": "shop"}`, "has no list of user stories"},
		"a number":    {`7`, "has no list of user stories"},
		"texts":       {"[\n\"a\"]", "has no list of user stories"},
		"says nought": {`[{"id": "a", "passes": false}]`, `the item "a" does not say what is to be done`},
		"twice":       {"[{\"id\": \"a\", \"title\": \"x\"},\n{\"id\": \"a\", \"title\": \"y\"}]", `the items "x" and "y" cannot be told apart`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newStories(t, c.text).List(t.Context())
			if tip, ok := hint.Of(err); err == nil || !strings.Contains(err.Error(), c.want) || !ok || tip == "" {
				t.Errorf("got %v with hint %q, want %q", err, tip, c.want)
			}
		})
	}
}

// FuzzStories: in every text that can be read, marking a story as done changes no other story.
func FuzzStories(f *testing.F) {
	f.Add([]byte(prd))
	f.Add([]byte(`[{"status":"todo","id":"a","title":"a","dependsOn":["b"]},{"title":"b"}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		ticked(t, &File{path: "it", parse: listStories, done: pass}, text, 0)
	})
}

// TestChangedWhileWorkedOn: an item is not marked as done if its text has changed since, but for ticked steps.
func TestChangedWhileWorkedOn(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"prd.json": `[{"id": "T001", "title": "T001 write", "description": "in red"}]`,
		"tasks.md": "- [ ] T001 write\n\n  in red\n  - [x] a step\n",
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		from, err := Open(KindOf(name), file, Means{})
		if err != nil {
			t.Fatal(err)
		}
		items, err := from.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = from.Done(t.Context(), "T001", Result{Task: "t001", Prompt: strings.Replace(items[0].Prompt, "red", "blue", 1)})
		if got, _ := os.ReadFile(file); !errors.Is(err, ErrChanged) || string(got) != text {
			t.Errorf("%s: %v, and the file is %q", name, err, got)
		}
		err = from.Done(t.Context(), "T001", Result{Task: "t001", Prompt: strings.Replace(items[0].Prompt, "[x]", "[ ]", 1)})
		if got, _ := os.ReadFile(file); err != nil || string(got) == text {
			t.Errorf("%s: %v, and the file is %q", name, err, got)
		}
	}
}
