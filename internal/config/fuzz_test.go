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
			first, err := readAs(origin, content)
			if err != nil {
				for _, p := range problemsIn(err) {
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
			second, err := readAs(Global, []byte(text.String())) // a global file may hold every key
			if err != nil {
				t.Fatalf("written as\n%s\n%v", &text, err)
			}
			want, got := valuesOf(first), valuesOf(second)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("read %v\nthen %v\nfrom\n%s", want, got, &text)
			}
		}
	})
}

// readAs reads content as Load does, without the defaults.
func readAs(origin Layer, content []byte) (*Config, error) {
	name := filepath.Join(string(filepath.Separator), "etc", "codeloops.toml")
	r := fileReader{layer: layer{}, name: name, origin: origin, home: string(filepath.Separator)}
	if r.read(content); len(r.problems) > 0 {
		return nil, r.problems.orNil()
	}
	c, err := decoded(merge([]layer{defaults(), r.layer}))
	if err != nil {
		return nil, &Error{Problem: err.Error()}
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
