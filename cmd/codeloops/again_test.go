package main

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"codeloops/internal/loop"
)

// TestAgain holds what a session's flags count for when it is carried on.
func TestAgain(t *testing.T) {
	t.Parallel()
	was := []loop.Flag{
		{Name: "check", Values: []string{"go vet", "go test"}}, {Name: "max-tokens", Values: []string{"7"}}, {Name: "fail-fast", Values: []string{"true"}},
	}
	one := func(name string, values ...string) []loop.Flag { return []loop.Flag{{Name: name, Values: values}} }
	for name, test := range map[string]struct {
		typed   string
		was     []loop.Flag
		foreign bool
		want    map[string]any
		problem string
	}{
		"all of them":      {was: was, want: map[string]any{"checks": []string{"go vet", "go test"}, "max_tokens": 7, "fail_fast": true}},
		"said otherwise":   {typed: "--check=make --max-tokens=9", was: was, want: map[string]any{"checks": []string{"make"}, "max_tokens": 9, "fail_fast": true}},
		"the contrary":     {typed: "--max-wait=1m", was: one("no-wait", "true"), want: map[string]any{"max_wait": "1m"}},
		"the contrary too": {typed: "--no-wait", was: one("max-wait", "1m"), want: map[string]any{"max_wait": "0s"}},
		"not of the run":   {was: one("trust-project", "true"), want: map[string]any{}},
		"of the agents":    {was: one("agent", "claude"), want: map[string]any{}},
		"of a later time":  {was: one("not-yet", "x"), want: map[string]any{}},
		"no number":        {was: one("max-tokens", "many"), problem: "was given what --max-tokens cannot be"},
		"not believed":     {was: was, foreign: true, problem: "was given --check, --max-tokens, --fail-fast, but its log"},
		"none to believe":  {typed: "--check=make", was: one("check", "rm"), foreign: true, want: map[string]any{"checks": []string{"make"}}},
		"a secret":         {was: []loop.Flag{{Name: "check", Hidden: true}}, problem: "was given a secret with --check"},
		"a secret of late": {typed: "--check=make", was: []loop.Flag{{Name: "check", Hidden: true}}, want: map[string]any{"checks": []string{"make"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, flags := &resumeOptions{}, pflag.NewFlagSet("resume", pflag.ContinueOnError)
			o.addRunFlags(flags)
			if err := flags.Parse(strings.Fields(test.typed)); err != nil {
				t.Fatal(err)
			}
			if err := o.takeSettings(flags); err != nil {
				t.Fatal(err)
			}
			err := o.again(loop.Session{ID: "one", Flags: test.was}, !test.foreign)
			if test.problem != "" {
				if err == nil || !strings.HasPrefix(err.Error(), "session one "+test.problem) {
					t.Errorf("%v, want %q", err, test.problem)
				}
				return
			}
			if err != nil || !maps.EqualFunc(o.set, test.want, reflect.DeepEqual) {
				t.Errorf("set %v, %v, want %v", o.set, err, test.want)
			}
		})
	}
}
