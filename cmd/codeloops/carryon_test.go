package main

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"codeloops/internal/session"
)

// TestCarryOnFlags holds that what is said again of a run can be said to resume.
func TestCarryOnFlags(t *testing.T) {
	t.Parallel()
	var run, resumed runOptions
	ours, theirs := pflag.NewFlagSet("run", pflag.ContinueOnError), pflag.NewFlagSet("resume", pflag.ContinueOnError)
	run.addFlags(ours)
	resumed.addRunFlags(theirs)
	for _, p := range []*plan{{}, {course: &session.Course{}}} {
		ours.VisitAll(func(f *pflag.Flag) {
			if !p.kept(f.Name) && theirs.Lookup(f.Name) == nil {
				t.Errorf("--%s is said again, and resume does not know it", f.Name)
			}
		})
	}
}

func TestSpelled(t *testing.T) {
	t.Parallel()
	f := pflag.NewFlagSet("resume", pflag.ContinueOnError)
	new(runOptions).addRunFlags(f)
	typed := []string{"-n", "3", "--check", "a b", "--check", "", "--fail-fast", "--check-before=false", "--fallback=codex,claude:opus"}
	if err := f.Parse(typed); err != nil {
		t.Fatal(err)
	}
	var got []string
	f.Visit(func(f *pflag.Flag) { got = append(got, spelled(f)...) })
	want := []string{"-n", "3", "--check", "a b", "--check", "", "--fail-fast", "--check-before=false", "--fallback", "codex", "--fallback", "claude:opus"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestShellWord(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"go":         "go",
		"./a-b_c=1":  "./a-b_c=1",
		"größe":      "größe",
		"":           "''",
		"a b":        "'a b'",
		"~/x":        "'~/x'",
		"it's $HOME": `'it'\''s $HOME'`,
	} {
		if got := shellWord(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}
