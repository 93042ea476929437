// Package editor has the user write a text in their editor.
package editor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/config/host"
	"codeloops/internal/diff"
	"codeloops/internal/proc"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording/hint"
)

// An Editor is the user's.
type Editor struct {
	*term.Streams
	*host.Host

	Git diff.Git // asks the user's configuration
}

// below begins what is not part of the text. Lines that begin with # are: they are headings
// of Markdown.
const below = "# ------------------------ >8 ------------------------"

// A Draft is a text that was edited, and stays in a file until it is dropped.
type Draft struct {
	Text string
	File string
}

// Drop removes the file.
func (d Draft) Drop() { _ = os.RemoveAll(filepath.Dir(d.File)) } // else it is the system's to tidy

// Edit opens the editor on a text, with comments below it.
func (e *Editor) Edit(ctx context.Context, text, comments string) (d Draft, err error) {
	command, err := e.command(ctx)
	if err != nil {
		return d, err
	}
	dir, err := os.MkdirTemp("", "codeloops-prompt-")
	if err != nil {
		return d, fmt.Errorf("make a place for the text: %w", err)
	}
	d.File = filepath.Join(dir, "PROMPT.md")
	if err := os.WriteFile(d.File, []byte(template(text, comments)), 0o600); err != nil {
		d.Drop()
		return d, fmt.Errorf("write the text to edit: %w", err)
	}
	// As git does: the command is the shell's to read, and may have arguments. Ctrl+C is
	// the editor's.
	tool := proc.Tool{Argv: []string{"sh", "-c", command + ` "$@"`, command, d.File}, Stdin: e.In, Stdout: e.Err, Stderr: e.Err}
	switch code, err := tool.Run(context.WithoutCancel(ctx)); {
	case err != nil:
		d.Drop()
		return d, fmt.Errorf("run the editor: %w", err)
	case code != 0:
		return d, hint.Errorf("your text is in "+d.File, "the editor (%s) ended with %d, and nothing was run", command, code)
	}
	written, err := os.ReadFile(d.File)
	if err != nil {
		return d, fmt.Errorf("read the text that was edited: %w", err)
	}
	d.Text, _, _ = strings.Cut("\n"+strings.ReplaceAll(string(written), "\r\n", "\n"), "\n"+below)
	d.Text = strings.TrimPrefix(d.Text, "\n")
	return d, nil
}

// template is what the editor opens on.
func template(text, comments string) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(text, "\n") + "\n\n" + below + "\n")
	for line := range strings.Lines("Leave this line as it is. What stands below it is not part of the text.\n" + comments) {
		b.WriteString(strings.TrimRight("# "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
	return b.String()
}

// command finds the editor where git looks for it: $GIT_EDITOR, core.editor, $VISUAL,
// $EDITOR, vi. Of git's configuration only the user's own counts, and the machine's: an
// agent may have written that of a repository.
func (e *Editor) command(ctx context.Context) (string, error) {
	if command := e.Getenv("GIT_EDITOR"); command != "" {
		return command, nil
	}
	for _, scope := range []string{"--global", "--system"} {
		out, err := e.Git.Run(ctx, diff.GitCall{Dir: e.Dir, Args: []string{"config", scope, "--includes", "--get", "core.editor"}})
		if command := strings.TrimSpace(string(out)); err == nil && command != "" {
			return command, nil
		}
	}
	dumb := e.Getenv("TERM") == "" || e.Getenv("TERM") == "dumb"
	if command := e.Getenv("VISUAL"); command != "" && !dumb {
		return command, nil
	}
	if command := e.Getenv("EDITOR"); command != "" {
		return command, nil
	}
	if dumb {
		return "", hint.Errorf("set EDITOR", "the terminal is too simple for vi, and no editor is set")
	}
	return "vi", nil
}
