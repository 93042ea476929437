package term

import (
	"slices"
	"strings"
	"testing"
)

// cutAll splits input into keys, until the rest is an incomplete one.
func cutAll(sent string) (keys []string, rest string) {
	for {
		key, left := cutKey(sent)
		if key == "" {
			return keys, left
		}
		keys, sent = append(keys, key), left
	}
}

func TestCutKey(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string][]string{ // the last element is the rest
		"":                     {""},
		"nq":                   {"n", "q", ""},
		"é日":                   {"é", "日", ""},
		"\xc3":                 {"\xc3"},
		"\xffq":                {"\xff", "q", ""},
		"\x1b":                 {"\x1b"},
		"\x1b[":                {"\x1b["},
		"\x1b[C\x1b[B":         {"\x1b[C", "\x1b[B", ""},
		"\x1bOC ":              {"\x1bOC", " ", ""},
		"\x1bO":                {"\x1bO"},
		"\x1b[1;5Cx":           {"\x1b[1;5C", "x", ""},
		"\x1b[1;5":             {"\x1b[1;5"},
		"\x1bn":                {"\x1b", "n", ""},
		"\x1b\x1b[A":           {"\x1b", "\x1b[A", ""},
		"\x1b[200~a\x1b[201~ ": {"\x1b[200~", "a", "\x1b[201~", " ", ""},
	} {
		keys, rest := cutAll(sent)
		if got := append(keys, rest); !slices.Equal(got, want) {
			t.Errorf("%q is %q, want %q", sent, got, want)
		}
	}
}

func FuzzCutKey(f *testing.F) {
	for _, s := range []string{"", "a\x1b[Cb", "\x1b\x1b", "\xc3", "\x1b[\x1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		keys, rest := cutAll(sent)
		if got := strings.Join(keys, "") + rest; got != sent {
			t.Fatalf("%q becomes %q", sent, got)
		}
	})
}
