package checkpoint

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
)

func placed(t *testing.T, path string) scan.PathFile {
	t.Helper()
	f, ok := scan.Place(path, scan.Executable, plumbing.NewHash(strings.Repeat("ab", 20)), 1<<40)
	if !ok {
		t.Fatalf("%q is no path", path)
	}
	return f
}

// TestLeftOut: the left-out files in a checkpoint's message can be read back, and the
// caller's part of the message cannot forge them.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	want := []scan.PathFile{placed(t, "plain"), placed(t, "d/e/\xff\n\"\u00e9 \\")}
	message := (&Checkpoint{Message: "Subject\n\nLeft-out: 100644 no\n"}).message(want)
	if got := LeftOut(message); !reflect.DeepEqual(got, want) {
		t.Errorf("%q is read as %v, want %v", message, got, want)
	}
	spoof := strings.TrimSpace(leftOutText(want[:1])) + "\n"
	for _, message := range []string{(&Checkpoint{Message: spoof}).message(nil), (&Checkpoint{Message: "a\n\n" + spoof}).message(nil)} {
		if got := LeftOut(message); got != nil {
			t.Errorf("the caller's message %q is read as %v", message, got)
		}
	}
}

func FuzzParseLeftOut(f *testing.F) {
	id := strings.Repeat("ab", 20)
	f.Add("Left-out: 100644 " + id + " 5 \"a/b\"\n")
	f.Add("Left-out: 100755 " + id + " 5 \"../b\"\n")
	f.Add("Left-out: 100644 " + id + " 5 a/b\n")
	f.Add("Subject\n\nBody\n")
	f.Fuzz(func(t *testing.T, message string) {
		files := LeftOut(message)
		for _, f := range files {
			if strings.HasPrefix(f.Path, "/") || strings.Contains("/"+f.Path+"/", "/../") || strings.Contains(f.Path, "\x00") {
				t.Errorf("%q names %q", message, f.Path)
			}
		}
		if again := LeftOut(leftOutText(files)); !reflect.DeepEqual(again, files) {
			t.Errorf("%q is read as %v, then as %v", message, files, again)
		}
	})
}
