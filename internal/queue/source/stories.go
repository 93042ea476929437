package source

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"codeloops/internal/wording/hint"
)

// NewStories returns the source in a file of user stories, such as prd.json: a list of objects, either the whole document or a member of
// an object. A story has "id", "title" and "description", and "passes" or "status" says whether it is done.
//
//   - Where stories name those that they depend on, they come after these.
//   - Elsewhere a story comes after those with a lower "priority": 1 comes first. Of those without
//     one, each comes after the one above it.
//
// Only open stories are waited for. Stories are listed in the order of priority. Done sets "passes", and "status" where there is
// one; all else stays as it is.
func NewStories(path string) (*File, error) {
	path, err := filepath.Abs(path)
	return &File{path: path, kind: "prd", parse: listStories, done: pass}, err
}

// The names that tools use for lists of stories, and for the stories that one depends on.
const (
	listNames   = "userStories user_stories stories tasks features requirements items"
	dependNames = "dependsOn depends_on dependencies blockedBy blocked_by"
)

// A story is an object in the list.
type story map[string]jsontext.Value

// first returns the first member that has one of the names.
func (s story) first(names string) jsontext.Value {
	for name := range strings.FieldsSeq(names) {
		if m, ok := s[name]; ok {
			return m
		}
	}
	return nil
}

// readStories finds the stories in a text, and where their list is.
func readStories(text []byte) (stories []story, at string, err error) {
	var list jsontext.Value
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, "", notJSON(err)
	}
	var parts story
	_ = json.Unmarshal(list, &parts) // a list has none
	for called := range strings.FieldsSeq(listNames) {
		if list.Kind() != '[' {
			list, at = parts[called], "/"+called
		}
	}
	if err := json.Unmarshal(list, &stories); err != nil || len(stories) == 0 {
		return nil, "", hint.Errorf(`such a file looks like {"userStories": [{"id": "US-001", "title": "…", "passes": false}]}`,
			"it has no list of user stories")
	}
	return stories, at, nil
}

// listStories returns the items in a text.
func listStories(text []byte) ([]Item, error) {
	stories, _, err := readStories(text)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(stories))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(stories[x].rank(), stories[y].rank()) })
	depend := slices.ContainsFunc(stories, func(s story) bool { return s.first(dependNames) != nil })
	items := make([]Item, len(stories))
	var last, same []string // the open stories of the previous priority, and of this one
	before := math.Inf(-1)
	for i, at := range order {
		s := stories[at]
		item := Item{Prompt: s.prompt(), Done: s.done(), at: at}
		title, _, _ := strings.Cut(item.Prompt, "\n")
		item.Key = cmp.Or(strings.TrimSpace(textOf(s["id"])), digest(title))
		rank := s.rank()
		if len(same) > 0 && (rank != before || math.IsInf(rank, 1)) {
			last, same = same, nil
		}
		switch {
		case depend:
			item.After = listOf(s.first(dependNames))
			if !math.IsInf(rank, 1) { // otherwise After implies it
				item.Priority = -int(rank)
			}
		case !item.Done:
			item.After = last
		}
		if before = rank; !item.Done {
			same = append(same, item.Key)
		}
		items[i] = item
	}
	return items, nil
}

// pass marks a story as done.
func pass(text []byte, at int) ([]byte, error) {
	stories, list, err := readStories(text)
	if err != nil {
		return nil, err
	}
	s, path := stories[at], fmt.Sprintf("%s/%d/", list, at)
	set := func(name string, value any) map[string]any {
		return map[string]any{"op": "add", "path": path + name, "value": value}
	}
	var patch []map[string]any
	if s.status() != "" {
		patch = append(patch, set("status", doneWord(stories)))
	}
	if s["passes"] != nil || s.status() == "" {
		patch = append(patch, set("passes", true))
	}
	changes, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	whole, err := hujson.Parse(text)
	if err == nil {
		err = whole.Patch(changes)
	}
	return whole.Pack(), err
}

// doneWord is the status that the file uses for done stories.
func doneWord(stories []story) string {
	for _, s := range stories {
		if isDone(s.status()) {
			return s.status()
		}
	}
	return "done"
}

// isDone reports whether a status means done.
func isDone(status string) bool {
	return slices.Contains(strings.Fields("done complete completed closed passed passes merged verified"), strings.ToLower(status))
}

// done reports whether the story is done.
func (s story) done() bool {
	if kind := s["passes"].Kind(); kind == 't' || kind == 'f' {
		return kind == 't'
	}
	return isDone(s.status())
}

// status is the word that says how far the story is; "" is none.
func (s story) status() string {
	if m := s["status"]; m.Kind() == '"' {
		return textOf(m)
	}
	return ""
}

// rank is the story's priority, lowest first; infinite if there is none.
func (s story) rank() float64 {
	rank, err := strconv.ParseFloat(textOf(s["priority"]), 64)
	if err != nil || math.IsNaN(rank) || math.Abs(rank) > 1e9 {
		return math.Inf(1)
	}
	return rank
}

// prompt is the text of the task.
func (s story) prompt() string {
	title, text := strings.TrimSpace(textOf(s.first("title name"))), strings.TrimSpace(textOf(s["description"]))
	if title == "" {
		title, text, _ = strings.Cut(text, "\n")
	}
	parts := []string{title, strings.TrimSpace(text)}
	for _, list := range [][2]string{{"Acceptance criteria:", "acceptanceCriteria"}, {"Steps that show that it works:", "steps"}, {"Notes:", "notes"}} {
		if lines := listOf(s[list[1]]); len(lines) > 0 {
			parts = append(parts, list[0]+"\n\n- "+strings.Join(lines, "\n- "))
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n\n")
}

// textOf is a value as text.
func textOf(m jsontext.Value) string {
	var text string
	if json.Unmarshal(m, &text) == nil {
		return text
	}
	return string(m)
}

// listOf is a value as a list.
func listOf(m jsontext.Value) (texts []string) {
	var elements []jsontext.Value
	if json.Unmarshal(m, &elements) != nil {
		elements = []jsontext.Value{m}
	}
	for _, raw := range elements {
		if text := strings.TrimSpace(textOf(raw)); text != "" {
			texts = append(texts, strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	return texts
}
