package run

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/config"
	"codeloops/internal/loop"
)

// TestAgain: which settings of a session apply when it is resumed.
func TestAgain(t *testing.T) {
	t.Parallel()
	was := []loop.Flag{
		{Name: "check", Values: []string{"go vet", "go test"}}, {Name: "max-tokens", Values: []string{"7"}}, {Name: "fail-fast", Values: []string{"true"}},
	}
	one := func(name string, values ...string) []loop.Flag { return []loop.Flag{{Name: name, Values: values}} }
	for name, test := range map[string]struct {
		said    []loop.Flag
		was     []loop.Flag
		foreign bool
		want    map[string][]string
		problem string
	}{
		"all of them":      {was: was, want: map[string][]string{"checks": {"go vet", "go test"}, "max_tokens": {"7"}, "fail_fast": {"true"}}},
		"said otherwise":   {said: slices.Concat(one("check", "make"), one("max-tokens", "9")), was: was, want: map[string][]string{"checks": {"make"}, "max_tokens": {"9"}, "fail_fast": {"true"}}},
		"the contrary":     {said: one("max-wait", "1m"), was: one("no-wait", "true"), want: map[string][]string{"max_wait": {"1m"}}},
		"the contrary too": {said: one("no-wait", "true"), was: one("max-wait", "1m"), want: map[string][]string{"max_wait": {"0s"}}},
		"not of the run":   {was: one("trust-project", "true"), want: map[string][]string{}},
		"of the agents":    {was: one("agent", "claude"), want: map[string][]string{}},
		"of a later time":  {was: one("not-yet", "x"), want: map[string][]string{}},
		"no number":        {was: one("max-tokens", "many"), problem: "has an invalid value: --max-tokens must be a whole number"},
		"not believed":     {was: was, foreign: true, problem: "was given --check, --max-tokens, --fail-fast, but others"},
		"none to believe":  {said: one("check", "make"), was: one("check", "rm"), foreign: true, want: map[string][]string{"checks": {"make"}}},
		"a secret":         {was: []loop.Flag{{Name: "check", Hidden: true}}, problem: "was given a secret with --check"},
		"a secret of late": {said: one("check", "make"), was: []loop.Flag{{Name: "check", Hidden: true}}, want: map[string][]string{"checks": {"make"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, err := NewSettings(test.said)
			if err != nil {
				t.Fatal(err)
			}
			got, err := said.again(loop.Session{ID: "one", Terms: loop.Terms{Flags: test.was}}, !test.foreign)
			if test.problem != "" {
				if err == nil || !strings.HasPrefix(err.Error(), "session one "+test.problem) {
					t.Errorf("%v, want %q", err, test.problem)
				}
				return
			}
			if err != nil || !maps.EqualFunc(got.values, test.want, slices.Equal) {
				t.Errorf("set %v, %v, want %v", got.values, err, test.want)
			}
		})
	}
}

// TestTable: each setting in the table has one flag, and a configuration key that exists or none.
func TestTable(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{"": true}
	for _, e := range cfg.Entries() {
		keys[e.Key] = true
	}
	flags, shorts := map[string]bool{}, map[string]bool{"": false}
	for _, row := range config.Flags() {
		if !keys[row.Name] || flags[row.Flag] || shorts[row.Short] || row.Usage() == "" {
			t.Errorf("%+v", row)
		}
		flags[row.Flag], shorts[row.Short] = true, row.Short != ""
	}
}

// TestSaidAgain: which flags must be given again to resume a session.
func TestSaidAgain(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string][2]bool{ // for a new session, and for a resumed one
		"check": {true, true}, "script": {true, true}, "session-dir": {true, true}, "trust-project": {true, true},
		"agent": {false, true}, "max-iterations": {false, true}, "log-format": {false, false},
	} {
		for i, resumed := range []bool{false, true} {
			if saidAgain(flag, resumed) != want[i] {
				t.Errorf("--%s, resumed: %v", flag, resumed)
			}
		}
	}
}

func TestFromAnywhere(t *testing.T) {
	t.Parallel()
	said := []loop.Flag{{Name: "script", Values: []string{"a.toml"}}, {Name: "session-dir", Values: []string{"logs"}}, {Name: "agent", Values: []string{"a.toml"}}}
	got := FromAnywhere(said, func(path string) string { return "/here/" + path })
	want := []loop.Flag{{Name: "script", Values: []string{"/here/a.toml"}}, {Name: "session-dir", Values: []string{"/here/logs"}}, {Name: "agent", Values: []string{"a.toml"}}}
	if !reflect.DeepEqual(got, want) || said[0].Values[0] != "a.toml" {
		t.Errorf("got %v of %v", got, said)
	}
}
