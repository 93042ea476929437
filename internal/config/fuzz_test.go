package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Any content is read without a panic. Errors are sentences, and a configuration that was
// read can be written and read again.
func FuzzRead(f *testing.F) {
	for _, folder := range []string{"valid", "invalid"} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*.toml"))
		if err != nil || len(files) == 0 {
			f.Fatalf("no seeds: %v", err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(content)
		}
	}
	f.Add([]byte(exampleText(f)))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, origin := range []Layer{Global, Project} {
			first, problems := readAs(origin, content)
			if len(problems) > 0 {
				for _, p := range problems {
					if p.File == "" || p.Problem == "" || strings.Contains(p.Error(), "\n") {
						t.Errorf("not a sentence: %#v", p)
					}
				}
				continue
			}
			var text strings.Builder
			for _, e := range first.entries() {
				text.WriteString(e.String() + "\n")
			}
			second, problems := readAs(Global, []byte(text.String())) // a global file may hold every key
			if len(problems) > 0 {
				t.Fatalf("written as\n%s\n%v", &text, problems)
			}
			want, got := valuesOf(first), valuesOf(second)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("read %v\nthen %v\nfrom\n%s", want, got, &text)
			}
		}
	})
}

// readAs reads content as Load does, without the defaults.
func readAs(origin Layer, content []byte) (*Config, Errors) {
	name := filepath.Join(string(filepath.Separator), "etc", "codeloops.toml")
	if problem := checkText(name, content); problem != nil {
		return nil, Errors{problem}
	}
	keys := newSchema()
	r := fileReader{name: name, origin: origin, schema: keys, home: string(filepath.Separator)}
	if problems := r.read(content); len(problems) > 0 {
		return nil, problems
	}
	c, err := merge([]layer{keys.defaults(), r.layer})
	if err != nil {
		return nil, Errors{{Problem: err.Error()}}
	}
	return c, nil
}

func valuesOf(c *Config) map[string]any {
	held := map[string]any{}
	for _, e := range c.entries() {
		held[e.Key] = e.Value
	}
	return held
}
