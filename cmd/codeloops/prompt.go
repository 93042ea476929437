package main

import (
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
)

// promptFile is read from the working directory when no prompt is given.
const promptFile = "prompt.md"

// What a prompt is called that was typed.
const (
	promptWords = "the prompt"
	promptFlag  = "--prompt"
)

// maxPrompt bounds what is read of a prompt, in bytes: more is a mistake (a
// log, a binary), and no model would take it.
const maxPrompt = 16 << 20

// promptSources are the places where a prompt may come from; one of them must
// be set, or promptFile be there.
type promptSources struct {
	words []string // positional
	flag  *string  // --prompt, nil when it was not given
	file  string   // --prompt-file, "-" for standard input
}

// unhurried is how long a prompt may take to come before the user is told that it is
// waited for.
const unhurried = 2 * time.Second

// await is read, but for a ctx that is done before a pipe or somebody at a
// terminal has said all. tell is called once when that takes its time.
func (p promptSources) await(ctx context.Context, dir string, stdin io.Reader, tell func()) (text, from string, err error) {
	type prompt struct{ text, from string }
	slow := time.AfterFunc(unhurried, tell)
	defer slow.Stop()
	got, err := within(ctx, func() (got prompt, err error) {
		got.text, got.from, err = p.read(dir, stdin)
		return got, err
	})
	return got.text, got.from, err
}

// read returns the prompt and, for messages, the name of where it came from.
func (p promptSources) read(dir string, stdin io.Reader) (text, from string, err error) {
	var given []string
	if len(p.words) > 0 {
		given = append(given, "as words")
	}
	if p.flag != nil {
		given = append(given, "with --prompt")
	}
	if p.file != "" {
		given = append(given, "with --prompt-file")
	}
	if len(given) > 1 {
		return "", "", usagef("give one of them", "the prompt is given twice: %s", strings.Join(given, " and "))
	}
	switch {
	case len(p.words) > 0:
		text, from = strings.Join(p.words, " "), promptWords
	case p.flag != nil:
		text, from = *p.flag, promptFlag
	case p.file == "-":
		text, from, err = readPrompt(stdin, "standard input")
	case p.file != "":
		text, from, err = openPrompt(resolve(dir, p.file))
	default:
		text, from, err = lyingAround(dir, stdin)
	}
	if err != nil {
		return "", "", err
	}
	return text, from, checkPrompt(text, from)
}

// lyingAround reads the prompt that nobody named: what a pipe, or a file in the
// place of one, has on standard input, else promptFile. A pipe with nothing in it
// is none: schedulers and CI leave one there.
func lyingAround(dir string, stdin io.Reader) (text, from string, err error) {
	if piped(stdin) {
		text, from, err = readPrompt(stdin, "standard input")
		if err != nil || text != "" {
			return text, from, err
		}
	}
	text, from, err = openPrompt(filepath.Join(dir, promptFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", usagef(`type it: codeloops "what to do", or write it into `+promptFile, "no prompt given")
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

func checkPrompt(text, from string) error {
	switch {
	case !utf8.ValidString(text):
		return usagef("save it as UTF-8", "%s is not UTF-8 text", from)
	case strings.TrimSpace(text) == "":
		return usagef("say what is to be done", "%s is empty", from)
	case len(text) > maxPrompt:
		return usagef("name a file for the agent to read instead", "%s is larger than %d MiB", from, maxPrompt>>20)
	}
	return nil
}

func openPrompt(path string) (text, from string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", path, fmt.Errorf("read the prompt: %w", err)
	}
	defer f.Close() //nolint:errcheck // opened for reading
	return readPrompt(f, path)
}

func readPrompt(r io.Reader, name string) (text, from string, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPrompt+1))
	if err != nil {
		return "", name, fmt.Errorf("read the prompt from %s: %w", name, err)
	}
	return strings.TrimPrefix(string(data), "\ufeff"), name, nil
}

func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
