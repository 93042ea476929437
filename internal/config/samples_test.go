package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each file in testdata/valid loads as the project file or, if its name begins with
// "global", as the global one. The file beside it lists what it sets.
func TestValidSamples(t *testing.T) {
	t.Parallel()
	samples(t, "valid", func(t *testing.T, file string, o Options) string {
		t.Helper()
		var b strings.Builder
		for _, e := range mustLoad(t, o).Entries() {
			if e.Origin.Layer != Default {
				fmt.Fprintf(&b, "%v  # %v %v\n", e, e.Origin.Name, strings.ReplaceAll(e.Origin.String(), file, "$FILE"))
			}
		}
		return b.String()
	})
}

// Each file in testdata/invalid is rejected with the messages in the file beside it.
func TestInvalidSamples(t *testing.T) {
	t.Parallel()
	samples(t, "invalid", func(t *testing.T, file string, o Options) string {
		t.Helper()
		c, err := Load(o)
		if err == nil {
			t.Fatalf("loaded: %v", c.Entries())
		}
		if c != nil {
			t.Error("a configuration came with the error")
		}
		return strings.ReplaceAll(hints(err), file, "$FILE")
	})
}

func samples(t *testing.T, folder string, result func(t *testing.T, file string, o Options) string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.toml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, sample := range files {
		t.Run(strings.TrimSuffix(filepath.Base(sample), ".toml"), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(sample)
			if err != nil {
				t.Fatal(err)
			}
			p := newPlace(t)
			write := p.project
			if strings.HasPrefix(filepath.Base(sample), "global") {
				write = p.global
			}
			file := write(string(content))
			o := p.options()
			o.TrustProject = true
			golden(t, strings.TrimSuffix(sample, ".toml")+".golden", result(t, file, o))
		})
	}
}

// hints formats an error as commands do, each problem with its hint.
func hints(err error) string {
	all := problemsIn(err)
	if all == nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintln(&b, p.Error())
		if p.Hint != "" {
			fmt.Fprintln(&b, "  hint:", p.Hint)
		}
	}
	return b.String()
}

// problemsIn returns the problems in an error one by one.
func problemsIn(err error) (all []*Error) {
	several, ok := errors.AsType[Errors](err)
	if !ok {
		several = Errors{err}
	}
	for _, err := range several {
		if one, ok := errors.AsType[*Error](err); ok {
			all = append(all, one)
		}
	}
	return all
}
