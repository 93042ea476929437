package lesson

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestClean(t *testing.T) {
	t.Parallel()
	redact := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }
	l, err := Lesson{
		Task: "fix\nit \x1b[31mnow\x1b[0m", Text: "Say hun\x1b[1mter2\x1b]0;title\a never,\r\nnor hunter2.",
		Session: strings.Repeat("é", 400), Attempt: -1,
	}.Clean(redact)
	if err != nil || l.Task != "fix it now" || l.Text != "Say [redacted] never, nor [redacted]." || l.Attempt != 0 {
		t.Errorf("%+v, %v", l, err)
	}
	if len(l.Session) > maxField+len(" …") || !utf8.ValidString(l.Session) {
		t.Errorf("the session is %q", l.Session)
	}
	again, err := l.Clean(redact)
	if err != nil || again.ID() != l.ID() {
		t.Errorf("cleaned again: %+v, %v", again, err)
	}
	if _, err := (Lesson{Text: " \x1b[0m"}).Clean(nil); !errors.Is(err, errEmpty) {
		t.Error("an empty text was a lesson")
	}
}

func TestHelps(t *testing.T) {
	t.Parallel()
	for u, want := range map[Uses]bool{
		{}: true, {0, 4}: true, {0, 5}: false, {1, 4}: false, {2, 3}: true, {2, 6}: true, {2, 7}: false,
	} {
		if u.Helps() != want {
			t.Errorf("%+v helps: %v", u, !want)
		}
	}
}

// store opens the user's file and a repository's.
func store(t *testing.T) (s *Files, told *[]string) {
	t.Helper()
	told = &[]string{}
	data := filepath.Join(t.TempDir(), "data")
	return &Files{Data: data, Into: Own(data), Tell: func(err error) { *told = append(*told, err.Error()) }}, told
}

func add(t *testing.T, s Store, lessons ...Lesson) (ids []string) {
	t.Helper()
	for i, l := range lessons {
		l.At = began.Add(time.Duration(i) * time.Second)
		l, err := l.Clean(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Add(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, l.ID())
	}
	return ids
}

func texts(all []Lesson) (list []string) {
	for _, l := range all {
		list = append(list, l.Text)
	}
	return list
}

func recall(t *testing.T, s Store, q Query) []string {
	t.Helper()
	found, err := s.Recall(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return texts(found)
}

func TestRecall(t *testing.T) {
	t.Parallel()
	s, told := store(t)
	ids := add(
		t, s,
		Lesson{Task: "Mend the parser's quotes", Text: "Run the generator first.", Project: "p"},
		Lesson{Task: "Draw a button\nin the Größe of the page", Text: "Ask for the size.", Project: "p"},
		Lesson{Task: "Mend the lexer", Text: "Mind the escapes.", Project: "other"},
		Lesson{Text: "Parser tests are slow."},
		Lesson{Task: "解析器を直す", Text: "先に生成する。", Project: "p"},
	)
	for task, want := range map[string][]string{
		"mend the PARSER":     {"Run the generator first.", "Parser tests are slow."},
		"the größe, please":   {"Ask for the size."},
		"page in the":         {"Ask for the size."},
		"解析":                  {"先に生成する。"},
		"what is it":          nil,
		"lesson of a project": nil, // the names of members
		"":                    nil,
	} {
		if got := recall(t, s, Query{Task: task, Project: "p", Most: 5}); !slices.Equal(got, want) {
			t.Errorf("%q recalls %q", task, got)
		}
	}
	if got := recall(t, s, Query{Task: "parser", Project: "p", Most: 1}); len(got) != 1 {
		t.Errorf("the best one: %q", got)
	}
	if got := recall(t, s, Query{Project: "p", Block: true}); len(got) != 4 || got[0] != "Run the generator first." {
		t.Errorf("the block: %q", got)
	}
	// A lesson that does not help is dropped.
	for i := range 5 {
		if err := s.Used(t.Context(), fmt.Sprint("s", i), ids[:1], false); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Used(t.Context(), "s0", ids[:1], true); err != nil { // the same session, resumed
		t.Fatal(err)
	}
	all, err := s.All(t.Context())
	if err != nil || all[0].Uses != (Uses{Done: 1, Failed: 4}) {
		t.Errorf("%+v, %v", all[0].Uses, err)
	}
	if got := recall(t, s, Query{Task: "mend the parser", Project: "p", Most: 5}); !slices.Equal(got, []string{"Parser tests are slow."}) {
		t.Errorf("without lessons that do not help: %q", got)
	}
	if len(*told) > 0 {
		t.Error(*told)
	}
}

func TestBlockIsBounded(t *testing.T) {
	t.Parallel()
	var all []Lesson
	for i := range 100 {
		all = append(all, Lesson{Text: fmt.Sprint(i, strings.Repeat("x", 500))})
	}
	got := block(all)
	if len(got) < 30 || len(got) > 33 || got[len(got)-1] != all[99] {
		t.Errorf("recalled %d", len(got))
	}
}

func TestAddAndRemove(t *testing.T) {
	t.Parallel()
	s, _ := store(t)
	ids := add(t, s, Lesson{Task: "a", Text: "one"}, Lesson{Task: "b", Text: "two"}, Lesson{Task: "a", Text: "one"})
	all, err := s.All(t.Context())
	if err != nil || !slices.Equal(texts(all), []string{"one", "two"}) || !all[0].At.Equal(began) {
		t.Fatalf("%+v, %v", all, err)
	}
	if l, n := Find(all, ids[1][:5]); n != 1 || l.Text != "two" {
		t.Errorf("found %+v", l)
	}
	if _, n := Find(all, ""); n != 0 {
		t.Error("an empty query found a lesson")
	}
	if n, err := s.Remove(t.Context(), ids[0], "000000000000"); n != 1 || err != nil {
		t.Errorf("removed %d, %v", n, err)
	}
	if all, err = s.All(t.Context()); err != nil || !slices.Equal(texts(all), []string{"two"}) {
		t.Errorf("%+v, %v", all, err)
	}
	if st, err := os.Stat(s.Into.Path()); err != nil || st.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
}

// TestBadLines: an invalid line costs only itself, and is kept when lessons are added or removed.
func TestBadLines(t *testing.T) {
	t.Parallel()
	s, told := store(t)
	ids := add(t, s, Lesson{Task: "parser", Text: "one"})
	f, err := os.OpenFile(s.Into.Path(), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("\n<<<<<<< HEAD\n{\"lesson\":\"\"}\n{\"lesson\":\"tw")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, Lesson{Task: "parser", Text: "three"})
	if _, err := s.Remove(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	all, err := s.All(t.Context())
	if err != nil || !slices.Equal(texts(all), []string{"three"}) {
		t.Errorf("%+v, %v", all, err)
	}
	if want := "lessons.jsonl:2: passed over: the line is not a lesson, or incomplete"; len(*told) != 3 || !strings.HasSuffix((*told)[0], want) {
		t.Errorf("told %q", *told)
	}
	if got := recall(t, s, Query{Task: "parser head", Most: 5}); !slices.Equal(got, []string{"three"}) {
		t.Errorf("recalled %q", got)
	}
	text, _ := os.ReadFile(s.Into.Path())
	if !strings.HasPrefix(string(text), "\n<<<<<<< HEAD\n{\"lesson\":\"\"}\n{\"lesson\":\"tw\n{") {
		t.Errorf("%q", text)
	}
}

// TestTree: lessons in a repository's file are recalled, and their use is not recorded in it.
func TestTree(t *testing.T) {
	t.Parallel()
	s, _ := store(t)
	tree := t.TempDir()
	own := add(t, s, Lesson{Task: "parser", Text: "mine"})
	inTree := &Files{Data: s.Data, Into: InTree(tree)}
	ids := add(t, inTree, Lesson{Task: "parser", Text: "ours"})
	s.Also = []Place{InTree(tree)}
	if got := recall(t, s, Query{Task: "the parser", Most: 5}); !slices.Equal(got, []string{"ours", "mine"}) {
		t.Errorf("recalled %q", got)
	}
	before, _ := os.ReadFile(inTree.Into.Path())
	if err := s.Used(t.Context(), "s", append(ids, own...), true); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(inTree.Into.Path()); string(after) != string(before) {
		t.Errorf("a use changed the file: %q", after)
	}
	if all, err := inTree.All(t.Context()); err != nil || all[0].Done != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if rule, err := os.ReadFile(filepath.Join(tree, ".codeloops", ".gitattributes")); err != nil || string(rule) != "lessons.jsonl merge=union\n" {
		t.Errorf("%q, %v", rule, err)
	}
}

func TestLinksLeadNowhere(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside.jsonl")
	if err := os.WriteFile(outside, []byte(`{"lesson":"from elsewhere"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, link := range map[string][2]string{
		"file":      {filepath.Join(".codeloops", "lessons.jsonl"), outside},
		"directory": {".codeloops", filepath.Dir(outside)},
		"not there": {filepath.Join(".codeloops", "lessons.jsonl"), filepath.Join(filepath.Dir(outside), "other")},
		"no file":   {filepath.Join(".codeloops", "lessons.jsonl", "x"), "y"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			at := filepath.Join(tree, link[0])
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(link[1], at); err != nil {
				t.Skip(err)
			}
			s := &Files{Data: t.TempDir(), Into: InTree(tree)}
			if all, err := s.All(t.Context()); err == nil {
				t.Errorf("read %+v", all)
			}
			if _, err := s.Add(t.Context(), Lesson{Text: "x"}); err == nil {
				t.Error("written")
			}
		})
	}
	entries, err := os.ReadDir(filepath.Dir(outside))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"task":"a","lesson":"b","at":"2026-01-02T03:04:05Z","attempt":1}`))
	f.Add([]byte(`{"lesson":"\u001b[31m` + "\x1b" + `"}`))
	f.Add([]byte(`{"lesson":7}`))
	f.Add([]byte("{\"task\":\"a\\u0000b\",\"lesson\":\"c\xff\"}"))
	f.Fuzz(func(t *testing.T, line []byte) {
		l, err := Decode(line)
		rank([][]byte{line, []byte("another")}, string(line))
		if err != nil {
			return
		}
		if strings.ContainsAny(l.Text+l.Task+l.Project+l.Session, "\x1b\n\r\a") || len(l.Text) > maxText+4 || len(l.Task) > maxTask+4 {
			t.Fatalf("%+v", l)
		}
		again, err := encode(l)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Decode(again[:len(again)-1]); err != nil || back.ID() != l.ID() {
			t.Fatalf("%+v became %+v, %v", l, back, err)
		}
	})
}

// many makes a store with the lessons of years of work, and the runs that were told some of them.
func many(tb testing.TB, n int) *Files {
	tb.Helper()
	data := tb.TempDir()
	s := &Files{Data: data, Into: Own(data)}
	var all []Lesson
	var uses []use
	for i := range n {
		all = append(all, Lesson{
			Task:    fmt.Sprintf("Fix the parser number %d so that it reads %d quoted words without loss and add tests for the lexer in package p%d", i, i*7, i%97),
			Text:    fmt.Sprintf("When the parser of module %d fails on escapes, run the generator first and compare golden files before you touch the lexer.", i),
			Session: "2026-11-22T10-10-10Z_abcdef", Attempt: 1, Project: "example.com/some/project", At: began,
		})
		if i%3 == 0 {
			uses = append(uses, use{fmt.Sprint("2026-11-22T10-10-10Z_", i), i%2 == 0, []string{all[i].ID(), all[i/2].ID(), all[i/3].ID()}})
		}
	}
	lines, err := encode(all...)
	if err == nil {
		err = s.Into.write(lines, true)
	}
	if err == nil {
		lines, err = encode(uses...)
	}
	if err == nil {
		err = s.usesPlace().write(lines, true)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func BenchmarkRecall(b *testing.B) {
	s := many(b, 10_000)
	q := Query{Task: "Mend the parser of package p42, which loses quoted words when they hold escapes, and add tests", Project: "example.com/some/project", Most: 5}
	for b.Loop() {
		if found, err := s.Recall(context.Background(), q); err != nil || len(found) != 5 {
			b.Fatal(found, err)
		}
	}
}
