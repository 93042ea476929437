//go:build unix

package diff

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestSharedMode: core.sharedRepository determines the permissions of files.
func TestSharedMode(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]fs.FileMode{
		"umask": 0o600, "false": 0o600, "0": 0o600, "group": 0o660, "true": 0o660, "1": 0o660,
		"all": 0o664, "world": 0o664, "everybody": 0o664, "2": 0o664, "0640": 0o640, "0600": 0o600, "0777": 0o666,
		"0400": 0, "nonsense": 0,
	} {
		dir := t.TempDir()
		for _, name := range []string{"objects", "refs"} {
			if err := os.MkdirAll(filepath.Join(dir, ".git", name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for name, content := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\tsharedRepository = " + value + "\n"} {
			if err := os.WriteFile(filepath.Join(dir, ".git", name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := openedAt(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := sharedMode(r.Config); got != want || (err != nil) != (want == 0) {
			t.Errorf("%s: %o, %v; want %o", value, got, err, want)
		}
	}
}
