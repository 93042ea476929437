package attr

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/repo"
)

// A world is a repository together with its user's home.
type world struct {
	t    *testing.T
	home string
	tree string
	vars map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := t.TempDir()
	w := &world{t: t, home: home, tree: filepath.Join(home, "tree"), vars: map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": home, "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_ATTR_NOSYSTEM": "1",
	}}
	w.write(".gitconfig", "[core]\nsafecrlf = false\n")
	if err := os.MkdirAll(w.tree, 0o755); err != nil {
		t.Fatal(err)
	}
	w.git("", "init", "-q")
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(name string) {
	w.t.Helper()
	if err := os.RemoveAll(filepath.Join(w.home, name)); err != nil {
		w.t.Fatal(err)
	}
}

// git runs git in the tree and returns its output. Git must succeed.
func (w *world) git(input string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = w.tree
	cmd.Stdin = strings.NewReader(input)
	for k, v := range w.vars {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func openConfig(w *world) (*repo.Repository, *repo.Config, error) {
	var environ []string
	for name, value := range w.vars {
		environ = append(environ, name+"="+value)
	}
	r, err := repo.Open(w.tree, environ)
	if err != nil {
		return nil, nil, err
	}
	settings, err := r.Config()
	return r, settings, err
}

// open returns the package's options and settings, found as its callers find them.
func (w *world) open() (Options, Settings) {
	w.t.Helper()
	r, settings, err := openConfig(w)
	if err != nil {
		w.t.Fatal(err)
	}
	system, user, err := settings.AttributesFiles()
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := SettingsOf(settings)
	if err != nil {
		w.t.Fatal(err)
	}
	fold, err := settings.Bool("core.ignoreCase", false)
	if err != nil {
		w.t.Fatal(err)
	}
	return Options{
		WorkTree: r.WorkTree, System: system, User: user, Info: r.InfoAttributes(), IgnoreCase: fold,
		FromIndex: func(path string) ([]byte, bool) {
			if w.git("", "ls-files", path) == "" {
				return nil, false
			}
			return []byte(w.git("", "cat-file", "blob", ":"+path)), true
		},
	}, s
}

// A dice makes random files from few words, so that the words collide.
type dice struct{ *rand.Rand }

func (d dice) pick(from ...string) string { return from[d.IntN(len(from))] }

func (d dice) name() string {
	return d.pick("a", "b", "ab", "foo", "Foo", "foo.c", "x y", "#h", "!n", "é", "q\"", "t\tb", "[attr]z", "*.c")
}

// definitions returns the text of an attributes file.
func (d dice) definitions() string {
	var b strings.Builder
	b.WriteString(d.pick("", "", "", "\ufeff"))
	for range d.IntN(7) {
		b.WriteString(d.line())
		b.WriteString(d.pick("\n", "\n", "\n", "\r\n", "\n\n"))
	}
	b.WriteString(d.pick("", "", d.line()))
	return b.String()
}

func (d dice) line() string {
	var b strings.Builder
	b.WriteString(d.pick("", "", "", "", " ", "\t"))
	switch d.IntN(12) {
	case 0, 1:
		b.WriteString("[attr]" + d.pick("", "", " ") + d.attribute())
	case 2:
		b.WriteString(d.pick(`"x y"`, `"q\""`, `"t\tb"`, `"\303\251"`, `"open`, `"\x"`, `"\400"`, `"a"text`, `"[attr]m" diff`, `""`, `"!n"`))
	case 3:
		b.WriteString(d.pick("#x", "!a", "\\!n", "\\#h", "a/", "/", "*", "**", "[attr]", "a\x00b", strings.Repeat("a", 2040)))
	default:
		b.WriteString(d.pick("", "", "/", "**/", "d/", "D/") + d.pick("*", "*.c", "a*", "?", "foo", "[ab]", "a", "b", "**", "f*.c", "d/*", "d/**"))
	}
	for range 1 + d.IntN(4) {
		b.WriteString(d.pick(" ", " ", "\t", "  "))
		b.WriteString(d.pick("", "", "", "-", "!"))
		b.WriteString(d.attribute())
		b.WriteString(d.pick("", "", "", "=auto", "=", "=input", "=lf", "=crlf", "=x=y"))
	}
	if d.IntN(40) == 0 {
		b.WriteString(d.pick(" --x", " a@b", " =x", " -", " !", " é", " -!x"))
	}
	b.WriteString(d.pick("", "", "", " ", "\t"))
	return b.String()
}

func (d dice) attribute() string {
	return d.pick("text", "text", "eol", "crlf", "binary", "diff", "m", "n", "o.p_q-9", "merge")
}

// content returns random file content.
func (d dice) content() string {
	var b strings.Builder
	for range d.IntN(12) {
		b.WriteString(d.pick("line", "line\n", "line\r\n", "line\r\n", "\r\n", "\n", strings.Repeat("x", 130), "é\x1b\b\f\t"))
		if d.IntN(25) == 0 {
			b.WriteString(d.pick("\r", "\x00", "\x01", "\x7f", "\r\r\n"))
		}
	}
	if d.IntN(8) == 0 {
		b.WriteString(d.pick("\x1a", "\r", "\x01"))
	}
	return b.String()
}
