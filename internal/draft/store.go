package draft

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/file"
	"codeloops/internal/git"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Dir has the prompts of a repository.
const Dir = ".codeloops/prompts"

// maxText is the largest prompt that is read, in bytes, and one more: who reads it refuses that.
const maxText = 16<<20 + 1

// A Store has the prompts and the skills of a repository and its user.
type Store struct {
	Root   string    // of the work tree; "": there is none
	Places []Place   // where skills are
	Copies string    // the directory for copies of what is replaced
	Now    time.Time // for their names
}

// In returns the prompts of the repository that a directory is in.
func In(h *host.Host, dir string) Store {
	s := Store{Copies: h.Data("prompts"), Now: h.Now()}
	if r, err := git.Open(dir, h.Environ); err == nil {
		s.Root = r.WorkTree
	}
	own := ""
	if paths, _ := config.Locate(config.Options{Env: h.Environ, Home: h.Home()}); paths.Global != "" { // there is no project to look for
		own = filepath.Dir(paths.Global)
	}
	s.Places = Places(s.Root, h.Home(), own)
	return s
}

// A Row describes one prompt.
type Row struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Title   string   `json:"title"`
	Parents []string `json:"parents,omitempty"`
	Skills  []string `json:"skills,omitempty"`
	Tokens  int      `json:"tokens"` // with its parents and skills
	Problem string   `json:"problem,omitempty"`
	File    string   `json:"file"`
}

// All returns the prompts that hold all the words, in any case. Files that nobody can read as a prompt are left out.
func (s Store) All(words ...string) (all []Row) {
	for _, name := range s.names() {
		text, from, err := s.text(name)
		lower := strings.ToLower(name + "\n" + text)
		if err != nil || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(lower, strings.ToLower(w)) }) {
			continue
		}
		d, err := Parse(text)
		row := Row{Name: name, Kind: d.Kind, Title: d.Title(), Parents: d.Parents, Skills: d.Skills, File: from}
		if err == nil {
			text, err = s.Resolve(name, d)
			row.Tokens = Tokens(text)
		}
		if err != nil {
			row.Problem = wording.Line(err.Error())
		}
		all = append(all, row)
	}
	return all
}

// names returns the names of the files.
func (s Store) names() (names []string) {
	if s.Root == "" {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Join(s.Root, filepath.FromSlash(Dir))) // without it, there are none
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".md"); ok && isName(name) {
			names = append(names, name)
		}
	}
	return names
}

// Read returns a prompt and the path of its file in the repository.
func (s Store) Read(name string) (d Draft, from string, err error) {
	text, from, err := s.text(name)
	if err != nil {
		return d, from, err
	}
	if d, err = Parse(text); err != nil {
		err = fmt.Errorf("read %s: %w", from, err)
	}
	return d, from, err
}

// Text returns the content of a prompt's file, whatever it is.
func (s Store) Text(name string) (string, error) {
	text, _, err := s.text(name)
	return text, err
}

// text reads a file. The repository may be untrusted, so links out of it are not followed.
func (s Store) text(name string) (text, from string, err error) {
	if err := cmp.Or(CheckName(name), s.Ready()); err != nil {
		return "", "", err
	}
	from = path.Join(Dir, name+".md")
	dir, err := os.OpenRoot(s.Root)
	if err != nil {
		return "", from, fmt.Errorf("read the prompt: %w", err)
	}
	defer dir.Close() //nolint:errcheck // opened for reading
	switch st, err := dir.Stat(from); {
	case errors.Is(err, fs.ErrNotExist):
		return "", from, s.unknown(name)
	case leadsOut(err):
		return "", from, hint.Errorf("replace it by the text itself, or use --prompt-file FILE", "%s is a link that leads out of the repository", from)
	case err != nil:
		return "", from, fmt.Errorf("read the prompt: %w", err)
	case !st.Mode().IsRegular():
		return "", from, fmt.Errorf("read the prompt: %s is not a regular file", from)
	}
	f, err := dir.Open(from)
	if err != nil {
		return "", from, fmt.Errorf("read the prompt: %w", err)
	}
	defer f.Close() //nolint:errcheck // opened for reading
	data, err := io.ReadAll(io.LimitReader(f, maxText))
	if err != nil {
		return "", from, fmt.Errorf("read the prompt from %s: %w", from, err)
	}
	return strings.TrimPrefix(string(data), "\ufeff"), from, nil
}

// Ready says why no prompt can be kept, if that is so.
func (s Store) Ready() error {
	if s.Root == "" {
		return hint.Errorf("go to the project; or write it into a file, for --prompt-file", "named prompts are kept in a repository, and there is none here")
	}
	return nil
}

// leadsOut reports whether an [os.Root] rejected a link that leads out of it. It has no exported
// error for that, but other errors come from the system and have a number.
func leadsOut(err error) bool {
	_, system := errors.AsType[syscall.Errno](err)
	return err != nil && !system
}

// unknown returns an error that suggests existing prompts.
func (s Store) unknown(name string) error {
	names := s.names()
	what := "there is none yet: `codeloops prompt new free " + name + "` writes one"
	if near, ok := wording.Nearest(name, names); ok {
		what = "did you mean " + near + "?"
	} else if len(names) > 0 {
		what = "there are " + wording.List(names, 10)
	}
	return hint.Errorf(what, "the repository has no prompt called %s", name)
}

// Resolve returns what a prompt says in full: the texts of its parents, its own, and which skills it names. The name is
// where it is kept; "": nowhere yet.
func (s Store) Resolve(name string, d Draft) (string, error) {
	f := family{store: s}
	if err := f.add(name, d, []string{name}); err != nil {
		return "", err
	}
	return s.Equip(f.text(), f.skills)
}

// A family is a prompt with all that it inherits.
type family struct {
	store  Store
	names  []string // that are in it
	bodies []string
	skills []string
}

// add takes a prompt in after its parents, once. led are those that have led to it, and it.
func (f *family) add(name string, d Draft, led []string) error {
	for _, parent := range d.Parents {
		if i := slices.Index(led, parent); i >= 0 {
			return hint.Errorf(fmt.Sprintf("take %s out of the parents of %s", parent, name),
				"the prompt %s inherits itself: %s", parent, strings.Join(append(led[i:], parent), " inherits "))
		}
		if slices.Contains(f.names, parent) {
			continue
		}
		p, _, err := f.store.Read(parent)
		if err == nil {
			err = f.add(parent, p, append(slices.Clone(led), parent))
		} else {
			err = fmt.Errorf("inherit %s: %w", parent, err)
		}
		if err != nil {
			return err
		}
	}
	f.names, f.bodies = append(f.names, name), append(f.bodies, d.Body)
	for _, skill := range d.Skills {
		if !slices.Contains(f.skills, skill) {
			f.skills = append(f.skills, skill)
		}
	}
	return nil
}

// text joins the bodies; one alone stays as it is, byte for byte.
func (f *family) text() string {
	if len(f.bodies) == 1 {
		return f.bodies[0]
	}
	var parts []string
	for _, body := range f.bodies {
		if body = strings.Trim(body, "\n"); body != "" {
			parts = append(parts, body)
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// ErrExists says that a prompt would be replaced.
var ErrExists = errors.New("there is a prompt of that name")

// Save writes a prompt. Where it would replace another text, it wants replace, and keeps a copy of that, whose path it
// returns.
func (s Store) Save(name string, d Draft, replace bool) (kept string, err error) {
	if err := cmp.Or(CheckName(name), s.Ready()); err != nil {
		return "", err
	}
	if _, err := s.Resolve(name, d); err != nil {
		return "", err
	}
	text := d.String()
	was, _, err := s.text(name)
	there := err == nil
	switch {
	case there && was == text:
		return "", nil
	case there && !replace:
		return "", fmt.Errorf("%w: %s/%s.md", ErrExists, Dir, name)
	case there:
		if kept, err = s.keep(name, was); err != nil {
			return "", err
		}
	}
	return kept, s.write(name, text)
}

// Remove removes a prompt, and keeps a copy, whose path it returns.
func (s Store) Remove(name string) (kept string, err error) {
	text, from, err := s.text(name)
	if err != nil {
		return "", err
	}
	if kept, err = s.keep(name, text); err != nil {
		return "", err
	}
	dir, err := os.OpenRoot(s.Root)
	if err == nil {
		err = errors.Join(dir.Remove(from), dir.Close())
	}
	if err != nil {
		return kept, fmt.Errorf("remove %s: %w", from, err)
	}
	return kept, nil
}

// Log keeps an interview, which may go on, beside the copies of prompts. It is known by how it began.
func (s Store) Log(said []Said) error {
	if s.Copies == "" {
		return nil
	}
	var b strings.Builder
	for _, one := range said {
		who := "the agent"
		if one.User {
			who = "you"
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", who, one.Text)
	}
	sum := sha256.Sum256([]byte(s.Root + "\x00" + said[0].Text))
	err := os.MkdirAll(s.Copies, 0o700)
	if err == nil {
		err = file.Write(filepath.Join(s.Copies, fmt.Sprintf("interview-%x.md", sum[:4])), []byte(b.String()), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the interview: %w", err)
	}
	return nil
}

// keep keeps a copy of a text, beside those that are there.
func (s Store) keep(name, text string) (string, error) {
	if s.Copies == "" {
		return "", hint.Errorf("set HOME, or XDG_DATA_HOME", "there is no directory to keep a copy of the replaced prompt in")
	}
	if err := os.MkdirAll(s.Copies, 0o700); err != nil {
		return "", fmt.Errorf("keep a copy of the replaced prompt: %w", err)
	}
	copied := filepath.Join(s.Copies, name+"-"+s.Now.UTC().Format("2006-01-02T15-04-05.000000Z")+".md")
	if err := file.Write(copied, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("keep a copy of the replaced prompt: %w", err)
	}
	return copied, nil
}

// write writes the file whole, and nowhere but in the repository.
func (s Store) write(name, text string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s/%s.md: %w", Dir, name, err)
		}
	}()
	dir, err := os.OpenRoot(s.Root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	if err := dir.MkdirAll(Dir, 0o777); err != nil { // as git makes them
		return err
	}
	fresh := path.Join(Dir, "."+name+".new")
	_ = dir.Remove(fresh) // of a process that was killed
	if err := dir.WriteFile(fresh, []byte(text), 0o666); err != nil {
		return err
	}
	return dir.Rename(fresh, path.Join(Dir, name+".md"))
}
