package clients_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"codeloops/internal/cli/clients"
	"codeloops/internal/config/host"
)

// TestRoundTrip: an entry is added to whatever a file holds, is found there, is entered only once, and when it is taken
// out the file is as it was, byte by byte.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ client, before, with string }{
		"none":    {"cursor", "", "{\n  \"mcpServers\": {\n    \"codeloops\": {\n      \"command\": \"/bin/codeloops\",\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n  }\n}\n"},
		"others":  {"cursor", "{\n\t\"mcpServers\": {\n\t\t\"x\": {\"command\": \"x\"}\n\t},\n\t\"y\": 1\n}", "\"x\": {\"command\": \"x\"},\n\t\t\"codeloops\": {\n\t\t\t\"command\""},
		"comment": {"vscode", "// mine\n{\n  \"servers\": {\n    \"x\": {}, // the last\n  },\n  /* z */ \"inputs\": [],\n}\n", "\"type\": \"stdio\""},
		"compact": {"cursor", `{"mcpServers":{"x":{}},"y":[1,2]}`, `"x":{},"codeloops":{"command":"/bin/codeloops","args":["mcp"]}},"y":[1,2]}`},
		"without": {"cursor", "{\n    \"y\": 1\n}\n", "\"y\": 1,\n    \"mcpServers\": {\n        \"codeloops\": {"},
		"windows": {"cursor", "{\r\n  \"y\": 1\r\n}\r\n", "\"y\": 1,"},

		"no toml":   {"codex", "", "[mcp_servers.codeloops]\ncommand = \"/bin/codeloops\"\nargs = [\"mcp\"]\n"},
		"toml":      {"codex", "model = \"x\" # mine\n\n[mcp_servers.x]\ncommand = \"x\"\n", "command = \"x\"\n\n[mcp_servers.codeloops]\n"},
		"torn toml": {"codex", "model = \"x\"", "\"x\"\n[mcp_servers.codeloops]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings(t, c.client)
			put(t, s, c.before)
			entry := clients.Server{Command: "/bin/codeloops", Args: []string{"mcp"}}
			for n := range 2 {
				changed, err := s.Install(t.Context(), entry)
				if err != nil || changed != (n == 0) {
					t.Fatalf("installed again: %t, %v", changed, err)
				}
			}
			if got := text(s); !strings.Contains(got, c.with) {
				t.Errorf("installed:\n%s", got)
			}
			if found, ok, err := s.Installed(); !ok || err != nil || found.Command != entry.Command || len(found.Args) != 1 {
				t.Errorf("found %+v, %t, %v", found, ok, err)
			}
			if changed, err := s.Uninstall(t.Context()); !changed || err != nil {
				t.Errorf("%t, %v", changed, err)
			}
			if got := text(s); got != c.before {
				t.Errorf("afterwards:\n%q\nwant\n%q", got, c.before)
			}
			if changed, err := s.Uninstall(t.Context()); changed || err != nil {
				t.Errorf("without an entry: %t, %v", changed, err)
			}
		})
	}
}

// TestReplace: an entry with another program is replaced, with what the client has added to it, and what stands behind
// it stays.
func TestReplace(t *testing.T) {
	t.Parallel()
	for client, c := range map[string]struct{ before, after string }{
		"codex": {
			"a = 1\n[mcp_servers.codeloops]\ncommand = \"old\"\nargs = [\n  \"mcp\",\n]\n\n[mcp_servers.codeloops.tools.verdict]\napproval_mode = \"approve\"\n# of b\n[b]\nc = 1\n",
			"a = 1\n# of b\n[b]\nc = 1\n",
		},
		"cursor": {"{\n  \"mcpServers\": {\n    \"codeloops\": {\"command\": \"old\", \"env\": {}},\n    \"x\": {}\n  }\n}\n", "{\n  \"mcpServers\": {\n    \"x\": {}\n  }\n}\n"},
	} {
		s := settings(t, client)
		put(t, s, c.before)
		if changed, err := s.Install(t.Context(), clients.Server{Command: "new", Args: []string{"mcp"}}); !changed || err != nil {
			t.Errorf("%s: %t, %v", client, changed, err)
		}
		if found, ok, err := s.Installed(); !ok || found.Command != "new" || err != nil || strings.Contains(text(s), "old") {
			t.Errorf("%s: %+v, %t, %v\n%s", client, found, ok, err, text(s))
		}
		if _, err := s.Uninstall(t.Context()); err != nil || text(s) != c.after {
			t.Errorf("%s: %v\n%q\nwant\n%q", client, err, text(s), c.after)
		}
	}
}

// TestRefused: a file that cannot be understood is left alone, and the error names it.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ client, before string }{
		"no JSON":   {"cursor", "{"},
		"a list":    {"cursor", "[]"},
		"of a kind": {"cursor", `{"mcpServers": []}`},
		"no TOML":   {"codex", "a ="},
		"inline":    {"codex", "mcp_servers = { x = { command = \"x\" } }\n"},
	} {
		s := settings(t, c.client)
		put(t, s, c.before)
		if changed, err := s.Install(t.Context(), clients.Server{Command: "x", Args: []string{"mcp"}}); changed || err == nil || !strings.Contains(err.Error(), s.Path) {
			t.Errorf("%s: %t, %v", name, changed, err)
		}
		if got := text(s); got != c.before {
			t.Errorf("%s: %q", name, got)
		}
	}
	if _, err := clients.Of(&host.Host{Environ: []string{"HOME=/h"}}, "emacs", ""); err == nil {
		t.Error("there is a client emacs")
	}
}

// TestLink: a file that is a link to another one stays a link, and keeps its mode, also when nothing is left in it. One that
// leads nowhere, and what is read-only, is left alone.
func TestLink(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("only some users may make links there")
	}
	for client, empty := range map[string]string{"codex": "", "cursor": "{}\n"} {
		s := settings(t, client)
		put(t, s, "# nothing")
		to := filepath.Join(t.TempDir(), "mine")
		must(t, os.Rename(s.Path, to), os.Symlink(to, s.Path), os.WriteFile(to, []byte(empty), 0o640))
		entry := clients.Server{Command: "x", Args: []string{"mcp"}}
		_, err := s.Install(t.Context(), entry)
		must(t, err)
		link, err := os.Readlink(s.Path)
		st, e := os.Stat(to)
		if err != nil || e != nil || link != to || st.Mode().Perm() != 0o640 || !strings.Contains(text(s), "codeloops") {
			t.Errorf("%s: %s, %v, %v, %v", client, link, err, e, st)
		}
		_, err = s.Uninstall(t.Context())
		must(t, err)
		if now, err := os.ReadFile(to); err != nil || string(now) != empty {
			t.Errorf("%s: afterwards %q, %v", client, now, err)
		}
		must(t, os.Chmod(to, 0o440))
		if _, err := s.Install(t.Context(), entry); err == nil || text(s) != empty {
			t.Errorf("%s: read-only, and now %q, %v", client, text(s), err)
		}
		must(t, os.Remove(to))
		if _, err := s.Install(t.Context(), entry); err == nil {
			t.Errorf("%s: a link that leads nowhere was followed", client)
		}
		if link, err := os.Readlink(s.Path); link != to {
			t.Errorf("%s: the link is gone: %v", client, err)
		}
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// settings are those of a user with a home of their own.
func settings(t *testing.T, client string) clients.Settings {
	t.Helper()
	s, err := clients.Of(&host.Host{Environ: []string{"HOME=" + t.TempDir()}}, client, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s clients.Settings, text string) {
	t.Helper()
	if text == "" {
		return
	}
	err := os.MkdirAll(filepath.Dir(s.Path), 0o700)
	if err == nil {
		err = os.WriteFile(s.Path, []byte(text), 0o640)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func text(s clients.Settings) string {
	text, _ := os.ReadFile(s.Path)
	return string(text)
}
