package git_test

import (
	"testing"

	"codeloops/internal/git"
)

func TestOld(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"git version 2.30.2": true, "git version 1.9.1": true, "git version 2.31.0": false, "git version 2.39.5 (Apple Git-154)": false,
		"git version 3.0.1": false, "my own git": false, "": false,
	} {
		if got := git.Old(version); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}
