package repo

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// list formats entries as `git config --list -z` does.
func list(entries []Entry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Key)
		if !e.Implicit {
			b.WriteString("\n" + e.Value)
		}
		b.WriteByte(0)
	}
	return b.String()
}

func TestConfigLikeGit(t *testing.T) {
	t.Parallel()
	cases := map[string]func(s *sandbox, dir string) *sandbox{
		"all scopes": func(s *sandbox, dir string) *sandbox {
			s.write("system", "[a]\nx = system\n")
			s.write(".config/git/config", "[a]\nx = xdg\n")
			s.write(".gitconfig", "[a]\nx = global\n")
			s.git(dir, "config", "a.x", "local")
			s.git(dir, "config", "extensions.worktreeConfig", "true")
			s.git(dir, "config", "--worktree", "a.x", "worktree")
			return s.with(map[string]string{
				"GIT_CONFIG_COUNT": "2",
				"GIT_CONFIG_KEY_0": "A.x", "GIT_CONFIG_VALUE_0": "env",
				"GIT_CONFIG_KEY_1": "a.Sub.Y", "GIT_CONFIG_VALUE_1": "",
				"GIT_CONFIG_PARAMETERS": `'b.One'='two'  'b.old=it'\''s' 'b.flag'= 'b.bare'`,
			})
		},
		"no system, other global": func(s *sandbox, _ string) *sandbox {
			s.write("system", "[a]\nx = system\n")
			s.write(".gitconfig", "[a]\nx = global\n")
			other := s.write("other", "[a]\nx = other\n")
			return s.with(map[string]string{"GIT_CONFIG_NOSYSTEM": "yes", "GIT_CONFIG_GLOBAL": other})
		},
		"XDG": func(s *sandbox, _ string) *sandbox {
			s.write(".config/git/config", "[a]\nx = not this\n")
			s.write("xdg/git/config", "[a]\nx = xdg\n")
			return s.with(map[string]string{"XDG_CONFIG_HOME": filepath.Join(s.home, "xdg")})
		},
		"stray worktree config": func(s *sandbox, _ string) *sandbox {
			s.write("r/.git/config.worktree", "[a]\nx = not read\n")
			return s
		},
		"syntax": func(s *sandbox, _ string) *sandbox {
			s.write(".gitconfig", "\ufeff[core] ; comment\n\tautoCRLF\n[One.TWO] x=y\n"+
				"[sub \"Case \\\"q\\\" \\\\ ]x\"]\r\n\tKey-1 = \"  spaces ; kept \" # gone\r\n"+
				"a = one \\\n   two   \nb = tab\\tnew\\nback\\\\ quote\\\" end\nc=\nd = \"a\"b\"c\" d\n"+
				"e = a ; b\nf = \"\" x \"\"\n[empty]\n[s] k = v\\")
			return s
		},
		"includes": func(s *sandbox, dir string) *sandbox {
			s.write("inc/one", "[a]\nx = one\n[include]\npath = two\n[a]\nz = after\n")
			s.write("inc/two", "[a]\ny = two\n")
			s.write("home-inc", "[a]\nh = home\n")
			s.write(".gitconfig", "[a]\nx = before\n[include]\npath = inc/one\npath = missing\npath = home-inc/x\npath = ~/home-inc\n[a]\nx = end\n")
			s.git(dir, "config", "include.path", filepath.Join(s.home, "home-inc"))
			return s.with(map[string]string{
				"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "include.path",
				"GIT_CONFIG_VALUE_0": filepath.Join(s.home, "inc", "two"),
			})
		},
		"conditions": func(s *sandbox, dir string) *sandbox {
			s.git(dir, "checkout", "-q", "-b", "topic/One")
			s.git(dir, "config", "remote.o.url", "https://example.com/team/x.git")
			var b strings.Builder
			for i, c := range []string{
				"gitdir:~/r/", "gitdir:~/r", "gitdir:~/r/.git", "gitdir:r/", "gitdir:r/.git", "gitdir:other/",
				"gitdir:" + s.home + "/", "gitdir:" + s.home + "/*/.git", "gitdir:./r/", "gitdir:./", "gitdir:./x",
				"gitdir:R/", "gitdir/i:R/", "gitdir/i:~/R/.GIT", "gitdir:**/r/**", "gitdir:[r]/.git", "gitdir:?/.git",
				"onbranch:topic/One", "onbranch:topic/", "onbranch:topic/*", "onbranch:topic", "onbranch:**", "onbranch:topic/one",
				"hasconfig:remote.*.url:https://example.com/**", "hasconfig:remote.*.url:https://other.com/**",
				"hasconfig:other:x", "unknown:x", "gitdir", "",
			} {
				s.write(fmt.Sprintf("cond/%d", i), fmt.Sprintf("[hit]\ni%d = yes\n", i))
				fmt.Fprintf(&b, "[includeIf \"%s\"]\npath = cond/%d\n", c, i)
			}
			s.write(".gitconfig", b.String())
			return s
		},
		"unborn branch": func(s *sandbox, _ string) *sandbox {
			s.write("on", "[hit]\nmain\n")
			s.write(".gitconfig", "[includeIf \"onbranch:main\"]\npath = on\n")
			return s
		},
		"dev null": func(s *sandbox, _ string) *sandbox {
			return s.with(map[string]string{"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull})
		},
		"no home": func(s *sandbox, _ string) *sandbox {
			c := s.with(nil)
			delete(c.vars, "HOME")
			return c
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			dir := s.init("r")
			user := prepare(s, dir)
			r, err := Open(dir, user.env)
			if err != nil {
				t.Fatal(err)
			}
			want := user.git(dir, "config", "--list", "-z")
			if got := list(r.Config.Entries()); got != want {
				t.Errorf("Entries\n got %q\nwant %q", got, want)
			}
		})
	}
}

func TestConditionThroughSymlink(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("real/r")
	if err := os.Symlink("real", filepath.Join(s.home, "work")); err != nil {
		t.Fatal(err)
	}
	s.write("inc", "[hit]\nx\n")
	s.write(".gitconfig", "[includeIf \"gitdir:~/work/\"]\npath = inc\n")
	for start, want := range map[string]bool{dir: false, filepath.Join(s.home, "work", "r"): true} {
		user := s.with(map[string]string{"PWD": start})
		r, err := Open(start, user.env)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := r.Config.Bool("hit.x", false); got != want {
			t.Errorf("from %s: included = %v, want %v", start, got, want)
		}
		if got, want := list(r.Config.Entries()), user.git(start, "config", "--list", "-z"); got != want {
			t.Errorf("from %s:\n got %q\nwant %q", start, got, want)
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	t.Parallel()
	line := func(n int) func(string, error) bool {
		return func(home string, err error) bool {
			var bad *SyntaxError
			return errors.As(err, &bad) && *bad == SyntaxError{File: filepath.Join(home, ".gitconfig"), Line: n}
		}
	}
	anything := func(_ string, err error) bool { return err != nil }
	for name, c := range map[string]struct {
		text string
		want func(home string, err error) bool
	}{
		"bad name":           {"[a]\n1x = y\n", line(2)},
		"bad section":        {"\n\n[a_b]\n", line(3)},
		"open section":       {"[a", line(1)},
		"open subsection":    {"[a \"b", line(1)},
		"unquoted":           {"[a b]\n", line(1)},
		"behind the quote":   {"[a \"b\" ]\n", line(1)},
		"bad escape":         {"[a]\nx = \\q\n", line(2)},
		"open quote":         {"[a]\nx = \"y", line(2)},
		"no equals":          {"[a]\nx y\n", line(2)},
		"comment for value":  {"[a]\nx ; y\n", line(2)},
		"include of itself":  {"[include]\npath = .gitconfig\n", anything},
		"include nothing":    {"[include]\npath\n", anything},
		"include of no user": {"[include]\npath = ~nobody-like-that/x\n", anything},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			dir := s.init("r")
			s.write(".gitconfig", c.text)
			if _, err := s.try(dir, "config", "--list"); err == nil {
				t.Error("git accepts it")
			}
			if _, err := Open(dir, s.env); !c.want(s.home, err) {
				t.Errorf("Open: %v", err)
			}
		})
	}
}

// Includes are limited: Open fails if each file in a chain includes the next many times.
func TestIncludesBounded(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	for i := range 9 {
		s.write(fmt.Sprintf("inc%d", i), "[include]\n"+strings.Repeat(fmt.Sprintf("path = inc%d\n", i+1), 20))
	}
	s.write("inc9", "")
	s.write(".gitconfig", "[include]\npath = inc0\n")
	if _, err := Open(dir, s.env); err == nil {
		t.Error("Open accepts it")
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	texts := []string{
		"true", "Yes", "ON", "false", "no", "off", "", "0", "1", "2", "-1", "1k", "2M", "1g", "0x10", "010", "+3",
		"maybe", "1kk", "k", "1.5", "99999999999999999999", "9999999999g", " 7", "1_0",
	}
	var b strings.Builder
	b.WriteString("[v]\n")
	for i, text := range texts {
		fmt.Fprintf(&b, "x%d = \"%s\"\n", i, text)
	}
	b.WriteString("implicit\n[p]\nhome = ~/x\nroot = ~root/x\nplain = a/b\nempty =\nmany = 1\nmany = 2\n")
	s.write(".gitconfig", b.String())
	r, err := Open(dir, s.env)
	if err != nil {
		t.Fatal(err)
	}
	same := func(kind, key string, got any, err error) {
		t.Helper()
		want, gitErr := s.try(dir, "config", "--type="+kind, key)
		if (err == nil) != (gitErr == nil) {
			t.Errorf("%s as %s: error %v, git's %v", key, kind, err, gitErr)
		} else if err == nil && fmt.Sprintln(got) != want {
			t.Errorf("%s as %s = %v, want %s", key, kind, got, want)
		}
	}
	for i := range texts {
		key := fmt.Sprintf("v.x%d", i)
		yes, err := r.Config.Bool(key, false)
		same("bool", key, yes, err)
		e, _ := r.Config.lookup(key)
		n, ok := parseInt(e.Value)
		if err = nil; !ok {
			err = e.bad("a number")
		}
		same("int", key, n, err)
	}
	yes, err := r.Config.Bool("v.implicit", false)
	same("bool", "v.implicit", yes, err)
	for _, name := range []string{"home", "root", "plain", "empty"} {
		path, _, err := r.Config.Path("p." + name)
		same("path", "p."+name, path, err)
	}
	if got, want := r.Config.All("P.Many"), []string{"1", "2"}; !slices.Equal(got, want) {
		t.Errorf("All = %q, want %q", got, want)
	}
	if got, _ := r.Config.String("p.many"); got != "2" {
		t.Errorf("String = %q, want 2", got)
	}
	if _, ok := r.Config.String("p.none"); ok {
		t.Error("p.none is set")
	}
}

// Random files made of pieces of the syntax are parsed as by git.
func TestConfigRandom(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{
		"[a]", "[b \"S\"]", "[c.D]", "[]", "[ \"x\"]", "[.]", "[e \"\"]", "\n", "\n", "\n", "\r\n", "\t", " ", "key", "K2", " = ", "=", "value", "\"", "\\", "\\\n",
		"\\n", "\\t", "\\\"", "#", ";", "é", "[", "]", "\r", "x-y", "0",
	}
	// Before version 2.45, git turns every blank inside a value into a space.
	blanks := strings.NewReplacer("\t", " ", "\r", " ")
	accepted := 0
	for range 400 {
		var b strings.Builder
		b.WriteString("[s]\n")
		for range rng.IntN(14) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		path := s.write("random", b.String())
		want, gitErr := s.try(s.home, "config", "--list", "-z", "-f", path)
		entries, err := parse(path, b.String())
		ok := err == nil
		if ok != (gitErr == nil) {
			t.Errorf("%q: %v, git: %v", b.String(), err, gitErr)
		} else if ok && blanks.Replace(list(entries)) != blanks.Replace(want) {
			t.Errorf("%q:\n got %q\nwant %q", b.String(), list(entries), want)
		}
		if ok {
			accepted++
		}
	}
	if accepted < 50 {
		t.Errorf("only %d of the files were valid", accepted)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("[core]\n\tbare = false\n[remote \"o\"]\n\turl = \"a b\" ; c\n")
	f.Add("[a]\nx = \\\n y\\t\"z\n")
	f.Add("\ufeff[A.b]K\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := parse("f", text)
		if bad, is := errors.AsType[*SyntaxError](err); is && (bad.Line < 1 || bad.Line > strings.Count(text, "\n")+1) {
			t.Errorf("line %d of %q", bad.Line, text)
		}
		if err != nil && entries != nil {
			t.Errorf("settings %+v with an error", entries)
		}
		for _, e := range entries {
			if canonical(e.Key) != e.Key && strings.Contains(e.Key, ".") {
				t.Errorf("key %q is not canonical", e.Key)
			}
			if e.Implicit && e.Value != "" {
				t.Errorf("implicit %+v", e)
			}
		}
	})
}

func FuzzParameters(f *testing.F) {
	f.Add(`'a.b'='c' 'd.e=f' 'g.h'=`)
	f.Add(`'it'\''s'='!'\!''`)
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := parameters(text)
		if err != nil && entries != nil {
			t.Errorf("settings %+v with an error", entries)
		}
	})
}
