package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codeloops/internal/git"
)

func TestWithoutRepository(t *testing.T) {
	t.Parallel()
	env := []string{
		"HOME=/h", "GIT_DIR=/r/.git", "PWD=/w", "GIT_INDEX_FILE=", "GIT_AUTHOR_NAME=n", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.pager", "OLDPWD=/v", "GIT_SSH_COMMAND=ssh", "GIT_DIRECTORY=x",
	}
	before := slices.Clone(env)
	want := []string{"HOME=/h", "GIT_AUTHOR_NAME=n", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.pager", "GIT_SSH_COMMAND=ssh", "GIT_DIRECTORY=x"}
	if got := git.WithoutRepository(env); !slices.Equal(got, want) {
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
		if settings := strings.HasPrefix(name, "GIT_CONFIG"); git.NamesRepository(name) == settings {
			t.Errorf("%s: %t", name, !settings)
		}
	}
}

// TestWithoutOwn: variables of the repository that the directory has anyway go, those of another one stay.
func TestWithoutOwn(t *testing.T) {
	t.Parallel()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = top
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
			"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@b")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "-q", "a")
	run("-C", "a", "commit", "-q", "--allow-empty", "-m", "start")
	run("-C", "a", "worktree", "add", "-q", "../linked")
	run("init", "-q", "b")
	if err := os.Mkdir(filepath.Join(top, "a", "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := filepath.Join(top, "a", ".git")
	for name, c := range map[string]struct {
		dir  string
		env  []string
		stay bool
	}{
		"an index":                       {dir: "a", env: []string{"GIT_INDEX_FILE=.git/index", "GIT_PREFIX="}},
		"an index that is being written": {dir: "a", env: []string{"GIT_INDEX_FILE=" + a + "/next-index-1.lock"}},
		"a relative GIT_DIR":             {dir: "a", env: []string{"GIT_DIR=.git"}},
		"GIT_DIR of a linked work tree":  {dir: "linked", env: []string{"GIT_DIR=" + a + "/worktrees/linked", "GIT_INDEX_FILE=" + a + "/worktrees/linked/index"}},
		"GIT_DIR and GIT_WORK_TREE":      {dir: "a", env: []string{"GIT_DIR=" + a, "GIT_WORK_TREE=."}},
		"GIT_DIR in a subdirectory":      {dir: "a/sub", env: []string{"GIT_DIR=" + a}},
		"a common directory":             {dir: "linked", env: []string{"GIT_DIR=" + a + "/worktrees/linked", "GIT_COMMON_DIR=" + a}},
		"its own objects":                {dir: "a", env: []string{"GIT_OBJECT_DIRECTORY=.git/objects"}},
		"another repository":             {dir: "a", env: []string{"GIT_DIR=../b/.git", "GIT_INDEX_FILE=x"}, stay: true},
		"another work tree":              {dir: "a", env: []string{"GIT_DIR=" + a, "GIT_WORK_TREE=../b"}, stay: true},
		"a repository only by name":      {dir: ".", env: []string{"GIT_DIR=" + a}, stay: true},
		"nothing there":                  {dir: "a", env: []string{"GIT_DIR=/nowhere"}, stay: true},
		"objects of a push":              {dir: "a", env: []string{"GIT_OBJECT_DIRECTORY=../b/.git/objects"}, stay: true},
		"where to stop":                  {dir: "a", env: []string{"GIT_CEILING_DIRECTORIES=" + top}, stay: true},
		"settings":                       {dir: "a", env: []string{"GIT_CONFIG_PARAMETERS='a.b'='c'", "GIT_AUTHOR_DATE=@1"}, stay: true},
	} {
		env := append([]string{"HOME=/h"}, c.env...)
		want := env[:1]
		if c.stay {
			want = env
		}
		if got := git.WithoutOwn(filepath.Join(top, c.dir), env); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
