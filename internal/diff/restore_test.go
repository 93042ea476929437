package diff_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"codeloops/internal/diff"
	"codeloops/internal/loop"
)

// TestRestoreRandom undoes random changes, and checks that the files are what
// they were and that what was taken away is kept.
func TestRestoreRandom(t *testing.T) {
	t.Parallel()
	for seed := range randomCount(30) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, 1_000_000+uint64(seed))
			h.rand = rand.New(rand.NewPCG(uint64(seed), 2))
			tree, o := h.begin(), newOracle(h.sandbox)
			h.steps(h.rand.IntN(8))
			actor := o.capture(tree)
			h.edits(1 + h.rand.IntN(8))
			critic, err := tree.Capture(t.Context())
			h.must(err)
			taken := o.allFiles()
			kept, err := tree.Restore(t.Context(), actor)
			if err != nil && (strings.Contains(err.Error(), "repository of its own") || strings.Contains(err.Error(), "in the way")) {
				return
			}
			h.must(err)
			again, err := tree.Capture(t.Context())
			h.must(err)
			actor.Warnings, again.Warnings = nil, nil // of rules that were not read at first
			actor.Unshown, again.Unshown = nil, nil   // ignored files are left alone
			if !reflect.DeepEqual(again, actor) {
				t.Fatalf("restored\n%swant\n%s", again.Patch(), actor.Patch())
			}
			if critic.State == actor.State {
				return
			}
			if kept == "" { // it was there, only hidden by ignore rules
				if now := o.allFiles(); now != taken {
					t.Errorf("git finds %s, not %s, though nothing was taken away", now, taken)
				}
				return
			}
			_, ref, _ := strings.Cut(kept, "kept as ")
			first, _, _ := strings.Cut(ref, ", ")
			if lost := o.in("now", nil, "diff-tree", "-r", "--diff-filter=a", taken, first); lost != "" {
				t.Errorf("kept %q without %s", kept, lost)
			}
		})
	}
}

// edits changes files only, and leaves repositories inside this one alone.
func (h *history) edits(n int) {
	h.t.Helper()
	for range n {
		h.t.Log(pick(h, []func() string{
			h.put, h.put, h.flip, h.flip, h.drop, h.mode, h.symlink, h.move, h.ignore,
		})())
	}
}

func (s *sandbox) restore(tree *diff.Tree, c loop.Change) {
	s.t.Helper()
	_, err := tree.Restore(s.t.Context(), c)
	s.must(err)
}

func TestRestoreToBaseline(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write("f", "f\n")
	s.write("d/g", "g\n")
	s.link("f", "l")
	s.commit("first")
	s.append("f", "dirt\n")
	s.write("untracked", "u\n")
	s.chmod("untracked", 0o600)
	s.write("private", "p\n")
	s.chmod("private", 0o700)
	tree := s.begin()
	start, err := tree.Capture(t.Context())
	s.must(err)
	s.commit("the critic commits")
	s.remove("d")
	s.remove("l")
	s.write("l/x/y", "y\n")
	s.append("untracked", "more\n")
	s.chmod("f", 0o755)
	s.chmod("private", 0o600)
	s.git("rm", "-q", "--cached", "untracked")
	s.restore(tree, start)
	after, err := tree.Capture(t.Context())
	s.must(err)
	after.Position = start.Position // is left alone
	if !reflect.DeepEqual(after, start) {
		t.Errorf("restored to %s", after.Patch())
	}
	for name, want := range map[string]os.FileMode{"untracked": 0o600, "private": 0o700} {
		if info, err := os.Stat(s.path(name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("permissions of %s: %v, %v", name, info.Mode(), err)
		}
	}
	if s.exists("l/x") {
		t.Error("an emptied directory is still there")
	}
	commit, branch, err := tree.Head()
	if err != nil || commit == tree.BaseCommit() || branch != "main" {
		t.Errorf("HEAD at %s on %s, %v: the commit is not noticed", commit, branch, err)
	}
}

func TestRestoreLeavesIgnoredFiles(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write(".gitignore", "*.log\n")
	s.write("d/f", "f\n")
	s.write("keep.log", "log\n")
	tree, o := s.begin(), newOracle(s)
	start := o.capture(tree)
	s.write("new/f", "f\n")
	s.write("new/x.log", "log\n")
	s.write("hidden", "h\n")
	s.write(".gitignore", "hidden\nd\n")
	s.remove("d")
	s.git("add", "-f", "keep.log")
	s.write(".gitignore", "*.log\nhidden\n")
	s.restore(tree, start)
	for name, want := range map[string]bool{
		"keep.log": true, "new/x.log": true, "new/f": false, "hidden": false, "d/f": true,
	} {
		if s.exists(name) != want {
			t.Errorf("%s exists: %t", name, !want)
		}
	}
}

// TestRestoreIgnored undoes that a file is tracked no longer, which leaves no
// trace in the work tree.
func TestRestoreIgnored(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.write(".gitignore", "*.log\n")
	s.commit("first")
	tree := s.begin()
	s.write("x.log", "log\n")
	s.git("add", "-f", "x.log")
	settle()
	with, err := tree.Capture(t.Context())
	s.must(err)
	s.git("rm", "-q", "--cached", "x.log")
	without, err := tree.Capture(t.Context())
	s.must(err)
	s.append("x.log", "more\n")
	kept, err := tree.Restore(t.Context(), with)
	s.must(err)
	after, err := tree.Capture(t.Context())
	s.must(err)
	after.Position = with.Position // is left alone
	if !without.Empty() || !reflect.DeepEqual(after, with) {
		t.Errorf("captured %q, restored to %q, not %q", without.Patch(), after.Patch(), with.Patch())
	}
	if was := s.git("show", strings.TrimPrefix(kept, "kept as ")+":x.log"); was != "log\nmore" {
		t.Errorf("%s: x.log as it was is %q", kept, was)
	}
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]struct {
		change func(*sandbox)
		want   string
	}{
		"repository that appeared, and is tracked": {func(s *sandbox) {
			s.write("inner/f", "f\n")
			s.gitIn(s.path("inner"), "init", "-q")
			s.gitIn(s.path("inner"), "add", ".")
			s.gitIn(s.path("inner"), "commit", "-q", "-m", "inner")
			s.git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
		}, "inner: it is a repository of its own"},
		"ignored symlink for a directory": {func(s *sandbox) {
			s.remove("d")
			s.must(os.Mkdir(s.base+"/outside", 0o755))
			s.link("../outside", "d")
			s.write(".git/info/exclude", "d\n")
		}, "d/g: d: something that is out of scope is in the way"},
		"ignored symlink to a directory inside": {func(s *sandbox) {
			s.remove("d")
			s.link("e", "d")
			s.write(".git/info/exclude", "d\n")
		}, "d/g: d: something that is out of scope is in the way"},
		"ignored file in a directory for a file": {func(s *sandbox) {
			s.remove("f")
			s.write("f/x.log", "log\n")
		}, "f: something that is out of scope is in the way"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			s.write(".gitignore", "*.log\n")
			s.write("f", "f\n")
			s.write("d/g", "g\n")
			s.write("e/h", "h\n")
			s.commit("first")
			tree := s.begin()
			start, err := tree.Capture(t.Context())
			s.must(err)
			s.write("other", "other\n")
			refuse.change(s)
			if _, err := tree.Restore(t.Context(), start); err == nil || !strings.Contains(err.Error(), refuse.want) {
				t.Errorf("error %v, want %q", err, refuse.want)
			}
			if s.exists("other") {
				t.Error("the rest is not put back")
			}
			if entries, _ := os.ReadDir(s.base + "/outside"); len(entries) > 0 || s.exists("e/g") {
				t.Error("written through a symlink")
			}
		})
	}
}

func TestRestoreConverted(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	s.git("config", "filter.up.clean", "tr a-z A-Z")
	s.git("config", "filter.up.smudge", "tr A-Z a-z")
	s.write(".gitattributes", "*.up filter=up\n*.crlf text eol=crlf\n")
	s.write("a.up", "abc\n")
	s.write("+.up", "abc\n") // before .gitattributes
	s.write("a.crlf", "abc\r\n")
	tree, o := s.begin(), newOracle(s)
	s.append("a.up", "more\n")
	c := o.capture(tree)
	for _, name := range []string{".gitattributes", "+.up", "a.up", "a.crlf"} {
		s.remove(name)
	}
	s.restore(tree, c)
	for name, want := range map[string]string{"+.up": "abc\n", "a.up": "abc\nmore\n", "a.crlf": "abc\r\n"} {
		if got, err := os.ReadFile(s.path(name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
}

// TestRestoreReconverted puts a state back that git would convert otherwise by
// now: the files come out as git checks them out, whatever it makes of them.
func TestRestoreReconverted(t *testing.T) {
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
		"filter":               {sets(), attributes("* filter=up", "filter.up.clean", "tr a-z A-Z")},
		"other filter":         {attributes("* filter=up", "filter.up.clean", "tr a-z A-Z"), sets("filter.up.clean", "rev")},
		"no filter":            {attributes("* filter=up", "filter.up.clean", "tr a-z A-Z"), attributes("* -filter")},
		"ident":                {sets(), attributes("* ident")},
		"encoding":             {sets(), attributes("* working-tree-encoding=ISO-8859-1")},
		"filter and line ends": {sets(), attributes("* text filter=up", "filter.up.clean", "tr a-z A-Z", "filter.up.smudge", "tr A-Z a-z")},
		"no file mode":         {sets(), sets("core.fileMode", "false")},
		"no symlinks":          {sets(), sets("core.symlinks", "false")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRepo(t)
			files := map[string]string{"lf": "one\ntwo\n", "crlf": "one\r\ntwo\r\n", "mixed": "one\r\ntwo\n", "id": "$Id: one$\n", "euro": "é €\n", "same": "same\n", "new": "new\r\n"}
			s.write("tracked", "one\n")
			s.write("turned", "one\n")
			s.write("plain", "one\n")
			s.commit("first")
			test.then(s)
			tree := s.begin()
			for name, content := range files {
				s.write(name, content)
			}
			s.write("turned", "one\r\n")
			s.chmod("tracked", 0o755)
			s.link("lf", "link")
			c, err := tree.Capture(t.Context())
			s.must(err)
			commit, err := tree.Checkpoint(t.Context(), c.State, "then/1", "then")
			s.must(err)

			test.now(s)
			for name := range files {
				s.write(name, "other\n")
			}
			s.write("turned", "one\n")
			s.write("same", files["same"])
			s.write("tracked", "other\n")
			s.chmod("tracked", 0o644)
			s.remove("link")
			s.remove("crlf")
			s.write("stranger", "stranger\n")
			for range 2 { // the second time nothing is to be done
				again := s.begin()
				state, err := again.Recall(t.Context(), commit)
				s.must(err)
				_, err = again.Restore(t.Context(), loop.Change{State: state})
				s.must(err)
			}
			restored := s.tree()
			for name := range restored {
				s.remove(name)
			}
			s.git("rm", "-q", "-r", "--cached", ".")
			s.git("restore", "--source="+commit, "--worktree", ".")
			want := s.tree()
			for name, is := range map[string]string{"plain": `false "one\n"`, "same": `false "same\n"`} {
				if restored[name] == is {
					want[name] = is // there was no reason to write it anew
				}
			}
			if !maps.Equal(restored, want) {
				t.Errorf("restored %q, git %q", restored, want)
			}
		})
	}
}

// tree returns what the files of the work tree are, by their names.
func (s *sandbox) tree() map[string]string {
	s.t.Helper()
	files := make(map[string]string)
	entries, err := os.ReadDir(s.root)
	s.must(err)
	for _, e := range entries {
		info, err := e.Info()
		s.must(err)
		switch content, err := os.ReadFile(s.path(e.Name())); {
		case e.IsDir():
		case e.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(s.path(e.Name()))
			s.must(err)
			files[e.Name()] = "-> " + target
		default:
			s.must(err)
			files[e.Name()] = fmt.Sprintf("%v %q", info.Mode()&0o100 != 0, content)
		}
	}
	return files
}

func TestRestoreUnknownState(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	tree := s.open()
	if _, err := tree.Capture(t.Context()); !errors.Is(err, diff.ErrNoBaseline) {
		t.Errorf("capture without a baseline: %v", err)
	}
	s.must(tree.Baseline(t.Context()))
	if _, err := tree.Restore(t.Context(), loop.Change{State: "none"}); !errors.Is(err, diff.ErrUnknownState) {
		t.Errorf("restore of an unknown state: %v", err)
	}
}

func TestRestoreLarge(t *testing.T) {
	t.Parallel()
	s := newRepo(t)
	large := strings.Repeat("0123456789abcdef", 21<<16)
	s.write("loose", large)
	s.write("packed", large+"packed")
	s.commit("first")
	s.git("gc", "-q")
	s.write("untracked", large+"untracked")
	tree := s.begin()
	start, err := tree.Capture(t.Context())
	s.must(err)
	s.append("loose", "more")
	s.remove("packed")
	s.restore(tree, start)
	for name, want := range map[string]string{"loose": large, "packed": large + "packed"} {
		if got, err := os.ReadFile(s.path(name)); err != nil || string(got) != want {
			t.Errorf("%s has %d bytes, %v", name, len(got), err)
		}
	}
	s.append("untracked", "more")
	kept, err := tree.Restore(t.Context(), start)
	if err == nil || !strings.Contains(err.Error(), "untracked") || kept == "" {
		t.Errorf("restored what was not kept: %q, %v", kept, err)
	}
	ref, _, _ := strings.Cut(strings.TrimPrefix(kept, "kept as "), ", ")
	if got, want := s.git("cat-file", "-s", ref+":untracked"), strconv.Itoa(len(large)+len("untracked"+"more")); got != want {
		t.Errorf("%s has untracked with %s bytes, not %s", ref, got, want)
	}
}
