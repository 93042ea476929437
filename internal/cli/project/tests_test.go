package project

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestTests(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"nothing":          {},
		"go":               {map[string]string{"go.mod": "module m\n"}, []string{"go test ./..."}},
		"node":             {map[string]string{"package.json": `{"scripts": {"test": "vitest run"}}`}, []string{"npm test"}},
		"pnpm":             {map[string]string{"package.json": `{"scripts": {"test": "x"}}`, "pnpm-lock.yaml": ""}, []string{"pnpm test"}},
		"npm's own script": {map[string]string{"package.json": `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`}, nil},
		"no manifest":      {map[string]string{"package.json": `{`}, nil},
		"rust":             {map[string]string{"Cargo.toml": "[package]\n"}, []string{"cargo test"}},
		"pytest":           {map[string]string{"pyproject.toml": "[tool.pytest.ini_options]\n"}, []string{"python -m pytest"}},
		"tests":            {map[string]string{"pyproject.toml": "", "tests/test_a.py": "", "uv.lock": ""}, []string{"uv run pytest"}},
		"no tests":         {map[string]string{"pyproject.toml": ""}, nil},
		"make":             {map[string]string{"Makefile": "build:\n\tgo build\ntest: build\n\tgo test\n", "go.mod": "module m\n"}, []string{"make test"}},
		"a variable":       {map[string]string{"Makefile": "test := x\ntest-flags = y\n"}, nil},
		"just":             {map[string]string{"justfile": "test filter='':\n  cargo test\n", "Cargo.toml": ""}, []string{"just test"}},
		"both":             {map[string]string{"go.mod": "module m\n", "package.json": `{"scripts": {"test": "x"}}`}, []string{"go test ./...", "npm test"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range c.files {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := Tests(dir); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
