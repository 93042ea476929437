package source

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
		_, says := s.first(dependNames)
		keys[i], depend = s.key, depend || says
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
		items[i].After = on.list()
		for _, key := range items[i].After {
			if err := known(fmt.Sprintf("%s, line %d: the story %s", name, s.line, s.key), key, keys); err != nil {
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
	type change struct {
		from, to int
		text     string
	}
	var changes []change
	if m, ok := s.passes(); ok {
		changes = append(changes, change{m.from, m.to, "true"})
	}
	if m, ok := s.status(); ok {
		changes = append(changes, change{m.from, m.to, strconv.Quote(doneWord(stories))})
	}
	if len(changes) == 0 { // adds a member, formatted as the first one is
		inner := text[s.from+1:]
		space := inner[:len(inner)-len(strings.TrimLeft(string(inner), " \t\r\n"))]
		changes = append(changes, change{s.end, s.end, "," + string(space) + `"passes": true`})
	}
	slices.SortFunc(changes, func(x, y change) int { return cmp.Compare(y.from, x.from) })
	out := string(text)
	for _, c := range changes {
		out = out[:c.from] + c.text + out[c.to:]
	}
	return []byte(out), nil
}

// doneWord is the status that the file uses for done stories.
func doneWord(stories []*story) string {
	for _, s := range stories {
		if m, ok := s.status(); ok && isDone(m.text()) {
			return m.text()
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
	if m, ok := s.passes(); ok {
		return string(m.raw) == "true"
	}
	m, _ := s.status()
	return isDone(m.text())
}

// passes returns the boolean member that says whether it is done.
func (s *story) passes() (m member, ok bool) {
	for name := range strings.FieldsSeq(passNames) {
		switch m = s.members[name]; string(m.raw) {
		case "true", "false", "null":
			return m, true
		}
	}
	return member{}, false
}

// status returns the textual member that says whether it is done.
func (s *story) status() (m member, ok bool) {
	m, ok = s.first(statusNames)
	return m, ok && (m.raw[0] == '"' || string(m.raw) == "null")
}

// rank is the story's priority, lowest first; infinite if there is none.
func (s *story) rank() float64 {
	m, _ := s.first("priority")
	word := strings.ToLower(m.text())
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
	title := strings.TrimSpace(m.text())
	m, _ = s.first("description details story")
	parts := []string{strings.TrimSpace(m.text())}
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
		if lines := m.list(); len(lines) > 0 {
			parts = append(parts, list.title+"\n\n- "+strings.Join(lines, "\n- "))
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n\n")
}

// text is a member's value as text.
func (m member) text() string {
	var text string
	if json.Unmarshal(m.raw, &text) == nil {
		return text
	}
	return string(m.raw)
}

// list is a member's value as a list. A criterion may be an object with its text and state.
func (m member) list() (texts []string) {
	var elements []json.RawMessage
	if json.Unmarshal(m.raw, &elements) != nil {
		elements = []json.RawMessage{m.raw}
	}
	for _, raw := range elements {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) == nil {
			for _, name := range []string{"description", "text", "criterion", "criteria", "title", "name", "statement"} {
				if said, ok := object[name]; ok {
					raw = said
					break
				}
			}
		}
		if text := strings.TrimSpace(member{raw: raw}.text()); text != "" {
			texts = append(texts, strings.ReplaceAll(text, "\n", "\n  "))
		}
	}
	return texts
}
