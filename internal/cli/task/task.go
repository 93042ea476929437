// Package task reads what is to be done: the prompt of a run.
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
	"strings"
	"time"
	"unicode/utf8"

	"codeloops/internal/config/host"
	"codeloops/internal/screen/ask"
	"codeloops/internal/wording/hint"
)

// file is read from the working directory when no prompt is given.
const file = "prompt.md"

// What a prompt is called that was typed.
const (
	FromWords = "the prompt"
	FromFlag  = "--prompt"
)

// most bounds what is read of a prompt, in bytes: more is a mistake (a
// log, a binary), and no model would take it.
const most = 16 << 20

// Sources are the places where a prompt may come from; one of them must
// be set, or file be there.
type Sources struct {
	Words []string // positional
	Flag  *string  // --prompt, nil when it was not given
	File  string   // --prompt-file, "-" for standard input
	Name  string   // --prompt-name, of a file below .codeloops/prompts
	Root  string   // of the repository that has it
	By    string   // the command that takes it; "": codeloops
}

// None reports whether no prompt is named at all.
func (p Sources) None() bool {
	return len(p.Words) == 0 && p.Flag == nil && p.File == "" && p.Name == ""
}

// unhurried is how long a prompt may take to come before the user is told that it is
// waited for.
const unhurried = 2 * time.Second

// Await is read, but for a ctx that is done before a pipe or somebody at a
// terminal has said all. tell is called once when that takes its time.
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

// read returns the prompt and, for messages, the name of where it came from.
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
		return "", "", hint.Errorf("give one of them", "the prompt is given twice: %s", strings.Join(given, " and "))
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
		text, from, err = named(p.Root, p.Name)
	default:
		text, from, err = p.lyingAround(dir, stdin)
	}
	if err != nil {
		return "", "", err
	}
	return text, from, Check(text, from)
}

// lyingAround reads the prompt that nobody named: what a pipe, or a file in the
// place of one, has on standard input, else file. A pipe with nothing in it
// is none: schedulers and CI leave one there.
func (p Sources) lyingAround(dir string, stdin io.Reader) (text, from string, err error) {
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

// piped reports whether a stream is a pipe or a file that somebody has put there.
func piped(stdin io.Reader) bool {
	f, ok := stdin.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && (st.Mode().IsRegular() || st.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0)
}

// Check refuses what cannot be a prompt; from says where it came from.
func Check(text, from string) error {
	switch {
	case !utf8.ValidString(text):
		return hint.Errorf("save it as UTF-8", "%s is not UTF-8 text", from)
	case strings.TrimSpace(text) == "":
		return hint.Errorf("say what is to be done", "%s is empty", from)
	case len(text) > most:
		return hint.Errorf("name a file for the agent to read instead", "%s is larger than %d MiB", from, most>>20)
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
