package source

import (
	"bytes"
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// NewStories returns the source in a file of user stories, such as prd.json: a list of objects, either the whole document or a member of
// an object. A story has "id", "title" and "description", and "passes" or "status" says whether it is done.
//
//   - Where stories name those that they depend on, they come after these.
//   - Elsewhere a story comes after those with a lower "priority": 1 comes first. Of those without
//     one, each comes after the one above it.
//
// Stories are listed in the order of priority. Done sets "passes", and "status" where there is one; every other byte
// stays as it is.
func NewStories(path string) (*File, error) {
	path, err := filepath.Abs(path)
	return &File{path: path, kind: "prd", list: listStories, done: pass}, err
}

// The names that tools use for lists of stories, and for the stories that one depends on.
const (
	listNames   = "userStories user_stories stories tasks features requirements items"
	dependNames = "dependsOn depends_on dependencies blockedBy blocked_by"
)

// A story is an object in the list, with its place in the file.
type story struct {
	members map[string]jsontext.Value
	at      jsontext.Pointer
	key     string
}

// first returns the first member that has one of the names.
func (s *story) first(names string) jsontext.Value {
	for name := range strings.FieldsSeq(names) {
		if m, ok := s.members[name]; ok {
			return m
		}
	}
	return nil
}

// readStories finds the stories in a text.
func readStories(name string, text []byte) ([]*story, error) {
	text = bytes.TrimPrefix(text, []byte(mark))
	var whole jsontext.Value
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, jsonError(name, text, err)
	}
	list, at := whole, jsontext.Pointer("")
	var parts map[string]jsontext.Value
	_ = json.Unmarshal(whole, &parts) // a list has none
	for called := range strings.FieldsSeq(listNames) {
		if list.Kind() != '[' {
			list, at = parts[called], "/"+jsontext.Pointer(called)
		}
	}
	var members []map[string]jsontext.Value
	if err := json.Unmarshal(list, &members); err != nil && list.Kind() == '[' {
		return nil, hint.Errorf(`a story looks like {"id": "US-001", "title": "…", "passes": false}`, "%s has something among its stories that is none: %w", name, err)
	}
	if len(members) == 0 {
		return nil, hint.Errorf(`such a file looks like {"userStories": [{"id": "US-001", "title": "…", "passes": false}]}`,
			"%s has no user stories", name)
	}
	stories, numbers := make([]*story, len(members)), map[string]int{}
	for i, m := range members {
		s := &story{members: m, at: at + "/" + jsontext.Pointer(strconv.Itoa(i))}
		prompt := s.prompt()
		if stories[i] = s; prompt == "" {
			return nil, hint.Errorf(`give it a "title"`, "%s: story %d does not say what is to be done", name, i+1)
		}
		if s.key = strings.TrimSpace(textOf(m["id"])); s.key == "" {
			first, _, _ := strings.Cut(prompt, "\n")
			s.key = digest(strings.Join(strings.Fields(first), " "))
		}
		if first, twice := numbers[s.key]; twice {
			return nil, hint.Errorf(`give each an "id" of its own`, "%s: the stories %d and %d are both %s",
				name, first, i+1, wording.Quote(s.key, 80))
		}
		numbers[s.key] = i + 1
	}
	return stories, nil
}

// listStories returns the items in a text.
func listStories(name string, text []byte) ([]Item, error) {
	stories, err := readStories(name, text)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(stories, func(x, y *story) int { return cmp.Compare(x.rank(), y.rank()) })
	depend := slices.ContainsFunc(stories, func(s *story) bool { return s.first(dependNames) != nil })
	items := make([]Item, len(stories))
	var last, same []string // the stories of the previous priority, and of this one
	for i, s := range stories {
		rank := s.rank()
		if i > 0 && (rank != stories[i-1].rank() || math.IsInf(rank, 1)) {
			last, same = slices.Clip(same), nil
		}
		same = append(same, s.key)
		items[i] = Item{Key: s.key, Prompt: s.prompt(), After: last, Done: s.done()}
		if depend {
			items[i].After = listOf(s.first(dependNames))
		}
		if depend && !math.IsInf(rank, 1) { // otherwise After implies it
			items[i].Priority = -int(rank)
		}
	}
	return items, nil
}

// pass marks a story as done; it returns nil if it is done already.
func pass(name string, text []byte, key string) ([]byte, error) {
	stories, err := readStories(name, text)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(stories, func(s *story) bool { return s.key == key })
	if at < 0 {
		return nil, hint.Errorf("it was removed, or its id was changed; the file stays as it is",
			"%s has no story %s: %w", name, wording.Quote(key, 80), ErrGone)
	}
	s := stories[at]
	if s.done() {
		return nil, nil
	}
	text = slices.Clone(text)
	if s.status() != "" {
		text = s.set(text, "status", strconv.Quote(doneWord(stories)))
	}
	if s.passes() || s.status() == "" {
		text = s.set(text, "passes", "true")
	}
	return text, nil
}

// set sets a member of the story in the text. One that is new is the first one, formatted as that was.
func (s *story) set(text []byte, name, value string) []byte {
	bom := len(text) - len(bytes.TrimPrefix(text, []byte(mark)))
	d := jsontext.NewDecoder(bytes.NewReader(text[bom:]))
	begin := 0
	for _, err := d.ReadToken(); err == nil; _, err = d.ReadToken() {
		switch d.StackPointer() {
		case s.at:
			begin = cmp.Or(begin, bom+int(d.InputOffset()))
		case s.at + "/" + jsontext.Pointer(name):
			if was, err := d.ReadValue(); err == nil {
				end := bom + int(d.InputOffset())
				return slices.Replace(text, end-len(was), end, []byte(value)...)
			}
		}
	}
	inner := text[begin:]
	space := inner[:len(inner)-len(bytes.TrimLeft(inner, " \t\r\n"))]
	return slices.Insert(text, begin, []byte(string(space)+strconv.Quote(name)+": "+value+",")...)
}

// doneWord is the status that the file uses for done stories.
func doneWord(stories []*story) string {
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
func (s *story) done() bool {
	if s.passes() {
		return string(s.members["passes"]) == "true"
	}
	return isDone(s.status())
}

// passes reports whether a member says whether the story is done.
func (s *story) passes() bool {
	m := s.members["passes"]
	return m != nil && m.Kind() != '"' // a boolean, or null
}

// status is the word that says how far the story is; "" is none.
func (s *story) status() string {
	if m := s.members["status"]; m.Kind() == '"' {
		return textOf(m)
	}
	return ""
}

// rank is the story's priority, lowest first; infinite if there is none.
func (s *story) rank() float64 {
	rank, err := strconv.ParseFloat(textOf(s.members["priority"]), 64)
	if err != nil || math.IsNaN(rank) || math.Abs(rank) > 1e9 {
		return math.Inf(1)
	}
	return rank
}

// prompt is the text of the task.
func (s *story) prompt() string {
	title, text := strings.TrimSpace(textOf(s.first("title name"))), strings.TrimSpace(textOf(s.members["description"]))
	if title == "" {
		title, text, _ = strings.Cut(text, "\n")
	}
	parts := []string{title, strings.TrimSpace(text)}
	for _, list := range [][2]string{{"Acceptance criteria:", "acceptanceCriteria"}, {"Steps that show that it works:", "steps"}, {"Notes:", "notes"}} {
		if lines := listOf(s.members[list[1]]); len(lines) > 0 {
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
