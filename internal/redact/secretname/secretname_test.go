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
		"GITHUB_PAT": true, "DB_PASS": true, "GPG_PASSPHRASE": true, "AWS_CREDENTIALS": true, "SSHPASS": true, "MYSQL_PWD": true,
		"NPM_CONFIG__AUTH": true, "REDISCLI_AUTH": true, "PROXY_AUTHORIZATION": true, "BASICAUTH": true, "docker_auth_config": true,
		"GIT_AUTHOR_NAME": false, "GIT_AUTHOR_EMAIL": false, "XAUTHORITY": false, "XAUTHLOCALHOSTNAME": false, "AUTHORS": false,
		"OAUTH_CLIENT_ID": false, "AUTH_URL": false, "SSH_AUTH_INFO_TYPE": false, "GIT_ASKPASS": false, "SSH_ASKPASS": false,
		"PWD": false, "OLDPWD": false, "XPATH": false, "COMPASS": false, "BYPASS": false,
		"KEY": false, "KEYBOARD": false, "PATH": false, "": false, "SSH_AUTH_SOCK": false,
	} {
		if got := secretname.Is(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
