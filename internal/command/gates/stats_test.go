package gates

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestStats(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("git", "init", "-q")
	write("tracked", "one")
	write("100644 x 0\ttab", "one")
	run("git", "add", "tracked")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("sub/other", "one")
	seen := stats(t.Context(), os.Environ(), dir)
	if seen == "" || seen != stats(t.Context(), os.Environ(), dir) {
		t.Fatalf("a work tree in which nothing happens has the digests %q and %q", seen, stats(t.Context(), os.Environ(), dir))
	}
	if sub := stats(t.Context(), os.Environ(), filepath.Join(dir, "sub")); sub == "" {
		t.Error("nothing is known from a directory inside")
	}
	times := time.Now().Add(-time.Hour)
	for name, change := range map[string]func(){
		"another text": func() { write("tracked", "other") },
		"one of the same size, its time put back": func() { write("tracked", "rehto"); _ = os.Chtimes(filepath.Join(dir, "tracked"), times, times) },
		"an untracked file, with a tab":           func() { write("100644 x 0\ttab", "two") },
		"a new file":                              func() { write("new", "") },
		"one below":                               func() { write("sub/other", "two") },
		"staged":                                  func() { run("git", "add", "sub/other") },
		"gone":                                    func() { _ = os.Remove(filepath.Join(dir, "tracked")) },
	} {
		before := stats(t.Context(), os.Environ(), dir)
		change()
		if after := stats(t.Context(), os.Environ(), dir); after == before {
			t.Errorf("%s is not seen", name)
		}
	}
	write("ignored", "")
	write(".gitignore", "ignored\n")
	before := stats(t.Context(), os.Environ(), dir)
	write("ignored", "other")
	if stats(t.Context(), os.Environ(), dir) != before {
		t.Error("an ignored file counts")
	}
	run("git", "init", "-q", "inside")
	write("inside/file", "")
	if got := stats(t.Context(), os.Environ(), dir); got != "" {
		t.Errorf("with a repository inside the digest is %q", got)
	}
}
