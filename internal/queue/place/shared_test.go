package place_test

import (
	"slices"
	"strings"
	"testing"

	"codeloops/internal/queue/place"
)

// TestSettingsTakenBack: what a setup command sets for the whole repository is taken back and told, also if another one
// sets the same at that time. What its work tree needs stays.
func TestSettingsTakenBack(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.Git("config", "--add", "alias.both", "one")
	s.Git("config", "--add", "alias.both", "two\nlines")
	s.Git("config", "core.abbrev", "12")
	before := s.Git("config", "--local", "--list")
	var told []string
	tell := func(sentence string) { told = append(told, sentence) }
	const setup = "git config core.hooksPath .husky/_; git config alias.evil '!false'; git config --unset-all alias.both; git config core.abbrev 7; git config branch.x.remote origin"
	s.must(s.site.KeepSettings(t.Context(), tell, func() error {
		for _, name := range []string{"one", "two"} {
			if _, err := s.site.Open(t.Context(), place.Task{Name: name, Base: s.Git("rev-parse", "main"), Setup: setup, Tell: tell}); err != nil {
				return err
			}
		}
		return nil
	}))
	left := strings.Replace(s.Git("config", "--local", "--list"), "\nbranch.x.remote=origin", "", 1)
	sorted := func(text string) []string { return slices.Sorted(strings.Lines(text + "\n")) }
	if !slices.Equal(sorted(left), sorted(before)) {
		t.Errorf("left\n%s\nof\n%s", left, before)
	}
	want := "what its commands set for all work trees of the repository is taken back: alias.both, alias.evil, core.abbrev, core.hookspath"
	if !slices.Equal(told, []string{want, want}) {
		t.Errorf("told %q", told)
	}
	s.must(s.site.KeepSettings(t.Context(), tell, func() error { return nil }))
	if len(told) != 2 {
		t.Errorf("told %q", told[2:])
	}
}
