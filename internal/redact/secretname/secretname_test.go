package secretname_test

import (
	"testing"

	"codeloops/internal/redact/secretname"
)

func TestIs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"ANTHROPIC_API_KEY": true, "github_token": true, "TOKENIZERS_PARALLELISM": true,
		"AWS_SECRET_ACCESS_KEY": true, "DB_PASSWORD_FILE": true, "a/b_KEY": true,
		"KEY": false, "KEYBOARD": false, "PATH": false, "": false, "SSH_AUTH_SOCK": false,
	} {
		if got := secretname.Is(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
