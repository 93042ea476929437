package agent

import (
	"os"
	"path/filepath"
	"testing"

	"codeloops/internal/loop"
)

func TestSignedIn(t *testing.T) {
	t.Parallel()
	home, other := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) string {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	auth := write(home, ".codex/auth.json", `{"tokens": {}}`)
	elsewhere := write(other, "auth.json", `{"tokens": {}}`)
	moved := write(other, "opencode/auth.json", `{"anthropic": {}}`)
	write(home, ".pi/agent/auth.json", "{}\n")
	write(home, ".local/share/amp/secrets.json", `{"apiKey": 1}`)
	write(home, ".qwen/oauth_creds.json", "")
	account := write(home, ".claude.json", `{"oauthAccount": {"a": 1}}`)
	write(other, ".claude.json", `{"oauthAccount": {}, "numStartups": 3}`)
	write(home, ".cursor/cli-config.json", `{"authInfo": null}`)
	write(home, ".copilot/config.json", "// not JSON\n{}")
	for _, test := range []struct {
		name string
		spec Spec
		env  []string
		want string
	}{
		{"a variable", known("claude"), []string{"ANTHROPIC_API_KEY=x"}, "ANTHROPIC_API_KEY"},
		{"an empty one", known("cursor"), []string{"CURSOR_API_KEY=x", "CURSOR_API_KEY="}, ""},
		{"a file", known("codex"), nil, auth},
		{"a file elsewhere", known("codex"), []string{"CODEX_HOME=" + other}, elsewhere},
		{"where data is", known("opencode"), []string{"XDG_DATA_HOME=" + other}, moved},
		{"data that is elsewhere", known("amp"), []string{"XDG_DATA_HOME=" + other}, ""},
		{"data that is nowhere", known("amp"), []string{"XDG_DATA_HOME=other"}, filepath.Join(home, ".local", "share", "amp", "secrets.json")},
		{"what was there before a login", known("pi"), nil, ""},
		{"an empty file", known("qwen"), nil, ""},
		{"a key in a file", known("claude"), nil, account},
		{"an empty key", known("claude"), []string{"CLAUDE_CONFIG_DIR=" + other}, ""},
		{"a key that is null", known("cursor"), nil, ""},
		{"what is no JSON", known("copilot"), nil, ""},
		{"nothing", known("crush"), nil, ""},
	} {
		if got := test.spec.SignedIn(test.env, home); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if got := known("codex").SignedIn(nil, ""); got != "" {
		t.Errorf("without a home: %q", got)
	}
}

// Every agent of the catalogue declares its credentials; otherwise auto would skip it.
func TestCatalogueHasCredentials(t *testing.T) {
	t.Parallel()
	for _, s := range Catalogue() {
		if len(s.Credentials) == 0 {
			t.Errorf("%s has no credentials", s.Name)
		}
		for _, c := range s.Credentials {
			if (c.Env == "") == (c.File == "") || filepath.IsAbs(c.File) {
				t.Errorf("%s: %+v", s.Name, c)
			}
		}
	}
}

// TestHideSecrets checks the environment of real processes: a turn's access decides what
// is in it, not the name of its role.
func TestHideSecrets(t *testing.T) {
	t.Parallel()
	s := newStage(t, "mine")
	s.place.HideSecrets, s.place.EnvPass = true, []string{"NPM_*"}
	s.place.Environ = append(s.place.Environ, "MINE_API_KEY=k", "AWS_SECRET_ACCESS_KEY=s", "NPM_TOKEN=n", "PLAIN=p")
	spec := Custom("mine", CustomConfig{Command: []string{"mine"}, Env: map[string]string{"GIVEN_TOKEN": "g"}})
	spec.Credentials = []Credential{{Env: "MINE_API_KEY"}}
	a := s.agent(spec, "")
	all, clean := []string{"k", "s", "n", "p", "g"}, []string{"k", "", "n", "p", "g"}
	for _, r := range []Request{
		{Role: loop.RoleActor, Access: loop.Write},
		{Role: loop.RoleCritic, Access: loop.ReadOnly},
		{Role: "planner", Access: loop.ReadOnly},
		{Role: loop.RoleActor, Access: loop.ReadOnly},
		{Role: "peer_1", Access: loop.Write},
		{Role: loop.RoleCritic},
	} {
		want := clean
		if r.Access == loop.Write {
			want = all
		}
		_, c := s.play(a, r)
		for i, name := range []string{"MINE_API_KEY", "AWS_SECRET_ACCESS_KEY", "NPM_TOKEN", "PLAIN", "GIVEN_TOKEN"} {
			got := c.env(name)
			if len(got) > 1 || (len(got) == 1) != (want[i] != "") || len(got) == 1 && got[0] != want[i] {
				t.Errorf("%s, %s: %s is %q, want %q", r.Role, r.Access, name, got, want[i])
			}
		}
	}
}
