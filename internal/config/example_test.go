package config

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestExampleFile(t *testing.T) {
	t.Parallel()
	golden(t, exampleFile, exampleText(t))
}

// The example as it is sets nothing; with its keys uncommented it sets each of them to
// its default.
func TestExampleIsTheDefaults(t *testing.T) {
	t.Parallel()
	want := settingsOf(mustLoad(t, Options{}))

	p := newPlace(t)
	p.project(exampleText(t))
	if got := settingsOf(mustLoad(t, p.options())); !reflect.DeepEqual(got, want) {
		t.Errorf("as it stands:\ngot  %+v\nwant %+v", got, want)
	}

	text := regexp.MustCompile(`(?m)^#([a-z\[\]\t])`).ReplaceAllString(exampleText(t), "$1")
	p.project("")
	p.global(text)
	c := mustLoad(t, p.options())
	sample := map[string]CustomAgent{"mine": {
		Command: []string{"mine", "--yes"}, CriticCommand: []string{"mine", "--read-only"},
		Prompt: "stdin", Output: "text", ModelArgs: []string{"--model", "{model}"}, SessionArgs: []string{"--session-id", "{session_id}"}, ResumeArgs: []string{"--resume", "{conversation}"},
		Env: map[string]string{"NAME": "value"}, Install: "see the project's wiki",
	}}
	if !reflect.DeepEqual(c.Agents, sample) {
		t.Errorf("got %+v, want %+v", c.Agents, sample)
	}
	for _, e := range c.Entries() {
		if e.Origin.Layer != Global {
			t.Errorf("the example lacks %s", e.Key)
		}
	}
	got := settingsOf(c)
	got.Agents = want.Agents
	if !reflect.DeepEqual(got, want) {
		t.Errorf("uncommented:\ngot  %+v\nwant %+v", got, want)
	}
}

func TestExampleLines(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(exampleText(t)) {
		if len(line) > 82 {
			t.Errorf("longer than 81 columns: %s", line)
		}
	}
}
