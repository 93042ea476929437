package export

import (
	"fmt"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
)

// Limits in bytes of what a file holds. The log has longer texts in full.
const (
	mostOfText  = 64 << 10
	mostOfDiff  = 256 << 10 // of one iteration
	mostOfAll   = 12 << 20
	mostOfRest  = 1 << 10 // of each text once the budget is used up
	mostOfLine  = 300     // columns
	longText    = 1500    // longer texts are folded
	longLines   = 20
	openFile    = 4 << 10 // larger diffs of a file are folded
	mostOpen    = 6       // files
	mostOfFiles = 500     // in one diff
	mostNamed   = 50      // files in a list

	// Of a pull request's description, of which GitHub takes 64 KiB: the bytes of all texts, and of each.
	markdownSize   = 40 << 10
	mostOfMarkdown = 4 << 10
)

// A budget is the room left in a file.
type budget struct {
	left int
	most int    // bytes of a text
	id   string // of the session
	raw  bool   // texts are not cut, and not cleaned yet
}

// take cleans a text and cuts it to the room there is, after a line break if possible. note
// says how much is left out.
func (b *budget) take(text string, most int) (kept, note string) {
	whole := len(text)
	// What is going to be cut off need not be cleaned.
	text = term.Clean(beginning(text, 2*most))
	if b.left < most {
		most = min(most, mostOfRest)
	}
	kept = text
	if len(text) > most || whole > 2*most {
		kept = beginning(text, most)
		if at := strings.LastIndexByte(kept, '\n'); at > most/2 {
			kept = kept[:at+1]
		}
		note = fmt.Sprintf("%s of %s are left out here; all of it is in %s.jsonl", wording.Bytes(whole-len(kept)), wording.Bytes(whole), line(b.id))
	}
	b.left -= len(kept)
	return kept, note
}

// beginning returns at most so many bytes of a text, without a partial character at the end.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// line returns a text as one line, cut if it is long.
func line(said string) string {
	return render.Cut(term.Line(beginning(said, 4*mostOfLine)), mostOfLine)
}

// lines makes each text a line, in place.
func lines(said []string) []string {
	for i := range said {
		said[i] = line(said[i])
	}
	return said
}

// A text is something that was said, as it is shown.
type text struct {
	Name string
	Body string
	Long bool // to be folded
	Size string
	Note string
}

func (b *budget) words(name, said string) text {
	if b.raw {
		return text{Name: name, Body: said}
	}
	body, note := b.take(strings.Trim(said, "\r\n"), b.most)
	body = strings.Trim(body, "\n")
	if strings.TrimSpace(body) == "" {
		return text{Name: name, Note: note}
	}
	lines := strings.Count(body, "\n") + 1
	return text{
		Name: name, Body: body, Long: len(body) > longText || lines > longLines,
		Size: render.Count(lines, "line", "lines"), Note: note,
	}
}

// output is what an agent or a check printed; the log may not have all of it.
func (b *budget) output(name string, o loop.Output) text {
	t := b.words(name, o.Text)
	if o.Omitted > 0 && b.raw {
		t.Note = fmt.Sprintf("%d of %d bytes are not in the log; all of it: %s", o.Omitted, o.Total, term.Line(o.File))
	} else if o.Omitted > 0 {
		t.Note = strings.TrimSpace(t.Note + " " + fmt.Sprintf("Of %s that were printed, %s are not in the log.", wording.Bytes(o.Total), wording.Bytes(o.Omitted)))
	}
	return t
}
