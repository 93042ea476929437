package diff_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/diff"
	"codeloops/internal/diff/restore"
	"codeloops/internal/loop"
)

// keep returns the place for files that restores remove.
func (s *sandbox) keep() *restore.Keep {
	return &restore.Keep{Dir: filepath.Join(s.base, "kept"), Now: time.Now}
}

// putBack restores a checkpoint, as another process would.
func (s *sandbox) putBack(commit string, others ...string) (diff.RestorePlan, restore.Done, error) {
	s.t.Helper()
	tree := s.begin()
	var states []string
	for _, one := range append([]string{commit}, others...) {
		state, err := tree.Recall(one)
		s.must(err)
		states = append(states, state)
	}
	way, err := tree.PlanRestore(s.t.Context(), states[0], states[1:]...)
	s.must(err)
	if len(way.Changes) == 0 {
		return way, restore.Done{}, nil
	}
	done, err := s.keep().Restore(s.t.Context(), s.root, restore.Plan{Title: "then", Changes: way.Changes})
	return way, done, err
}

// restore restores a state that the tree knows.
func (s *sandbox) restore(tree *diff.Tree, c loop.Change) diff.RestorePlan {
	s.t.Helper()
	way, err := s.restores(s.t.Context(), tree, c)
	s.must(err)
	return way
}

func (s *sandbox) restores(ctx context.Context, tree *diff.Tree, c loop.Change) (diff.RestorePlan, error) {
	way, err := tree.PlanRestore(ctx, c.State)
	if err == nil && len(way.Changes) > 0 {
		_, err = s.keep().Restore(ctx, s.root, restore.Plan{Changes: way.Changes})
	}
	return way, err
}

func (s *sandbox) kept(tree *diff.Tree, name string) string {
	s.t.Helper()
	c, err := tree.Capture(s.t.Context())
	s.must(err)
	commit, err := tree.Checkpoint(s.t.Context(), c.State, "then/"+name, "then")
	s.must(err)
	return commit
}

// onDisk describes all files except git's own, by path.
func (s *sandbox) onDisk() map[string]string {
	s.t.Helper()
	files := make(map[string]string)
	s.must(filepath.WalkDir(s.root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(s.root, path)
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir():
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			files[name] = "-> " + target
			return err
		default:
			info, err := d.Info()
			s.must(err)
			content, err := os.ReadFile(path)
			files[name] = fmt.Sprintf("%v %q", info.Mode(), content)
			return err
		}
		return nil
	}))
	return files
}

// TestWayRandom: after random changes, a restore brings the files back, and can be
// undone.
func TestWayRandom(t *testing.T) { //nolint:gocyclo // one fact after the other
	t.Parallel()
	for seed := range randomCount(30) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, 1_000_000+uint64(seed))
			h.rand = rand.New(rand.NewPCG(uint64(seed), 2))
			tree := h.begin()
			h.steps(h.rand.IntN(8))
			commit := h.kept(tree, "1")
			then := h.onDisk()
			h.edits(1 + h.rand.IntN(8))
			edited := h.onDisk()
			way, _, err := h.putBack(commit)
			if err != nil {
				if !strings.HasPrefix(err.Error(), "nothing was changed") {
					t.Fatal(err)
				}
				h.same("refused", edited)
				return
			}
			for name, is := range h.onDisk() {
				stays := slices.Contains(way.Ignored, name) || slices.Contains(way.Nested, name)
				if want, was := then[name]; was && want != is && edited[name] != is || !was && !stays && edited[name] != is {
					t.Errorf("%s is %s, and was %s", name, is, want)
				}
			}
			// Restored ignore rules may reveal files that the replaced rules hid, and
			// that stayed for that reason.
			again, _, err := h.putBack(commit)
			if err != nil || slices.ContainsFunc(again.Changes, func(c restore.PathChange) bool {
				_, was := then[c.Path]
				return c.After.Kind != restore.Nothing || was
			}) {
				t.Errorf("restored again: %v, %v", again.Changes, err)
			}
			if len(way.Changes) == 0 || len(again.Changes) > 0 {
				return
			}
			one, err := h.keep().Find(h.root, "")
			h.must(err)
			back, err := h.keep().Undo(one)
			h.must(err)
			_, err = h.keep().Restore(t.Context(), h.root, back)
			h.must(err)
			h.same("undone", edited)
		})
	}
}

func (s *sandbox) same(what string, want map[string]string) {
	s.t.Helper()
	got := s.onDisk()
	if maps.Equal(got, want) {
		return
	}
	for name := range want {
		if got[name] != want[name] {
			s.t.Errorf("%s: %s is %s, want %s", what, name, got[name], want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			s.t.Errorf("%s: %s is %s, and should not be there", what, name, got[name])
		}
	}
}

// edits changes only files, and leaves nested repositories alone.
func (h *history) edits(n int) {
	h.t.Helper()
	for range n {
		h.t.Log(pick(h, []func() string{
			h.put, h.put, h.flip, h.flip, h.drop, h.mode, h.symlink, h.move, h.ignore,
		})())
	}
}

// TestWayBack: a restore brings back contents, links and permissions, and removes new
// files, without moving HEAD.
func TestWayBack(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "f\n")
	s.write("d/g", "g\n")
	s.link("f", "l")
	s.commit("first")
	s.append("f", "dirt\n")
	s.write("untracked", "u\n")
	s.write("private", "p\n")
	s.write("frozen", "frozen\n")
	s.write("same", "same\n")
	for name, mode := range map[string]os.FileMode{"untracked": 0o600, "private": 0o700, "frozen": 0o444, "same": 0o640} {
		s.chmod(name, mode)
	}
	tree := s.begin()
	commit, then := s.kept(tree, "0"), s.onDisk()
	s.commit("somebody commits")
	s.remove("d")
	s.remove("l")
	s.remove("frozen")
	s.write("l/x/y", "y\n")
	s.append("untracked", "more\n")
	s.chmod("untracked", 0o644)
	s.chmod("f", 0o755)
	s.chmod("private", 0o600)
	s.chmod("same", 0o644)
	s.git("rm", "-q", "--cached", "untracked")
	head := s.git("rev-parse", "HEAD")
	_, _, err := s.putBack(commit)
	s.must(err)
	s.same("restored", then)
	if s.exists("l/x") {
		t.Error("an emptied directory is still there")
	}
	if s.git("rev-parse", "HEAD") != head {
		t.Error("HEAD has moved")
	}
}

// TestWayLeaves: files stay that ignore rules hide now, or hid at the checkpoint or when
// the session began, and so do files in nested repositories.
func TestWayLeaves(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write(".gitignore", "*.log\n.env\n")
	s.write("d/f", "f\n")
	s.write(".env", "secret\n")
	s.write("old/file", "file\n")
	s.gitIn(s.path("old"), "init", "-q")
	tree := s.begin()
	start := s.kept(tree, "0")
	s.write(".gitignore", "*.log\nbuild\n")
	s.write("actor", "actor\n")
	commit := s.kept(tree, "1")
	s.write("new/f", "f\n")
	s.write("new/x.log", "log\n")
	s.write("hidden", "h\n")
	s.write("build/out", "o\n")
	s.write("more.log", "tracked by force\n")
	s.git("add", "-f", "more.log")
	s.write(".gitignore", "hidden\nd\n")
	s.write("old/later", "later\n")
	s.write("old/file", "changed\n")
	s.write("clone/work", "work\n")
	s.gitIn(s.path("clone"), "init", "-q")
	s.write("remote/objects/x", "x\n")
	s.write("remote/refs/y", "y\n")
	s.write("remote/HEAD", "ref: refs/heads/main\n")
	s.remove("d")
	way, done, err := s.putBack(commit, start)
	s.must(err)
	for name, want := range map[string]bool{
		".env": true, "new/x.log": true, "hidden": true, "build/out": true, "more.log": true, "old/later": true, "clone/work": true,
		"remote/HEAD": true, "remote/objects/x": true, "new/f": false, "d/f": true, "actor": true,
	} {
		if s.exists(name) != want {
			t.Errorf("%s exists: %t", name, !want)
		}
	}
	if got, _ := os.ReadFile(s.path("old/file")); string(got) != "file\n" {
		t.Errorf("old/file is %q", got)
	}
	if !slices.Contains(way.Ignored, "build/out") || !slices.Contains(way.Nested, "clone/work") || done.Kept == "" {
		t.Errorf("ignored %q, nested %q", way.Ignored, way.Nested)
	}
}

// TestWayRefuses: nothing is changed if some file cannot be restored.
func TestWayRefuses(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]struct {
		change func(*sandbox)
		want   string
	}{
		"ignored symlink for a directory": {func(s *sandbox) {
			s.remove("d")
			s.must(os.Mkdir(s.base+"/outside", 0o755))
			s.link("../outside", "d")
			s.write(".git/info/exclude", "d\n")
		}, "d/g: d: something is in the way"},
		"ignored symlink to a directory inside": {func(s *sandbox) {
			s.remove("d")
			s.link("e", "d")
			s.write(".git/info/exclude", "d\n")
		}, "d/g: d: something is in the way"},
		"ignored file in a directory for a file": {func(s *sandbox) {
			s.remove("f")
			s.write("f/x.log", "log\n")
		}, "f: f/x.log: something is in the way"},
		"a repository in the place of a file": {func(s *sandbox) {
			s.remove("f")
			s.write("f/x", "x\n")
			s.gitIn(s.path("f"), "init", "-q")
		}, "f: f/.git/"},
		"a content that is gone": {func(s *sandbox) {
			s.remove("large")
		}, "large: its content is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			s.write(".gitignore", "*.log\n")
			s.write("f", "f\n")
			s.write("d/g", "g\n")
			s.write("e/h", "h\n")
			s.commit("first")
			s.write("large", strings.Repeat("0123456789abcdef", 21<<16))
			commit := s.kept(s.begin(), "0")
			s.write("other", "other\n")
			refuse.change(s)
			before := s.onDisk()
			if _, _, err := s.putBack(commit); err == nil || !strings.Contains(err.Error(), refuse.want) {
				t.Errorf("error %v, want %q", err, refuse.want)
			}
			s.same("refused", before)
			if entries, _ := os.ReadDir(s.base + "/outside"); len(entries) > 0 || s.exists("e/g") {
				t.Error("written through a symlink")
			}
		})
	}
}

// TestWayOfConverted: files are restored byte for byte, regardless of git's conversion,
// and no filter runs.
func TestWayOfConverted(t *testing.T) {
	t.Parallel()
	sets := func(pairs ...string) func(*sandbox) {
		return func(s *sandbox) {
			for i := 0; i < len(pairs); i += 2 {
				s.git("config", pairs[i], pairs[i+1])
			}
		}
	}
	attributes := func(text string, pairs ...string) func(*sandbox) {
		return func(s *sandbox) {
			s.write(".git/info/attributes", text+"\n")
			sets(pairs...)(s)
		}
	}
	filter := []string{"filter.up.clean", "tr a-z A-Z", "filter.up.smudge", "echo smudged; cat"}
	for name, test := range map[string]struct{ then, now func(*sandbox) }{
		"as it was":            {sets(), sets()},
		"autocrlf on":          {sets(), sets("core.autocrlf", "true")},
		"autocrlf input":       {sets(), sets("core.autocrlf", "input")},
		"autocrlf off":         {sets("core.autocrlf", "true"), sets("core.autocrlf", "false")},
		"autocrlf and eol":     {sets("core.autocrlf", "input"), sets("core.autocrlf", "false", "core.eol", "crlf")},
		"text":                 {sets(), attributes("* text")},
		"text auto":            {sets(), attributes("* text=auto", "core.eol", "crlf")},
		"eol crlf":             {sets(), attributes("* text eol=crlf")},
		"eol lf":               {attributes("* text eol=crlf"), attributes("* text eol=lf")},
		"no text":              {attributes("* text eol=crlf"), attributes("* -text")},
		"a filter":             {attributes("* filter=up", filter...), sets()},
		"a filter now":         {sets(), attributes("* filter=up", filter...)},
		"other filter":         {attributes("* filter=up", filter...), sets("filter.up.clean", "rev")},
		"no filter":            {attributes("* filter=up", filter...), attributes("* -filter")},
		"ident":                {attributes("* ident"), sets()},
		"ident now":            {sets(), attributes("* ident")},
		"encoding":             {attributes("* working-tree-encoding=ISO-8859-1"), sets()},
		"filter and line ends": {attributes("* text filter=up", filter...), sets()},
		"no symlinks":          {sets(), sets("core.symlinks", "false")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			files := map[string]string{"lf": "one\ntwo\n", "crlf": "one\r\ntwo\r\n", "mixed": "one\r\ntwo\n", "id": "$Id: one$\n", "same": "same\n", "new": "new\r\n", "latin": "\xe9\n"}
			s.write("tracked", "one\r\n")
			s.write("turned", "one\n")
			s.commit("first")
			test.then(s)
			tree := s.begin()
			start, began := s.kept(tree, "0"), s.onDisk()
			for name, content := range files {
				s.write(name, content)
			}
			s.write("turned", "one\r\n")
			commit, then := s.kept(tree, "1"), s.onDisk()

			test.now(s)
			for name := range files {
				s.write(name, "other\n")
			}
			s.write("turned", "one\n")
			s.write("tracked", "one\n")
			s.remove("crlf")
			s.write("stranger", "stranger\n")
			for _, want := range []struct {
				commit string
				files  map[string]string
			}{{commit, then}, {commit, then}, {start, began}} {
				_, _, err := s.putBack(want.commit)
				s.must(err)
				s.same("put back", want.files)
			}
		})
	}
}

func TestWayLarge(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	large := strings.Repeat("0123456789abcdef", 21<<16)
	s.write("loose", large)
	s.write("packed", large+"packed")
	s.commit("first")
	s.git("gc", "-q")
	commit := s.kept(s.begin(), "0")
	s.append("loose", "more")
	s.remove("packed")
	_, done, err := s.putBack(commit)
	s.must(err)
	for name, want := range map[string]string{s.path("loose"): large, s.path("packed"): large + "packed", done.Dir + "/loose": large + "more"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s has %d bytes, %v", name, len(got), err)
		}
	}
}
