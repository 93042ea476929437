package prompt

import (
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/wording"
)

// list writes one line per file, as many as the budget allows, and counts the rest.
func list(views []*view, budget int) (text string, cut bool) {
	var b strings.Builder
	for i, v := range views {
		line := v.line()
		if b.Len()+len(line)+noteSize > budget && i > 0 {
			b.WriteString(others(views[i:]))
			return b.String(), true
		}
		b.WriteString(line)
	}
	return b.String(), false
}

func (v *view) line() string {
	size := fmt.Sprintf("+%d -%d", v.file.Insertions, v.file.Deletions)
	if v.file.Binary {
		size = fmt.Sprintf("binary, %d bytes before, %d bytes now", v.file.OldSize, v.file.NewSize)
	}
	words := append([]string{size}, v.file.Nature()...)
	words = slices.DeleteFunc(words, func(w string) bool { return w == loop.Binary })
	line := fmt.Sprintf("%-8s  %s  (%s)", v.file.Status, wording.Path(v.file.Path), strings.Join(words, ", "))
	switch {
	case v.missing == "":
	case v.shown == "":
		line += "  NOT SHOWN: " + v.missing
	default:
		line += "  CUT, missing: " + v.missing
	}
	return line + "\n"
}

func others(views []*view) string {
	added, deleted, missing := 0, 0, 0
	for _, v := range views {
		added += v.file.Insertions
		deleted += v.file.Deletions
		if v.missing != "" {
			missing++
		}
	}
	return fmt.Sprintf("[... and %s (+%d -%d), %d of them cut or not shown ...]\n",
		wording.Count(len(views), "more file"), added, deleted, missing)
}
