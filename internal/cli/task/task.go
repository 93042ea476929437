// Package task reads the prompt of a run.
package task

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"codeloops/internal/config/host"
	"codeloops/internal/draft"
	"codeloops/internal/screen/ask"
	"codeloops/internal/wording/hint"
)

// file is read from the working directory when no prompt is given.
const file = "prompt.md"

// The names of typed prompts.
const (
	FromWords = "the prompt"
	FromFlag  = "--prompt"
)

// most is the largest prompt, in bytes: a larger one is a mistake (a log, a
// binary), and no model would accept it.
const most = 16 << 20

// Sources are the places that a prompt may come from. One of them must be set, or
// prompt.md must exist.
type Sources struct {
	Words []string // positional
	Flag  *string  // --prompt, nil when it was not given
	File  string   // --prompt-file, "-" for standard input
	Name  string   // --prompt-name, of a file below .codeloops/prompts
	By    string   // the command, for hints; "": codeloops

	Skills  []string    // --skill, which the prompt is to name
	Prompts draft.Store // of the repository, with its skills and the user's
}

// None reports whether no prompt is named at all.
func (p Sources) None() bool {
	return len(p.Words) == 0 && p.Flag == nil && p.File == "" && p.Name == ""
}

// Written reports whether a prompt that no argument names is in a directory.
func Written(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, file))
	return !errors.Is(err, fs.ErrNotExist)
}

// unhurried is after what time the user is told that codeloops waits for the prompt.
const unhurried = 2 * time.Second

// Await reads the prompt, which may take a pipe or a person some time. from is its origin, for
// messages. tell is called once if it takes long.
func (p Sources) Await(ctx context.Context, dir string, stdin io.Reader, tell func()) (text, from string, err error) {
	type prompt struct{ text, from string }
	slow := time.AfterFunc(unhurried, tell)
	defer slow.Stop()
	got, err := ask.Within(ctx, func() (got prompt, err error) {
		got.text, got.from, err = p.read(dir, stdin)
		return got, err
	})
	return got.text, got.from, err
}

// read returns the prompt and its origin, for messages.
func (p Sources) read(dir string, stdin io.Reader) (text, from string, err error) {
	var given []string
	if len(p.Words) > 0 {
		given = append(given, "as words")
	}
	if p.Flag != nil {
		given = append(given, "with --prompt")
	}
	if p.File != "" {
		given = append(given, "with --prompt-file")
	}
	if p.Name != "" {
		given = append(given, "with --prompt-name")
	}
	if len(given) > 1 {
		return "", "", hint.Errorf("use only one of them", "the prompt is given twice: %s", strings.Join(given, " and "))
	}
	switch {
	case len(p.Words) > 0:
		text, from = strings.Join(p.Words, " "), FromWords
	case p.Flag != nil:
		text, from = *p.Flag, FromFlag
	case p.File == "-":
		text, from, err = readAll(stdin, "standard input")
	case p.File != "":
		text, from, err = open((&host.Host{Dir: dir}).Path(p.File))
	case p.Name != "":
		return p.named()
	default:
		text, from, err = p.unnamed(dir, stdin)
	}
	if err != nil {
		return "", "", err
	}
	text, err = p.Equipped(text, from)
	return text, from, err
}

// named reads a prompt of the repository, with what it inherits.
func (p Sources) named() (text, from string, err error) {
	d, from, err := p.Prompts.Read(p.Name)
	if err != nil {
		return "", from, err
	}
	for _, skill := range p.Skills {
		if !slices.Contains(d.Skills, skill) {
			d.Skills = append(d.Skills, skill)
		}
	}
	if text, err = p.Prompts.Resolve(p.Name, d); err != nil {
		return "", from, err
	}
	return text, from, Check(text, from)
}

// Equipped returns a text with the skills that it is to name, or says why it cannot be a prompt; from is its origin.
func (p Sources) Equipped(text, from string) (string, error) {
	if err := Check(text, from); err != nil {
		return "", err
	}
	return p.Prompts.Equip(text, p.Skills)
}

// unnamed reads a prompt that no argument names: standard input if it is a pipe or a
// file, otherwise prompt.md. An empty pipe is ignored, because schedulers and CI
// provide one.
func (p Sources) unnamed(dir string, stdin io.Reader) (text, from string, err error) {
	if piped(stdin) {
		text, from, err = readAll(stdin, "standard input")
		if err != nil || text != "" {
			return text, from, err
		}
	}
	text, from, err = open(filepath.Join(dir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", hint.Errorf(`type it: `+cmp.Or(p.By, "codeloops")+` "what to do", or write it into `+file, "no prompt given")
	}
	return text, from, err
}

// piped reports whether standard input is a pipe or a file.
func piped(stdin io.Reader) bool {
	f, ok := stdin.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && (st.Mode().IsRegular() || st.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0)
}

// Check rejects a text that cannot be a prompt; from is its origin.
func Check(text, from string) error {
	switch {
	case !utf8.ValidString(text):
		return hint.Errorf("save it as UTF-8", "%s is not UTF-8 text", from)
	case strings.TrimSpace(text) == "":
		return hint.Errorf("say what to do", "%s is empty", from)
	case len(text) > most:
		return hint.Errorf("put the details into a file for the agent to read", "%s is larger than %d MiB", from, most>>20)
	}
	return nil
}

func open(path string) (text, from string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", path, fmt.Errorf("read the prompt: %w", err)
	}
	defer f.Close() //nolint:errcheck // opened for reading
	return readAll(f, path)
}

func readAll(r io.Reader, name string) (text, from string, err error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return "", name, fmt.Errorf("read the prompt from %s: %w", name, err)
	}
	return strings.TrimPrefix(string(data), "\ufeff"), name, nil
}
