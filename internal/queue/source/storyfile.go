package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// The names that tools use for a story's members, and for lists of stories.
const (
	listNames   = "userStories user_stories stories tasks features requirements items"
	passNames   = "passes passed completed complete done"
	statusNames = "status state"
	titleNames  = "title name summary"
	dependNames = "dependsOn depends_on dependencies blockedBy blocked_by"
)

// A story is an object in the list, with its position.
type story struct {
	key     string
	line    int
	from    int // offset of its brace
	end     int // offset after its last member
	members map[string]member
}

// A member is a value with its position.
type member struct {
	raw      []byte
	from, to int
}

// first returns the first member that has one of the names.
func (s *story) first(names string) (m member, ok bool) {
	for name := range strings.FieldsSeq(names) {
		if m, ok = s.members[name]; ok {
			return m, true
		}
	}
	return m, false
}

// readStories finds the stories in a text.
func readStories(name string, text []byte) ([]*story, error) {
	base := len(text) - len(bytes.TrimPrefix(text, []byte(mark)))
	r := storyReader{name: name, text: text, base: base, json: jsontext.NewDecoder(bytes.NewReader(text[base:]))}
	err := r.read()
	if err == nil {
		if _, err = r.json.ReadToken(); errors.Is(err, io.EOF) {
			err = nil
		}
	}
	switch {
	case err != nil:
		return nil, jsonError(name, text[base:], err)
	case r.found == nil:
		return nil, hint.Errorf(`such a file looks like {"userStories": [{"id": "US-001", "title": "…", "passes": false}]}`,
			"%s has no user stories", name)
	case len(r.found) > most:
		return nil, hint.Errorf("take out what is done, or split it", "%s has %d stories, more than the %d that it may have",
			name, len(r.found), most)
	}
	lines := map[string]int{}
	for _, s := range r.found {
		if s.prompt() == "" {
			return nil, hint.Errorf(`give it a "title"`, "%s, line %d: this story does not say what is to be done", name, s.line)
		}
		id, _ := s.first("id key")
		if s.key = strings.TrimSpace(id.text()); s.key == "" {
			said, _ := s.first(titleNames + " description")
			s.key = digest(strings.Join(strings.Fields(said.text()), " "))
		}
		if first, twice := lines[s.key]; twice {
			return nil, hint.Errorf(`give each an "id" of its own`, "%s: the stories in lines %d and %d are both %s",
				name, first, s.line, wording.Quote(s.key, 80))
		}
		lines[s.key] = s.line
	}
	return r.found, nil
}

// A storyReader parses a file.
type storyReader struct {
	name  string
	text  []byte
	base  int // offset of the JSON in the text
	json  *jsontext.Decoder
	found []*story
}

// at is the current offset in the text.
func (r *storyReader) at() int { return r.base + int(r.json.InputOffset()) }

func (r *storyReader) read() error {
	if r.json.PeekKind() != '{' {
		return r.list()
	}
	if _, err := r.json.ReadToken(); err != nil {
		return err
	}
	for r.json.PeekKind() == '"' {
		name, err := r.json.ReadToken()
		if err != nil {
			return err
		}
		if r.found == nil && slices.Contains(strings.Fields(listNames), name.String()) && r.json.PeekKind() == '[' {
			err = r.list()
		} else {
			err = r.json.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	_, err := r.json.ReadToken()
	return err
}

// list reads a list of stories, and skips any other value.
func (r *storyReader) list() error {
	if r.json.PeekKind() != '[' {
		return r.json.SkipValue()
	}
	if _, err := r.json.ReadToken(); err != nil {
		return err
	}
	for kind := r.json.PeekKind(); kind != ']'; kind = r.json.PeekKind() {
		if kind != '{' {
			if err := r.json.SkipValue(); err != nil {
				return err
			}
			return hint.Errorf(`a story looks like {"id": "US-001", "title": "…", "passes": false}`,
				"%s, line %d: this is no user story", r.name, lineOf(r.text, r.at()))
		}
		if err := r.story(); err != nil {
			return err
		}
	}
	_, err := r.json.ReadToken()
	return err
}

func (r *storyReader) story() error {
	if _, err := r.json.ReadToken(); err != nil {
		return err
	}
	s := &story{from: r.at() - 1, line: lineOf(r.text, r.at()-1), members: map[string]member{}}
	for r.json.PeekKind() == '"' {
		token, err := r.json.ReadToken()
		if err != nil {
			return err
		}
		name := token.String() // invalid after the next token
		value, err := r.json.ReadValue()
		if err != nil {
			return err
		}
		s.end = r.at()
		s.members[name] = member{bytes.Clone(value), s.end - len(value), s.end}
	}
	r.found = append(r.found, s)
	_, err := r.json.ReadToken()
	return err
}

// jsonError describes a JSON error with its position.
func jsonError(name string, text []byte, err error) error {
	at, why := int64(-1), ""
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at, why = syntactic.ByteOffset, syntactic.Err.Error()
	} else if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		at, why = semantic.ByteOffset, "this value does not fit"
		if semantic.JSONPointer != "" {
			why = fmt.Sprintf("%s does not fit", semantic.JSONPointer)
		}
		if semantic.Err != nil {
			why += ": " + semantic.Err.Error()
		}
	}
	if errors.Is(err, io.EOF) {
		return hint.Errorf("was the export cut off? Make a new one", "%s holds no JSON", name)
	}
	if at < 0 {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		why = "it ends in the middle"
	}
	before := text[:min(int(at), len(text))]
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return hint.Errorf("fix it there", "%s, line %d, column %d: %s", name, lineOf(text, int(at)), column,
		wording.Line(strings.TrimPrefix(why, "jsontext: ")))
}
