package source

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// NewChecklist returns the source in a Markdown file. Each box in a list, at any heading, is an item:
//
//   - Text below a box that is indented more than its marker belongs to the item, and so do boxes
//     there: they are steps of one task. Boxes in fenced code, comments and quotations are no items.
//     Comments on lines of their own are left out of prompts.
//   - An item comes after all items above it. One with [P] behind its box or its ID only comes
//     after the last one above it without [P].
//   - "after: KEY…" and "priority: N" on lines of their own in the
//     indented text are read, and taken out of the prompt.
//   - The key of an item is the ID that its text begins with, such as T001: capitals, and at least
//     three digits. Without one it is a digest of its first line. Its place, its box, its [P] and
//     its details play no part.
//
// Done ticks the box: it changes one character.
func NewChecklist(path string) (*File, error) {
	path, err := filepath.Abs(path)
	return &File{path: path, kind: "checklist", list: checklist, done: tick}, err
}

// tick ticks the box with a key; it returns nil if it is ticked already.
func tick(name string, text []byte, key string) ([]byte, error) {
	found, err := keyed(name, findBoxes(text))
	if err != nil {
		return nil, err
	}
	b, ok := found[key]
	switch {
	case !ok:
		which := "this item"
		if idForm().MatchString(key) {
			which = "the item " + key
		}
		return nil, hint.Errorf("it was removed, or its text was changed; its box stays as it is", "%s no longer has %s: %w", name, which, ErrGone)
	case b.ticked:
		return nil, nil
	}
	text = slices.Clone(text)
	text[b.at] = 'x'
	return text, nil
}

// checklist returns the items in a text.
func checklist(name string, text []byte) ([]Item, error) {
	found := findBoxes(text)
	switch {
	case len(found) == 0:
		return nil, hint.Errorf("write each task on a line of its own, such as: - [ ] Add a test for the parser",
			"%s is no checklist: it has no boxes", name)
	case len(found) > most:
		return nil, hint.Errorf("take out what is done, or split it", "%s has %d items, more than the %d that a checklist may have",
			name, len(found), most)
	}
	if _, err := keyed(name, found); err != nil {
		return nil, err
	}
	items := ordered(found)
	for i, b := range found {
		if b.priority == "" {
			continue
		}
		n, err := strconv.Atoi(b.priority)
		if err != nil {
			return nil, hint.Errorf("write a whole number; higher ones come first", "%s, line %d: this item has the priority %s, which is no number",
				name, b.line, wording.Quote(b.priority, 40))
		}
		items[i].Priority = n
	}
	return items, nil
}

// ordered turns boxes into items. Transitive dependencies are left out.
func ordered(found []*box) []Item {
	var last, beside []string // the last item without [P], and those with [P] after it
	items := make([]Item, len(found))
	for i, b := range found {
		key, before := b.key(), last
		switch {
		case b.beside:
			beside = append(beside, key)
		default:
			if len(beside) > 0 {
				before = beside
			}
			last, beside = []string{key}, nil
		}
		after := slices.Clone(before)
		for _, key := range b.after {
			if !slices.Contains(after, key) {
				after = append(after, key)
			}
		}
		items[i] = Item{Key: key, Prompt: b.prompt(), After: after, Done: b.ticked}
	}
	return items
}

// key is the item's key.
func (b *box) key() string {
	if b.id != "" {
		return b.id
	}
	return digest(strings.Join(strings.Fields(b.title), " "))
}

// digest is a short hash of a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// keyed indexes boxes by key, and rejects duplicates.
func keyed(name string, found []*box) (map[string]*box, error) {
	boxes := make(map[string]*box, len(found))
	for _, b := range found {
		first, twice := boxes[b.key()]
		if !twice {
			boxes[b.key()] = b
			continue
		}
		what, tip := "same text", "say it differently, or begin each with an ID of its own, such as T001"
		if b.id != "" {
			what, tip = "same ID, "+b.id, "give each an ID of its own, or begin one with another word"
		}
		return nil, hint.Errorf(tip, "%s: the items in lines %d and %d have the %s", name, first.line, b.line, what)
	}
	return boxes, nil
}
