package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Any file is either read, or rejected with one sentence that names it.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ content, problem string }{
		"BOM":              {"\xef\xbb\xbfagent = \"codex\"\n", ""},
		"CRLF":             {"agent = \"codex\"\r\n[actor]\r\nmodel = \"m\"\r\n", ""},
		"no last newline":  {`agent = "codex"`, ""},
		"comment only":     {"# nothing", ""},
		"BOM, bad value":   {"\xef\xbb\xbf\nagent = 1\n", ":2: agent must be a string, not a number"},
		"CRLF, bad value":  {"\r\nagent = 1\r\n", ":2: agent must be a string, not a number"},
		"after a string":   {"model = '''\nm'''\nagent = 1\n", ":3: agent must be a string, not a number"},
		"in a string":      {"agent = 'a'\n\nmodel = '''\n-\n'''\n", ":3: model must be a model's name, not \"-\\n\""},
		"NUL":              {"agent = \"codex\"\n\x00", ":2: not valid TOML: TOML files cannot contain control characters: '0x00'"},
		"UTF-16":           {"\xff\xfea\x00=\x001\x00", ":1: not valid TOML: files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8"},
		"Latin-1":          {"# caf\xc3\xa9\n# caf\xe9\n", ":2: not valid TOML: invalid UTF-8 byte: 0xe9"},
		"large":            {strings.Repeat("# nothing to see here\n", 1<<20/22), ": the file is larger than 64KiB"},
		"many keys":        {strings.Repeat("[[a]]\n", 5000), ": the file has more than 1000 keys"},
		"deep key":         {strings.Repeat("a.", 30000) + "a = 1", ":1: tables are nested too deep"},
		"deep table":       {"\n[" + strings.Repeat("'a' . ", 10000) + "a]", ":2: tables are nested too deep"},
		"deep inline":      {strings.Repeat("a = {\n", 9) + "x = 1" + strings.Repeat("}", 9), ":9: tables are nested too deep"},
		"deep behind text": {"a = {b = \"\"\"\"x\"\"\"\"\", " + strings.Repeat("a.", 10) + "a = 1}", ":1: tables are nested too deep"},
		"dots in a string": {`model = "a.b.c.d.e.f.g.h.i.j.k{{{{{{{{{{{" # a.b.c.d.e.f.g.h.i.j.k`, ""},
		"deep list":        {"checks = " + strings.Repeat("[", 30000) + strings.Repeat("]", 30000), ":1: checks must be a list of strings, but item 1 is a list"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			file := p.project(test.content)
			o := p.options()
			o.TrustProject = true
			start := time.Now()
			_, err := Load(o)
			if took := time.Since(start); took > time.Minute {
				t.Errorf("took %v", took)
			}
			if test.problem == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil || err.Error() != file+test.problem {
				t.Errorf("got  %v\nwant %v", err, file+test.problem)
			}
			one, _ := errors.AsType[*Error](err)
			if encoded := name == "NUL" || name == "UTF-16" || name == "Latin-1"; one != nil && encoded != (one.Hint == "save it as UTF-8 text") {
				t.Errorf("the hint is %q", one.Hint)
			}
		})
	}
}

func TestNoFileAtAll(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"project", "global"} {
		p := newPlace(t)
		name := map[string]string{
			"project": filepath.Join(p.repo, projectFile),
			"global":  filepath.Join(p.home, ".config", "codeloops", "config.toml"),
		}[where]
		if err := os.MkdirAll(name, 0o700); err != nil {
			t.Fatal(err)
		}
		refused(t, p, name, "it is a directory, not a file")
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		symlink(t, name, name)
		refused(t, p, name, "cannot read the file: too many levels of symbolic links")
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		symlink(t, "/dev/zero", name)
		refused(t, p, name, "cannot read the file: not a regular file")
	}
}

func refused(t *testing.T, p place, file, problem string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		problem = "" // the system's own words vary
	}
	_, err := Load(p.options())
	got, ok := errors.AsType[*Error](err)
	if !ok || got.File != file || !strings.HasPrefix(got.Problem, problem) || strings.Contains(got.Error(), "\n") {
		t.Errorf("got %v, want %s: %s", err, file, problem)
	}
}

func TestDanglingProjectLink(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	name := filepath.Join(p.repo, projectFile)
	symlink(t, "nowhere", name)
	if _, err := Load(p.options()); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name) {
		t.Errorf("got %v", err)
	}
}

func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	name := p.project(`agent = "codex"`)
	if err := os.Chmod(name, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(name); err == nil {
		_ = f.Close()
		t.Skip("this user reads everything")
	}
	refused(t, p, name, "cannot read the file: permission denied")
}

// The origin of each value is its line, however it is written.
func TestLines(t *testing.T) {
	t.Parallel()
	doc, problem := parseDocument("x", []byte(`a = """
text
"""
b = [1,
  2]
c = { d = 1, e = 'x' }
[f.g]
h = '''

'''
i.j = 5
k = { l = 1,
  m = 2 }

[n]
`))
	if problem != nil {
		t.Fatal(problem)
	}
	got := map[string]int{}
	for _, n := range doc.nodes() {
		got[n.key.String()] = n.line
	}
	want := map[string]int{
		"a": 1, "b": 4, "c": 6, "c.d": 6, "c.e": 6, "f": 7, "f.g": 7, "f.g.h": 8,
		"f.g.i": 11, "f.g.i.j": 11, "f.g.k": 12, "f.g.k.l": 12, "f.g.k.m": 13, "n": 15,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestErrorIsPrintable(t *testing.T) {
	t.Parallel()
	e := &Error{File: "a\nb", Line: 2, Problem: "c\x1b[31m\u202e"}
	if got, want := e.Error(), "a�b:2: c�[31m�"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
