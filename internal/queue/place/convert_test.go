package place_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/queue/git"
	"codeloops/internal/queue/place"
)

// raw is the state of a work tree with the bytes on the disk, as checkpoints have it.
func (s scene) raw(dir string) string {
	s.Helper()
	var entries strings.Builder
	s.must(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == ".git" {
			return fs.SkipDir
		}
		if name, _ := filepath.Rel(dir, path); err == nil && !e.IsDir() {
			entries.WriteString("100644 blob " + s.Git("hash-object", "-w", "--no-filters", path) + "\t" + filepath.ToSlash(name) + "\x00")
		}
		return err
	}))
	tree, err := s.Do(s.Context(), git.Call{Dir: s.Root, Env: []string{"GIT_INDEX_FILE=" + filepath.Join(s.TempDir(), "index")}, Stdin: []byte(entries.String())}, "mktree", "-z")
	s.must(err)
	return s.Git("-c", "user.name=x", "-c", "user.email=x", "commit-tree", "-m", "raw", tree)
}

// TestConverted: the result is what git would store of the files with the user's settings, and has nothing of what git only
// checks out otherwise. What a filter or an encoding of the repository makes of a file is not known to the critic, and refused.
func TestConverted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attributes, config string
		want               string // of the files new and first, and the number of files changed; "" is a refusal
	}{
		"as they are":        {want: "a\r\nb\r\n|first\r\n|2"},
		"text":               {attributes: "* text=auto\n", want: "a\nb\n|first\n|1"},
		"checked out so":     {attributes: "* text eol=crlf\n", want: "a\nb\n|first\n|1"},
		"stored so":          {attributes: "* -text\n", want: "a\r\nb\r\n|first\r\n|2"},
		"settings":           {config: "core.autocrlf=true", want: "a\nb\n|first\n|1"},
		"an encoding":        {attributes: "new working-tree-encoding=UTF-16LE\n"},
		"an identity":        {attributes: "new ident\n"},
		"a filter":           {attributes: "new filter=x\n", config: "filter.x.clean=touch ../ran; tr a-z A-Z"},
		"of another file":    {attributes: "other filter=x\nother text\n", config: "filter.x.clean=false", want: "a\r\nb\r\n|first\r\n|2"},
		"and one without it": {attributes: "*.sh text\n", want: "a\r\nb\r\n|first\r\n|2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.Write("other", "other\n")
			s.Write("crlf", "x\r\ny\r\n") // before any attribute
			s.Save("other")
			if c.attributes != "" {
				s.Write(".gitattributes", c.attributes)
			}
			base := s.Save("attributes")
			if key, value, is := strings.Cut(c.config, "="); is {
				s.Git("config", key, value)
			}
			p, err := s.site.Open(t.Context(), place.Task{Name: "t", Base: base})
			s.must(err)
			start := s.raw(p.Dir)
			s.Put(p.Dir, "new", "a\r\nb\r\n")
			s.Put(p.Dir, "first", "first\r\n")
			head, err := p.Commit(t.Context(), "m", s.judged(start, s.raw(p.Dir)))
			if _, ran := os.Lstat(filepath.Join(p.Dir, "..", "ran")); ran == nil {
				t.Error("a filter has run")
			}
			if c.want == "" {
				s.refused(err, "settings of the repository make git store something else than what is judged of new: no critic has approved that")
				return
			}
			s.must(err)
			out := func(path string) string {
				text, err := s.Do(t.Context(), git.Call{Dir: s.Root}, "cat-file", "blob", head+":"+path)
				s.must(err)
				return text + "\n"
			}
			changed := strings.Count(s.Git("diff", "--name-only", base, head)+"\n", "\n")
			if got := out("new") + "|" + out("first") + "|" + string(rune('0'+changed)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
