package git

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// paths are the paths on which Open and git must agree.
type paths struct{ workTree, gitDir, commonDir string }

// sameAsGit opens dir with Open and with git, and compares the paths.
func sameAsGit(t *testing.T, s *sandbox, dir string) *Repository {
	t.Helper()
	r, err := Open(dir, s.environ())
	if err != nil {
		t.Fatalf("Open(%s): %v", dir, err)
	}
	got := paths{r.WorkTree, r.GitDir, r.CommonDir}
	common := s.git(dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
	common, err = filepath.EvalSymlinks(common)
	if err != nil {
		t.Fatal(err)
	}
	gitDir, err := filepath.EvalSymlinks(s.git(dir, "rev-parse", "--absolute-git-dir"))
	if err != nil {
		t.Fatal(err)
	}
	want := paths{
		filepath.FromSlash(s.git(dir, "rev-parse", "--show-toplevel")),
		gitDir,
		common,
	}
	if got != want {
		t.Errorf("Open(%s)\n got %+v\nwant %+v", dir, got, want)
	}
	sameHead(t, s, dir, r)
	return r
}

func sameHead(t *testing.T, s *sandbox, dir string, r *Repository) {
	t.Helper()
	var want Head
	if id, err := s.try(dir, "rev-parse", "--verify", "-q", "HEAD"); err == nil {
		want.Commit = id[:len(id)-1]
	}
	want.Branch = s.git(dir, "branch", "--show-current")
	got, err := r.Head()
	if err != nil {
		t.Errorf("Head: %v", err)
	}
	if got != want {
		t.Errorf("Head = %+v, want %+v", got, want)
	}
}

// TestOpenPlaces: Open finds the same repository as git, wherever it is opened.
func TestOpenPlaces(t *testing.T) {
	t.Parallel()
	// Each case returns the directory to open, and the user who opens it.
	cases := map[string]func(s *sandbox) (string, *sandbox){
		"linked work tree": func(s *sandbox) (string, *sandbox) {
			dir := s.init("r")
			s.commit(dir)
			s.git(dir, "worktree", "add", "-q", "../linked")
			return filepath.Join(s.home, "linked"), s
		},
		"submodule": func(s *sandbox) (string, *sandbox) {
			s.commit(s.init("inner"))
			dir := s.init("r")
			s.git(dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../inner", "sub")
			return filepath.Join(dir, "sub"), s
		},
		"through a symlink": func(s *sandbox) (string, *sandbox) {
			s.mkdir(filepath.Join(s.init("r"), "a"))
			s.must(os.Symlink("r", filepath.Join(s.home, "link")))
			return filepath.Join(s.home, "link", "a"), s
		},
		"core.worktree": func(s *sandbox) (string, *sandbox) {
			dir := s.init("r")
			s.mkdir(filepath.Join(s.home, "tree"))
			s.git(dir, "config", "core.worktree", "../../tree")
			return dir, s
		},
		"GIT_DIR and GIT_WORK_TREE": func(s *sandbox) (string, *sandbox) {
			dir := s.init("r")
			s.git(dir, "config", "core.bare", "true")
			s.mkdir(filepath.Join(s.home, "tree", "sub"))
			return filepath.Join(s.home, "tree", "sub"), s.with(map[string]string{
				"GIT_DIR": filepath.Join(dir, ".git"), "GIT_WORK_TREE": "..",
			})
		},
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, user := prepare(newSandbox(t))
			sameAsGit(t, user, dir)
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		prepare func(s *sandbox) (string, *sandbox)
		want    error
		says    string // of an UnsupportedError
	}{
		"nothing": {prepare: func(s *sandbox) (string, *sandbox) {
			// The test's own directory may be inside a repository.
			return s.mkdir(filepath.Join(s.home, "a", "b")),
				s.with(map[string]string{"GIT_CEILING_DIRECTORIES": filepath.Dir(s.home)})
		}, want: ErrNotRepository},
		"ceiling": {prepare: func(s *sandbox) (string, *sandbox) {
			dir := s.init("r")
			return s.mkdir(filepath.Join(dir, "a", "b")),
				s.with(map[string]string{"GIT_CEILING_DIRECTORIES": "relative:" + dir})
		}, want: ErrNotRepository},
		"bare": {prepare: func(s *sandbox) (string, *sandbox) {
			return s.init("r.git", "--bare"), s
		}, want: ErrBare},
		"below bare": {prepare: func(s *sandbox) (string, *sandbox) {
			return filepath.Join(s.init("r.git", "--bare"), "objects"), s
		}, want: ErrBare},
		"inside .git": {prepare: func(s *sandbox) (string, *sandbox) {
			return filepath.Join(s.init("r"), ".git"), s
		}, want: ErrBare},
		"core.bare": {prepare: func(s *sandbox) (string, *sandbox) {
			dir := s.init("r")
			s.git(dir, "config", "core.bare", "true")
			return dir, s
		}, want: ErrBare},
		"GIT_DIR to nowhere": {prepare: func(s *sandbox) (string, *sandbox) {
			return s.init("r"), s.with(map[string]string{"GIT_DIR": "nowhere"})
		}, want: ErrNotRepository},
		"link to nowhere": {prepare: func(s *sandbox) (string, *sandbox) {
			s.write("r/.git", "gitdir: ../nowhere\n")
			return filepath.Join(s.home, "r"), s
		}, want: ErrNotRepository},
		"no link": {prepare: func(s *sandbox) (string, *sandbox) {
			s.write("r/.git", "hello\n")
			return filepath.Join(s.home, "r"), s
		}, want: ErrNotRepository},
		"sha256": {prepare: func(s *sandbox) (string, *sandbox) {
			return s.init("r", "--object-format=sha256"), s
		}, says: "sha256"},
		"reftable": {prepare: func(s *sandbox) (string, *sandbox) {
			dir := s.init("r")
			s.write("r/.git/config", "[core]\nrepositoryformatversion = 1\n[extensions]\nrefStorage = reftable\n")
			return dir, s
		}, says: "refstorage"},
		"unknown extension": {prepare: func(s *sandbox) (string, *sandbox) {
			dir := s.init("r")
			s.write("r/.git/config", "[core]\nrepositoryformatversion = 1\n[extensions]\nmarvel = yes\n")
			return dir, s
		}, says: "marvel"},
		"later version": {prepare: func(s *sandbox) (string, *sandbox) {
			dir := s.init("r")
			s.write("r/.git/config", "[core]\nrepositoryformatversion = 2\n")
			return dir, s
		}, says: "version"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, user := c.prepare(newSandbox(t))
			r, err := Open(dir, user.environ())
			if c.says != "" {
				var unsupported *UnsupportedError
				if !errors.As(err, &unsupported) || !strings.Contains(unsupported.Says, c.says) {
					t.Fatalf("Open = %+v, %v; want it to be unsupported for its %s", r, err, c.says)
				}
				return
			}
			if !errors.Is(err, c.want) {
				t.Fatalf("Open = %+v, %v; want %v", r, err, c.want)
			}
		})
	}
}

// Branch returns the commit that git reports, and nothing for other names that git can
// resolve.
func TestBranch(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	s.commit(dir)
	s.git(dir, "branch", "a/packed")
	s.git(dir, "pack-refs", "--all")
	s.git(dir, "commit", "-q", "--allow-empty", "-m", "second")
	s.git(dir, "branch", "loose")
	s.git(dir, "symbolic-ref", "refs/heads/alias", "refs/heads/a/packed")
	linked := filepath.Join(s.home, "linked")
	s.git(dir, "worktree", "add", "-q", "-b", "other", linked)
	for _, at := range []string{dir, linked} {
		r, err := Open(at, s.environ())
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{
			"main", "a/packed", "loose", "alias", "other",
			"none", "a", "", "main~0", "main^{commit}", "HEAD", "../heads/main", "refs/heads/main", "-q",
		} {
			want, _ := s.try(dir, "show-ref", "--verify", "--hash", "refs/heads/"+name)
			if is, err := r.Branch(name); is.Commit != strings.TrimSpace(want) || err != nil {
				t.Errorf("%s: %q is at %q, %v; want %q", at, name, is, err, want)
			}
		}
	}
}

// TestHead: HEAD is what git says that it is, whatever its form, and what is none is an error.
func TestHead(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	s.commit(dir)
	r, err := Open(dir, s.environ())
	if err != nil {
		t.Fatal(err)
	}
	s.git(dir, "branch", "packed")
	s.git(dir, "pack-refs", "--all")
	s.git(dir, "symbolic-ref", "refs/heads/alias", "refs/heads/packed")
	for _, target := range []string{"refs/heads/packed", "refs/heads/none/yet"} {
		s.git(dir, "symbolic-ref", "HEAD", target)
		sameHead(t, s, dir, r)
	}
	s.git(dir, "symbolic-ref", "HEAD", "refs/heads/alias")
	if h, err := r.Head(); err != nil || h.Branch != "packed" || h.Commit != strings.TrimSpace(s.git(dir, "rev-parse", "packed")) {
		t.Errorf("a branch that stands for another one: %+v, %v", h, err)
	}
	s.git(dir, "checkout", "-q", "--detach", "packed")
	sameHead(t, s, dir, r)
	at := filepath.Join(r.GitDir, "HEAD")
	if err := errors.Join(os.Remove(at), os.Symlink("refs/heads/packed", at)); err == nil { // as git once made it
		sameHead(t, s, dir, r)
	}
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	for _, rubbish := range []string{"", "rubbish\n", "ref:"} {
		s.write("r/.git/HEAD", rubbish)
		if h, err := r.Head(); err == nil {
			t.Errorf("HEAD of %q is %+v", rubbish, h)
		}
	}
}

// TestRefs: a symbolic reference has the id of what it stands for; a broken one is left out, unless it is asked for by name.
func TestRefs(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	s.commit(dir)
	id := s.git(dir, "rev-parse", "HEAD")
	s.git(dir, "branch", "packed")
	s.git(dir, "pack-refs", "--all")
	s.git(dir, "symbolic-ref", "refs/heads/alias", "refs/heads/packed")
	s.git(dir, "symbolic-ref", "refs/heads/nothing", "refs/heads/none")
	s.write("r/.git/refs/heads/empty", "")
	want := map[string]string{"refs/heads/alias": id, "refs/heads/main": id, "refs/heads/packed": id}
	if is, err := At(filepath.Join(dir, ".git")).Refs("refs/heads/"); err != nil || !maps.Equal(is, want) {
		t.Errorf("%q, %v; want %q", is, err, want)
	}
	names := append(slices.Collect(maps.Keys(want)), "refs/heads/nothing", "refs/heads/empty", "refs/heads/none", "refs/heads", "refs/heads/a..b", "")
	if is, err := At(filepath.Join(dir, ".git")).Refs(names...); err != nil || !maps.Equal(is, want) {
		t.Errorf("by name: %q, %v; want %q", is, err, want)
	}
	s.write("r/.git/refs/heads/main", "rubbish\n")
	if is, err := At(filepath.Join(dir, ".git")).Refs("refs/heads/main"); err == nil || !strings.Contains(err.Error(), "refs/heads/main") {
		t.Errorf("a broken one is %q, %v", is, err)
	}
}

// TestUserFiles: the paths of the user's files follow settings and variables, as in git.
func TestUserFiles(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	type files struct{ Excludes, System, User string }
	for name, c := range map[string]struct {
		config string
		vars   map[string]string
		want   files
	}{
		"defaults": {want: files{filepath.Join(s.home, ".config", "git", "ignore"), "/etc/gitattributes", filepath.Join(s.home, ".config", "git", "attributes")}},
		"settings": {
			config: "[core]\nexcludesFile = ~/my\nattributesFile =\n",
			vars:   map[string]string{"GIT_ATTR_NOSYSTEM": "1"},
			want:   files{Excludes: filepath.Join(s.home, "my")},
		},
		"XDG": {
			config: "[core]\nexcludesFile = rel/my\n",
			vars:   map[string]string{"XDG_CONFIG_HOME": "/xdg"},
			want:   files{filepath.Join(dir, "rel", "my"), "/etc/gitattributes", "/xdg/git/attributes"},
		},
	} {
		user := s.with(c.vars)
		s.write(".gitconfig", c.config)
		settings := settingsOf(t, user, dir)
		var got files
		var err, errAttributes error
		got.Excludes, err = settings.ExcludesFile()
		got.System, got.User, errAttributes = settings.AttributesFiles()
		if got != c.want || err != nil || errAttributes != nil {
			t.Errorf("%s: %+v, %v, %v; want %+v", name, got, err, errAttributes, c.want)
		}
	}
}
