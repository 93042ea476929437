package diff

import "testing"

func TestProper(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"a", "a/b", ".gitignore", ".github/x", "git", "a b", "ünï", "..a", "a..", ".git2", "x.git", "new\nline", "gitx~1"} {
		if !proper(path) {
			t.Errorf("%q is refused", path)
		}
	}
	for _, path := range []string{
		"", "/a", "a/", "./a", "a//b", "..", "../a", "a/../b", "a\x00b",
		".git", ".git/config", ".Git/config", "a/.GIT", "git~1", "GIT~1/x", ".git.", ".git /x", ".git. .", ".git:x", ".g\u200cit", ".git\ufeff",
	} {
		if proper(path) {
			t.Errorf("%q is taken", path)
		}
	}
}
