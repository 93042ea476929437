package view_test

import (
	"path/filepath"
	"testing"
	"time"

	"codeloops/internal/diff/restore"
	"codeloops/internal/view"
)

// TestApply: the user's files become those of a view; the repository and what git ignores
// stay as they are.
func TestApply(t *testing.T) {
	t.Parallel()
	kinds(t, func(t *testing.T, kind view.Kind) {
		u := newUser(t, kind, "")
		repository := state(t, filepath.Join(u.root, ".git"))
		v := u.open()
		defer v.Close()
		u.run(v, `echo more >>a.txt; chmod 600 a.txt; rm src/b.txt; chmod -x src/run.sh; mkdir deep; echo x >deep/y; ln -sf new.txt link
			rm new.txt; echo z >ignored/z; git add -A; git commit -qm theirs; rm staged.txt; mkdir staged.txt; echo in >staged.txt/in`)
		plan, err := v.Plan("what a view has")
		if err != nil {
			t.Fatal(err)
		}
		keep := &restore.Keep{Dir: filepath.Join(t.TempDir(), "kept"), Now: time.Now}
		if _, err := keep.Restore(t.Context(), u.root, plan); err != nil {
			t.Fatal(err)
		}
		u.sh(`test "$(cat a.txt)" = "one
more"; test "$(stat -c %a a.txt)" = 600; ! test -e src/b.txt; test -f src/run.sh; ! test -x src/run.sh; test "$(cat deep/y)" = x
			test "$(readlink link)" = new.txt; ! test -e new.txt; ! test -e ignored/z; test "$(cat ignored/cache)" = cache; test "$(cat staged.txt/in)" = in`)
		if now := state(t, filepath.Join(u.root, ".git")); now != repository {
			t.Errorf("the repository has changed:\n%s", differing(repository, now))
		}
		if w := u.written(v); len(w.Files()) > 0 {
			t.Errorf("the view differs in %+v", w)
		}
	})
}
