// Package editor lets the user write a text in their editor.
package editor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/config/host"
	"codeloops/internal/git"
	"codeloops/internal/proc"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording/hint"
)

// An Editor is the user's editor.
type Editor struct {
	*term.Streams
	*host.Host
}

// below separates the text from the comments. A # alone does not make a comment, because it
// begins headings in Markdown.
const below = "# ------------------------ >8 ------------------------"

// A Draft is an edited text, which stays in a file until it is dropped.
type Draft struct {
	Text string
	File string
}

// Drop removes the file.
func (d Draft) Drop() { _ = os.RemoveAll(filepath.Dir(d.File)) } // otherwise the system cleans up its temporary directory

// Edit opens the editor on a text with comments below it.
func (e *Editor) Edit(ctx context.Context, text, comments string) (d Draft, err error) {
	command, err := e.command(ctx)
	if err != nil {
		return d, err
	}
	dir, err := os.MkdirTemp("", "codeloops-prompt-")
	if err != nil {
		return d, fmt.Errorf("make a directory for the text: %w", err)
	}
	d.File = filepath.Join(dir, "PROMPT.md")
	begun := template(text, comments)
	if err := os.WriteFile(d.File, []byte(begun), 0o600); err != nil {
		d.Drop()
		return d, fmt.Errorf("write the text to edit: %w", err)
	}
	// As in git, the shell parses the command, so it may have arguments. The editor handles Ctrl+C.
	tool := proc.Tool{Argv: []string{"sh", "-c", command + ` "$@"`, command, d.File}, Stdin: e.In, Stdout: e.Err, Stderr: e.Err}
	code, err := tool.Run(context.WithoutCancel(ctx))
	if err != nil {
		d.Drop()
		return d, fmt.Errorf("run the editor: %w", err)
	}
	written, err := os.ReadFile(d.File)
	switch what := "your text is in " + d.File; {
	case code != 0:
		if string(written) == begun {
			d.Drop()
			what = "set EDITOR to use another one"
		}
		return d, hint.Errorf(what, "the editor (%s) exited with %d, and nothing was run", command, code)
	case err != nil:
		return d, fmt.Errorf("read the edited text: %w", err)
	}
	d.Text, _, _ = strings.Cut("\n"+strings.ReplaceAll(string(written), "\r\n", "\n"), "\n"+below)
	d.Text = strings.TrimPrefix(d.Text, "\n")
	return d, nil
}

// template returns the text that the editor opens.
func template(text, comments string) string {
	var b strings.Builder
	b.WriteString(strings.TrimRight(text, "\n") + "\n\n" + below + "\n")
	for line := range strings.Lines("Do not change this line. Everything below it is ignored.\n" + comments) {
		b.WriteString(strings.TrimRight("# "+strings.TrimRight(line, "\n"), " ") + "\n")
	}
	return b.String()
}

// command finds the editor as git does: $GIT_EDITOR, core.editor, $VISUAL, $EDITOR, vi.
func (e *Editor) command(ctx context.Context) (string, error) {
	configured, _ := (git.Git{Environ: e.Environ}).UserSetting(ctx, e.Dir, "core.editor")
	visual, last := e.Getenv("VISUAL"), "vi"
	if kind := e.Getenv("TERM"); kind == "" || kind == "dumb" { // it can show neither
		visual, last = "", ""
	}
	command := cmp.Or(e.Getenv("GIT_EDITOR"), configured, visual, e.Getenv("EDITOR"), last)
	if command == "" {
		return "", hint.Errorf("set EDITOR", "the terminal is too simple for vi, and no editor is set")
	}
	return command, nil
}
