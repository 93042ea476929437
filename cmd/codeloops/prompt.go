package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"codeloops/internal/spell"
)

// promptFile is read from the working directory when no prompt is given.
const promptFile = "prompt.md"

// maxPrompt bounds what is read of a prompt, in bytes: more is a mistake (a
// log, a binary), and no model would take it.
const maxPrompt = 16 << 20

// promptSources are the places where a prompt may come from; one of them must
// be set, or promptFile be there.
type promptSources struct {
	words   []string // positional
	flag    *string  // --prompt, nil when it was not given
	file    string   // --prompt-file, "-" for standard input
	literal bool     // the words came after "--"
}

// await is read, but for a ctx that is done before a pipe or somebody at a
// terminal has said all.
func (p promptSources) await(ctx context.Context, dir string, stdin io.Reader) (text, from string, err error) {
	type prompt struct{ text, from string }
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
		text, from = strings.Join(p.words, " "), "the prompt"
	case p.flag != nil:
		text, from = *p.flag, "--prompt"
	case p.file == "-":
		text, from, err = readPrompt(stdin, "standard input")
	case p.file != "":
		text, from, err = openPrompt(resolve(dir, p.file))
	default:
		text, from, err = openPrompt(filepath.Join(dir, promptFile))
		if errors.Is(err, fs.ErrNotExist) {
			return "", "", usagef(`type it: codeloops "what to do", or write it into `+promptFile, "no prompt given")
		}
	}
	if err != nil {
		return "", "", err
	}
	return text, from, checkPrompt(text, from)
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

// mistyped returns the command that a prompt of one single word was probably
// meant to be, "" when it is none: a typing mistake must not start an agent.
func (p promptSources) mistyped(commands []string) string {
	if p.literal || len(p.words) == 0 {
		return ""
	}
	word := p.words[0]
	if slices.Contains(commands, word) {
		return word
	}
	if len(p.words) > 1 {
		return ""
	}
	name, _ := spell.Nearest(strings.ToLower(word), commands)
	return name
}
