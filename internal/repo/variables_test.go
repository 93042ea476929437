package repo_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/repo"
)

func TestWithoutRepository(t *testing.T) {
	t.Parallel()
	env := []string{
		"HOME=/h", "GIT_DIR=/r/.git", "PWD=/w", "GIT_INDEX_FILE=", "GIT_AUTHOR_NAME=n", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.pager", "OLDPWD=/v", "GIT_SSH_COMMAND=ssh", "GIT_DIRECTORY=x",
	}
	before := slices.Clone(env)
	want := []string{"HOME=/h", "GIT_AUTHOR_NAME=n", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.pager", "GIT_SSH_COMMAND=ssh", "GIT_DIRECTORY=x"}
	if got := repo.WithoutRepository(env); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !slices.Equal(env, before) {
		t.Errorf("the environment itself is now %q", env)
	}
}

// TestNamesRepository: the variables are those that git itself clears before it enters
// another repository, except for settings.
func TestNamesRepository(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--local-env-vars").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		if settings := strings.HasPrefix(name, "GIT_CONFIG"); repo.NamesRepository(name) == settings {
			t.Errorf("%s: %t", name, !settings)
		}
	}
}
