package forge

import "testing"

// TestAt: what git's addresses stand for. A server is known by its name, or by a variable.
func TestAt(t *testing.T) {
	t.Parallel()
	env := map[string]string{"GH_HOST": "git.example.com", "GITLAB_HOST": "https://lab.example.com", "CI_SERVER_URL": "https://ci.example.com", "CI_API_V4_URL": "https://ci.example.com/api/v4/"}
	for address, want := range map[string]string{
		"git@github.com:owner/repo.git":                  "GitHub github.com/owner/repo https://api.github.com",
		"https://github.com/owner/repo":                  "GitHub github.com/owner/repo https://api.github.com",
		"https://user:word@GitHub.com/owner/repo.git/":   "GitHub github.com/owner/repo https://api.github.com",
		"ssh://git@ssh.github.com:443/owner/repo.git":    "GitHub github.com/owner/repo https://api.github.com",
		"git@corp.ghe.com:owner/repo.git":                "GitHub corp.ghe.com/owner/repo https://api.corp.ghe.com",
		"https://git.example.com/owner/repo.git":         "GitHub git.example.com/owner/repo https://git.example.com/api/v3",
		"git@gitlab.com:group/sub/repo.git":              "GitLab gitlab.com/group/sub/repo https://gitlab.com/api/v4",
		"ssh://git@lab.example.com:2222/group/repo":      "GitLab lab.example.com/group/repo https://lab.example.com/api/v4",
		"https://ci.example.com/group/repo.git":          "GitLab ci.example.com/group/repo https://ci.example.com/api/v4",
		"https://github.com.evil.example/owner/repo.git": "", "/srv/git/repo.git": "", "file:///srv/git/a/b.git": "", "C:/git/repo": "", "https://github.com/owner": "", "": "",
	} {
		p, err := At(address, func(name string) string { return env[name] })
		got := string(p.Kind) + " " + p.String() + " " + p.API
		if (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q is %q (%v), want %q", address, got, err, want)
		}
	}
}
