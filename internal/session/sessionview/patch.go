package sessionview

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
)

// RoundOf returns an iteration, and the change up to the end of the one before it. Iteration 0 is
// the last finished one whose work is in the user's work tree; the result is zero if all were
// played in forks that were not applied. The error is a [*MissingError] if there is no such
// iteration.
func RoundOf(id string, entries Entries, iteration int) (before loop.Change, round loop.Round, err error) {
	var forks progress.Forks
	var kept loop.Round
	for entry, err := range entries {
		if err != nil {
			return before, round, err
		}
		whole, over := entry.Event.(loop.IterationFinished)
		if over && whole.Round.Iteration >= round.Iteration {
			before, round = round.Change, whole.Round
		}
		if over && iteration == whole.Round.Iteration {
			return before, round, nil
		}
		if note, ok := entry.Event.(loop.Noted); ok {
			forks.Follow(note)
		}
		if forks.Takes(entry.At, entry.Event) {
			kept = round
		}
	}
	if iteration > 0 || round.Iteration == 0 {
		return before, round, &MissingError{ID: id, Iteration: iteration, Last: round.Iteration}
	}
	return before, kept, nil
}

// Unappliable lists the files whose content a change does not hold: binary ones too large for a
// log.
func Unappliable(c loop.Change) (paths []string) {
	for _, f := range c.Files {
		if f.Binary && f.BinaryPatch == "" && !strings.Contains(f.Patch, "\nGIT binary patch\n") {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// Patch writes a change for `git apply`, byte by byte, or, with a screen, for a person.
func Patch(w io.Writer, c loop.Change, s *Screen) error {
	if s == nil {
		_, err := io.WriteString(w, c.ApplicablePatch())
		return err
	}
	for _, f := range c.Files {
		if _, err := io.WriteString(w, s.Coloured(f.Patch)); err != nil {
			return err
		}
	}
	return nil
}

// Coloured returns a patch in git's colours, its content cleaned.
func (s Screen) Coloured(patch string) string {
	style := func(colour string) lipgloss.Style { return s.Style.NewStyle().Foreground(term.Colour(colour)) }
	added, removed, place := style("2"), style("1"), style("6")
	header := s.Style.NewStyle().Bold(true)
	inHunk := false
	var b strings.Builder
	for line := range strings.Lines(patch) {
		text := strings.ReplaceAll(term.Clean(strings.TrimRight(line, "\r\n")), "\n", "␍")
		inHunk = inHunk && !strings.HasPrefix(text, "diff --git ") // the next file
		switch {
		case strings.HasPrefix(text, "@@ "):
			inHunk = true
			text = paint(place, text)
		case !inHunk:
			text = paint(header, text)
		case strings.HasPrefix(text, "+"):
			text = paint(added, text)
		case strings.HasPrefix(text, "-"):
			text = paint(removed, text)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// paint colours a line and keeps its tabs, which lipgloss would replace.
func paint(style lipgloss.Style, text string) string {
	return style.TabWidth(lipgloss.NoTabConversion).Render(text)
}

// Names writes the paths of a change, one per line. Special ones are quoted; with nul they are not,
// and each ends with a zero byte.
func Names(w io.Writer, c loop.Change, nul bool) error {
	last := ""
	for i, f := range c.Files {
		if i > 0 && f.Path == last {
			continue // a change of file type has two parts
		}
		last = f.Path
		line := render.Quoted(f.Path) + "\n"
		if nul {
			line = f.Path + "\x00"
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}
