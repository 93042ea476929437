package attr

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// checked returns the attributes of paths that git reports.
func (w *world) checked(paths []string) map[string]map[string]Value {
	w.t.Helper()
	all := make(map[string]map[string]Value)
	for _, path := range paths {
		all[path] = make(map[string]Value)
	}
	fields := strings.Split(w.git(strings.Join(paths, "\x00")+"\x00", "check-attr", "-z", "--stdin", "-a"), "\x00")
	for ; len(fields) > 3; fields = fields[3:] {
		v := Value{State: Valued, Text: fields[2]}
		switch fields[2] {
		case "set":
			v = Value{State: Set}
		case "unset":
			v = Value{State: Unset}
		}
		all[fields[0]][fields[1]] = v
	}
	return all
}

// TestRandomAttributesLikeGit: random attributes files give each path the attributes that
// git reports.
func TestRandomAttributesLikeGit(t *testing.T) {
	t.Parallel()
	rounds := 75
	if testing.Short() {
		rounds = 10
	}
	for worker := range uint64(4) {
		t.Run(strconv.FormatUint(worker, 10), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			given := 0
			for round := range rounds {
				d := dice{rand.New(rand.NewPCG(worker, uint64(round)))}
				files := []string{
					"tree/.gitattributes", "tree/d/.gitattributes", "tree/d/d/.gitattributes",
					"tree/.git/info/attributes", ".config/git/attributes",
				}
				for _, name := range files {
					w.remove(name)
					if d.IntN(3) > 0 {
						w.write(name, d.definitions())
					}
				}
				w.git("", "config", "core.ignoreCase", d.pick("false", "false", "true"))
				var paths []string
				for range 30 {
					paths = append(paths, d.pick("", "", "d/", "d/d/", "D/", "d/a/")+d.name())
				}
				o, _ := w.open()
				reader := New(o)
				for path, want := range w.checked(paths) {
					given += len(want)
					if got := reader.All(path); !maps.Equal(got, want) {
						t.Errorf("round %d, %q:\n got %v\nwant %v", round, path, got, want)
					}
				}
				if t.Failed() {
					for _, name := range files {
						data, _ := os.ReadFile(filepath.Join(w.home, name))
						t.Logf("%s: %q", name, data)
					}
					return
				}
			}
			if given < 20*rounds {
				t.Errorf("only %d attributes were given in %d rounds", given, rounds)
			}
		})
	}
}

// TestUserBeforeSystem: the user's attributes take precedence over those of the
// installation, as if the user's file followed the installation's.
func TestUserBeforeSystem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	system := "[attr]m one\n[attr]n two\n*.c text eol=lf\n*.h -text\n*.m m n\n"
	user := "[attr]m -one\n*.c -text\n*.h text=auto\n"
	w.write(".config/git/attributes", system+user)
	o, _ := w.open()
	paths := []string{"a.c", "d/a.h", "a.m"}
	want := w.checked(paths)
	w.write("system", system)
	w.write(".config/git/attributes", user)
	o.System = filepath.Join(w.home, "system")
	reader := New(o)
	for _, path := range paths {
		if got := reader.All(path); len(got) == 0 || !maps.Equal(got, want[path]) {
			t.Errorf("%s:\n got %v\nwant %v", path, got, want[path])
		}
	}
}

// A tracked attributes file counts if the work tree lacks it.
func TestFromIndexLikeGit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("tree/.gitattributes", "\ufeff* text\n[attr]m -diff\n")
	w.write("tree/d/.gitattributes", "*.c m eol=lf\n")
	w.git("", "add", ".")
	w.remove("tree/.gitattributes")
	w.remove("tree/d/.gitattributes")
	o, _ := w.open()
	got := make(map[string]map[string]Value)
	paths := []string{"a", "d/a.c", "d/b"}
	for _, path := range paths {
		got[path] = New(o).All(path)
	}
	if want := w.checked(paths); !reflect.DeepEqual(got, want) {
		t.Errorf("attributes\n got %v\nwant %v", got, want)
	}
}

func TestMacros(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("tree/.gitattributes", strings.Join([]string{
		"[attr]one two -three", "[attr]two one four=4", "[attr]one three !four two", "[attr]binary bin",
		"*.a one", "*.b two", "*.c one -two", "*.d -one", "*.e binary", "*.f two one=x", "d/*.g deep",
	}, "\n"))
	w.write("tree/d/.gitattributes", "[attr]deep not\n*.a deep\n[attr]one not\n")
	o, _ := w.open()
	var paths []string
	for c := 'a'; c <= 'g'; c++ {
		paths = append(paths, fmt.Sprintf("x.%c", c), fmt.Sprintf("d/x.%c", c))
	}
	reader := New(o)
	for path, want := range w.checked(paths) {
		if got := reader.All(path); !maps.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", path, got, want)
		}
	}
}

// Git skips lines that exceed a certain length.
func TestLongLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var text strings.Builder
	var paths []string
	for n := maxLine - 2; n <= maxLine+1; n++ {
		name := fmt.Sprintf("f%d", n)
		paths = append(paths, name)
		fmt.Fprintf(&text, "%s a%s\n", name, strings.Repeat("b", n-len(name)-2))
	}
	w.write("tree/.gitattributes", text.String())
	o, _ := w.open()
	reader := New(o)
	given := 0
	for path, want := range w.checked(paths) {
		given += len(want)
		if got := reader.All(path); !maps.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", path, got, want)
		}
	}
	if given != 2 {
		t.Errorf("git takes %d of the lines, want 2", given)
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("tree/.gitattributes", "a text=auto crlf=input eol=crlf ident filter=f working-tree-encoding=UTF-16\nb -text !eol other\n")
	o, _ := w.open()
	reader := New(o)
	valued := func(text string) Value { return Value{State: Valued, Text: text} }
	for path, want := range map[string]Attrs{
		"a": {text: valued("auto"), crlf: valued("input"), eol: valued("crlf"), Ident: {State: Set}, Filter: valued("f"), Encoding: valued("UTF-16")},
		"b": {text: {State: Unset}, eol: {}, "other": {State: Set}},
		"c": {},
	} {
		if got := reader.Of(path); !maps.Equal(got, want) {
			t.Errorf("Of(%s) = %+v, want %+v", path, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("*.c text -diff !eol merge=union\n[attr]m n\n\"q\\303\\251\" a\n")
	f.Add("\ufeff# c\r\n!a b\n[attr] x y=\n")
	f.Fuzz(func(t *testing.T, text string) {
		d := parse(text, true)
		if len(d.rules)+len(d.macros) > strings.Count(text, "\n")+1 {
			t.Errorf("%d rules, %d macros", len(d.rules), len(d.macros))
		}
		reader, found := &Reader{macros: d.macros}, make(Attrs)
		for _, r := range d.rules {
			reader.apply(r.assign, found)
		}
		for name := range found {
			if !validName(name) {
				t.Errorf("attribute %q", name)
			}
		}
	})
}
