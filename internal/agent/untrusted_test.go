package agent

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
)

// TestUntrusted: the globs of the catalogue are valid, and whoever is kept from something is started in
// another way, for a request, too.
func TestUntrusted(t *testing.T) {
	t.Parallel()
	for _, s := range Catalogue() {
		for _, glob := range slices.Concat(s.Untrusted.Files, s.Untrusted.Anyway) {
			if _, err := path.Match(glob, ""); err != nil {
				t.Errorf("%s: %q: %v", s.Name, glob, err)
			}
		}
		wary, args := s.Wary(), s.Untrusted.Args
		if kept := len(args)+len(s.Untrusted.Env) > 0; kept != (len(s.Untrusted.Files) > 0) {
			t.Errorf("%s is kept from %q by nothing, or from nothing by %q", s.Name, s.Untrusted.Files, args)
		}
		for _, line := range [][]string{wary.Write, wary.handing("@").Write} {
			if !slices.Equal(line[max(0, len(line)-len(args)):], args) {
				t.Errorf("%s is started with %q", s.Name, line)
			}
		}
		for name, value := range s.Untrusted.Env {
			if _, also := s.Env[name]; also || wary.Env[name] != value {
				t.Errorf("%s: %s is %q, and before %q", s.Name, name, wary.Env[name], s.Env[name])
			}
		}
	}
}

// TestTrusts: only a directory that claude names counts, and only if it says so.
func TestTrusts(t *testing.T) {
	t.Parallel()
	claude, err := Find("claude")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	file := filepath.Join(home, ".claude.json")
	for text, want := range map[string]bool{
		`{"projects":{"/p":{"hasTrustDialogAccepted":true}}}`:   true,
		`{"projects":{"/p":{"hasTrustDialogAccepted":false}}}`:  false,
		`{"projects":{"/p":{"hasTrustDialogAccepted":"true"}}}`: false,
		`{"projects":{"/p/q":{"hasTrustDialogAccepted":true}}}`: false,
		`{"projects":{"/p":null}}`:                              false,
		`{"hasTrustDialogAccepted":true}`:                       false,
		`{`:                                                     false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := claude.Trusts([]string{"/o", "/p"}, nil, home); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	if claude.Trusts([]string{"/p"}, []string{"CLAUDE_CONFIG_DIR=" + home + "/none"}, home) {
		t.Error("a file that is not there counts")
	}
}
