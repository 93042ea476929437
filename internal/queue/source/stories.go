package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
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
// an object. A story has "id", "title" and "description", and "passes" or "status" says whether it is done; other
// tools' names for these are understood as well.
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

// The names that tools use for a story's members, and for lists of stories.
const (
	listNames   = "userStories user_stories stories tasks features requirements items"
	passNames   = "passes passed completed complete done"
	statusNames = "status state"
	titleNames  = "title name summary"
	dependNames = "dependsOn depends_on dependencies blockedBy blocked_by"
)

// A story is an object in the list, with its place in the file.
type story struct {
	members map[string]jsontext.Value
	at      jsontext.Pointer
	key     string
	number  int
}

// first returns the first member that has one of the names, and that name.
func (s *story) first(names string) (m jsontext.Value, name string) {
	for name := range strings.FieldsSeq(names) {
		if m, ok := s.members[name]; ok {
			return m, name
		}
	}
	return nil, ""
}

// readStories finds the stories in a text.
func readStories(name string, text []byte) ([]*story, error) {
	text = bytes.TrimPrefix(text, []byte(mark))
	var whole any // a whole file is JSON, whatever it holds
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, jsonError(name, text, err)
	}
	list, at := jsontext.Value(text), jsontext.Pointer("")
	if _, is := whole.(map[string]any); is {
		var parts map[string]jsontext.Value
		_ = json.Unmarshal(text, &parts) // it is JSON
		for called := range strings.FieldsSeq(listNames) {
			if list.Kind() != '[' {
				list, at = parts[called], "/"+jsontext.Pointer(called)
			}
		}
	}
	var members []map[string]jsontext.Value
	if err := json.Unmarshal(list, &members); err != nil && list.Kind() == '[' {
		return nil, hint.Errorf(`a story looks like {"id": "US-001", "title": "…", "passes": false}`, "%s has something among its stories that is none: %w", name, err)
	}
	switch {
	case len(members) == 0:
		return nil, hint.Errorf(`such a file looks like {"userStories": [{"id": "US-001", "title": "…", "passes": false}]}`,
			"%s has no user stories", name)
	case len(members) > most:
		return nil, hint.Errorf("take out what is done, or split it", "%s has %d stories, more than the %d that it may have",
			name, len(members), most)
	}
	stories, numbers := make([]*story, len(members)), map[string]int{}
	for i, m := range members {
		s := &story{members: m, at: at + "/" + jsontext.Pointer(strconv.Itoa(i)), number: i + 1}
		if stories[i] = s; s.prompt() == "" {
			return nil, hint.Errorf(`give it a "title"`, "%s: story %d does not say what is to be done", name, s.number)
		}
		id, _ := s.first("id key")
		if s.key = strings.TrimSpace(textOf(id)); s.key == "" {
			said, _ := s.first(titleNames + " description")
			s.key = digest(strings.Join(strings.Fields(textOf(said)), " "))
		}
		if first, twice := numbers[s.key]; twice {
			return nil, hint.Errorf(`give each an "id" of its own`, "%s: the stories %d and %d are both %s",
				name, first, s.number, wording.Quote(s.key, 80))
		}
		numbers[s.key] = s.number
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
	keys := make([]string, len(stories))
	depend := false
	for i, s := range stories {
		on, _ := s.first(dependNames)
		keys[i], depend = s.key, depend || on != nil
	}
	items := make([]Item, len(stories))
	var last, same []string // the stories of the previous priority, and of this one
	for i, s := range stories {
		if i > 0 && (s.rank() != stories[i-1].rank() || math.IsInf(s.rank(), 1)) {
			last, same = slices.Clip(same), nil
		}
		same = append(same, s.key)
		items[i] = Item{Key: s.key, Prompt: s.prompt(), After: last, Done: s.done()}
		if !depend {
			continue
		}
		if rank := s.rank(); !math.IsInf(rank, 1) { // otherwise After implies it
			items[i].Priority = -int(rank)
		}
		on, _ := s.first(dependNames)
		items[i].After = listOf(on)
		for _, key := range items[i].After {
			if err := known(fmt.Sprintf("%s: the story %s", name, s.key), key, keys); err != nil {
				return nil, err
			}
		}
	}
	return items, inOrder(name, items)
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
	_, passes := s.passes()
	_, status := s.status()
	from, members := s.spans(bytes.TrimPrefix(text, []byte(mark)))
	out := string(text)
	shift := len(text) - len(bytes.TrimPrefix(text, []byte(mark)))
	for _, m := range slices.Backward(members) {
		value := "true"
		switch {
		case m.name == status:
			value = strconv.Quote(doneWord(stories))
		case m.name != passes:
			continue
		}
		out = out[:shift+m.from] + value + out[shift+m.to:]
	}
	if passes+status == "" { // adds a member, formatted as the first one is
		last, inner := shift+members[len(members)-1].to, out[shift+from:]
		space := inner[:len(inner)-len(strings.TrimLeft(inner, " \t\r\n"))]
		out = out[:last] + "," + space + `"passes": true` + out[last:]
	}
	return []byte(out), nil
}

// A span is where the value of a member lies in a text.
type span struct {
	name     string
	from, to int
}

// spans returns where the members of the story begin, and where their values are. The text has the story.
func (s *story) spans(text []byte) (begin int, members []span) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for d.StackPointer() != s.at {
		if _, err := d.ReadToken(); err != nil {
			return 0, nil
		}
	}
	begin = int(d.InputOffset())
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		called := name.String() // invalid after the next token
		value, e := d.ReadValue()
		if errors.Join(err, e) != nil {
			break
		}
		end := int(d.InputOffset())
		members = append(members, span{called, end - len(value), end})
	}
	return begin, members
}

// doneWord is the status that the file uses for done stories.
func doneWord(stories []*story) string {
	for _, s := range stories {
		if m, _ := s.status(); isDone(textOf(m)) {
			return textOf(m)
		}
	}
	return "done"
}

// isDone reports whether a status means done.
func isDone(status string) bool {
	switch strings.ToLower(status) {
	case "done", "complete", "completed", "closed", "passed", "passes", "merged", "verified":
		return true
	}
	return false
}

// done reports whether the story is done.
func (s *story) done() bool {
	if m, name := s.passes(); name != "" {
		return string(m) == "true"
	}
	m, _ := s.status()
	return isDone(textOf(m))
}

// passes returns the boolean member that says whether it is done, and its name.
func (s *story) passes() (m jsontext.Value, name string) {
	for name := range strings.FieldsSeq(passNames) {
		switch m = s.members[name]; string(m) {
		case "true", "false", "null":
			return m, name
		}
	}
	return nil, ""
}

// status returns the textual member that says whether it is done, and its name.
func (s *story) status() (m jsontext.Value, name string) {
	m, name = s.first(statusNames)
	if kind := m.Kind(); kind != '"' && kind != 'n' {
		return nil, ""
	}
	return m, name
}

// rank is the story's priority, lowest first; infinite if there is none.
func (s *story) rank() float64 {
	m, _ := s.first("priority")
	word := strings.ToLower(textOf(m))
	if at := slices.Index([]string{"critical", "high", "medium", "low"}, word); at >= 0 {
		return float64(at)
	}
	rank, err := strconv.ParseFloat(strings.TrimPrefix(word, "p"), 64)
	if err != nil || math.IsNaN(rank) || math.Abs(rank) > 1e9 {
		return math.Inf(1)
	}
	return rank
}

// prompt is the text of the task.
func (s *story) prompt() string {
	m, _ := s.first(titleNames)
	title := strings.TrimSpace(textOf(m))
	m, _ = s.first("description details story")
	parts := []string{strings.TrimSpace(textOf(m))}
	if title == "" {
		title, parts[0], _ = strings.Cut(parts[0], "\n")
		parts[0] = strings.TrimSpace(parts[0])
	}
	parts = slices.Insert(parts, 0, title)
	for _, list := range []struct {
		title, names string
	}{
		{"Acceptance criteria:", "acceptanceCriteria acceptance_criteria acceptance criteria"},
		{"Steps that show that it works:", "steps"},
		{"Notes:", "notes"},
	} {
		m, _ := s.first(list.names)
		if lines := listOf(m); len(lines) > 0 {
			parts = append(parts, list.title+"\n\n- "+strings.Join(lines, "\n- "))
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

// listOf is a value as a list. A criterion may be an object with its text and state.
func listOf(m jsontext.Value) (texts []string) {
	var elements []jsontext.Value
	if json.Unmarshal(m, &elements) != nil {
		elements = []jsontext.Value{m}
	}
	for _, raw := range elements {
		var object map[string]jsontext.Value
		if json.Unmarshal(raw, &object) == nil {
			for _, name := range []string{"description", "text", "criterion", "criteria", "title", "name", "statement"} {
				if said, ok := object[name]; ok {
					raw = said
					break
				}
			}
		}
		if text := strings.TrimSpace(textOf(raw)); text != "" {
			texts = append(texts, strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	return texts
}
