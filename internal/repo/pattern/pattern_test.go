package pattern

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// options are the options of [Glob].
type options struct{ Fold, Path bool }

// reference is the definition of a match: it tries everything, in exponential time. The
// fast matcher is compared with it.
func reference(pat, txt string, o options) bool { return try(pat, txt, true, o) }

func try(pat, txt string, bounded bool, o options) bool {
	if pat == "" {
		return txt == ""
	}
	if pat[0] == '*' {
		return tryStars(pat, txt, bounded, o)
	}
	if txt == "" {
		return false
	}
	c := txt[0]
	if o.Fold {
		c = lower(c)
	}
	n, ok := 1, true // n is the element's length
	switch p := pat[0]; {
	case p == '?':
	case p == '[':
		n, ok = matchSet(pat, c, o.Fold)
	case p == '\\':
		n, ok = 2, len(pat) > 1 && pat[1] == c
	case o.Fold:
		ok = lower(p) == c
	default:
		ok = p == c
	}
	if !ok || o.Path && c == '/' && strings.ContainsRune("?[", rune(pat[0])) {
		return false
	}
	return try(pat[n:], txt[1:], pat[n-1] == '/' && pat[0] != '[', o)
}

func tryStars(pat, txt string, bounded bool, o options) bool {
	rest := strings.TrimLeft(pat, "*")
	deep := !o.Path
	if len(pat)-len(rest) >= 2 && bounded && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)) {
		deep = true
		if o.Path && strings.HasPrefix(rest, "/") && try(rest[1:], txt, true, o) {
			return true
		}
	}
	for i := 0; ; i++ {
		if try(rest, txt[i:], false, o) {
			return true
		}
		if i == len(txt) || !deep && txt[i] == '/' {
			return false
		}
	}
}

func TestGlobRandom(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", "b", "B", "/", "/", "*", "**", "**/", "/**", "?", "[ab]", "[!a]", "\\a", "\\/", "a*", "***"}
	word := func(from []string, n int) string {
		var b strings.Builder
		for range rng.IntN(n) {
			b.WriteString(from[rng.IntN(len(from))])
		}
		return b.String()
	}
	hits := 0
	for range 200_000 {
		pat, txt := word(pieces, 7), word([]string{"a", "b", "A", "/", "ab"}, 8)
		o := options{Fold: rng.IntN(2) == 0, Path: rng.IntN(3) > 0}
		want := reference(pat, txt, o)
		if got := Glob(pat, txt, o.Fold, o.Path); got != want {
			t.Fatalf("Glob(%q, %q, %+v) = %v, want %v", pat, txt, o, got, want)
		}
		if want {
			hits++
		}
	}
	if hits < 10_000 {
		t.Errorf("only %d matches", hits)
	}
}

func TestSets(t *testing.T) {
	t.Parallel()
	classes := map[string]string{
		"alnum": "09azAZ", "alpha": "azAZ", "blank": " \t", "cntrl": "\x00\x1f\x7f\n", "digit": "09", "graph": "!~a0",
		"lower": "az", "print": " !~a", "punct": "!~/", "space": " \t\n\r", "upper": "AZ", "xdigit": "09afAF",
	}
	for class, members := range classes {
		for c := range 256 {
			pat := "[[:" + class + ":]]"
			got := Glob(pat, string([]byte{byte(c)}), false, false)
			if strings.IndexByte(members, byte(c)) >= 0 && !got {
				t.Errorf("%s does not match %#x", pat, c)
			}
			if got && c >= 0x80 {
				t.Errorf("%s matches %#x", pat, c)
			}
		}
	}
	for _, c := range []struct {
		pat, txt string
		fold     bool
		want     bool
	}{
		{"[a-c]", "b", false, true},
		{"[a-c]", "-", false, false},
		{"[a-]", "-", false, true},
		{"[-a]", "-", false, true},
		{"[]]", "]", false, true},
		{"[]", "]", false, false},
		{"[!]]", "]", false, false},
		{"[!]]", "a", false, true},
		{"[^a]", "b", false, true},
		{"[a", "a", false, false},
		{"[\\]]", "]", false, true},
		{"[a\\", "a", false, false},
		{"[[:alpha]", ":", false, true},
		{"[[:none:]]", "n", false, false},
		{"[a-\\c]", "b", false, true},
		{"[a-c-e]", "d", false, false},
		{"[A-C]", "b", true, true},
		{"[A-C]", "B", true, true},
		{"[A]", "a", true, false},
		{"[a]", "A", true, true},
		{"[[:upper:]]", "a", true, true},
		{"[[:upper:]]", "a", false, false},
		{"[[:lower:]]", "A", true, true},
		{"\\A", "a", true, false},
	} {
		if got := Glob(c.pat, c.txt, c.fold, false); got != c.want {
			t.Errorf("Glob(%q, %q, fold %v) = %v", c.pat, c.txt, c.fold, got)
		}
	}
}

// Patterns are matched quickly that take exponential time if everything is tried.
func TestGlobBounded(t *testing.T) {
	t.Parallel()
	done := make(chan bool)
	go func() {
		defer close(done)
		deep := strings.Repeat("a/", 500)
		for _, pat := range []string{strings.Repeat("**/a/", 40) + "b", strings.Repeat("*a", 40) + "b", strings.Repeat("a*/", 40) + "b"} {
			if Glob(pat, deep, false, true) || Glob(pat, strings.Repeat("a", 4000), false, false) {
				t.Errorf("%q matches", pat)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("still matching")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Pattern{
		"a":      {text: "a", literal: 1, baseName: true},
		"!a/":    {Negated: true, DirOnly: true, text: "a", literal: 1, baseName: true},
		"*.o":    {text: "*.o", baseName: true},
		"*/":     {DirOnly: true, text: "*", baseName: true},
		"a/b*c":  {text: "a/b*c", literal: 3},
		"/a":     {text: "/a", literal: 2},
		"\\!a":   {text: "\\!a", baseName: true},
		"a\\ ":   {text: "a\\ ", literal: 1, baseName: true},
		"":       {baseName: true},
		"//":     {DirOnly: true, text: "/", literal: 1},
		"*a*":    {text: "*a*", baseName: true},
		"!!a":    {Negated: true, text: "!a", literal: 2, baseName: true},
		"a/b//":  {DirOnly: true, text: "a/b/", literal: 4},
		"[a]/b/": {DirOnly: true, text: "[a]/b"},
	} {
		if got := Parse(text); got != want {
			t.Errorf("Parse(%q) = %+v, want %+v", text, got, want)
		}
	}
}

func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"**/a", "b/a"}, {"a/**/b", "a/x/y/b"}, {"[!a-c]*", "d"}, {"a**b", "a/b"}, {"**/**", ""}, {"a/**", "a/"}, {"[[:alpha:]-]", "-"},
	} {
		f.Add(seed[0], seed[1], false, true)
	}
	f.Fuzz(func(t *testing.T, pat, txt string, fold, path bool) {
		o := options{Fold: fold, Path: path}
		got := Glob(pat, txt, o.Fold, o.Path)
		if strings.Count(pat, "*") > 6 || len(txt) > 30 {
			return // too slow for the reference
		}
		if want := reference(pat, txt, o); got != want {
			t.Errorf("Glob(%q, %q, %+v) = %v, want %v", pat, txt, o, got, want)
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	var patterns []Pattern
	for i := range 100 {
		patterns = append(patterns, Parse(fmt.Sprintf("*.ext%d", i)), Parse(fmt.Sprintf("/dir%d/**/x*", i)), Parse(fmt.Sprintf("name%d", i)))
	}
	for b.Loop() {
		for i := range patterns {
			patterns[i].Match("drivers/net/ethernet/file.c", "file.c", false, false)
		}
	}
}
