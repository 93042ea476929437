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
)

// A budget is the room left in a file.
type budget struct {
	left int
	most int    // bytes of a text
	id   string // of the session
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

// A text is something that was said, as it is shown.
type text struct {
	Name string
	Body string
	Long bool // to be folded
	Size string
	Note string
}

func (b *budget) words(name, said string) text {
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
	if o.Omitted > 0 {
		t.Note = strings.TrimSpace(t.Note + " " + fmt.Sprintf("Of %s that were printed, %s are not in the log.", wording.Bytes(o.Total), wording.Bytes(o.Omitted)))
	}
	return t
}

// A diff is a change, as it is shown.
type diff struct {
	Files []fileDiff
	Note  string
}

// A fileDiff is one file's part of a diff.
type fileDiff struct {
	Letter, Path, Stat string
	Runs               []*run
	Note               string
	Open               bool
}

// A run is a sequence of lines of the same kind.
type run struct {
	Class ours
	lines strings.Builder
}

func (b *budget) patches(c loop.Change, open bool) (d diff) {
	room := mostOfDiff
	for i, f := range c.Files {
		if i == mostOfFiles {
			d.Note = fmt.Sprintf("%d more files are left out here; all of them are in %s.jsonl", len(c.Files)-i, line(b.id))
			break
		}
		patch, note := b.take(f.Patch, max(room, mostOfRest))
		room -= len(patch)
		one := titled(f)
		one.Note, one.Runs, one.Open = note, runs(patch), open && i < mostOpen && len(patch) < openFile
		d.Files = append(d.Files, one)
	}
	return d
}

// titled is a file without its diff.
func titled(f loop.FileChange) fileDiff {
	stat := fmt.Sprintf("+%d -%d", f.Insertions, f.Deletions)
	if f.Binary {
		stat = "binary"
	}
	return fileDiff{Letter: render.Letter(f.Status), Path: line(render.Quoted(f.Path)), Stat: stat}
}

// runs returns the hunks of a patch. The header is left out: the file's name is shown above.
func runs(patch string) (all []*run) {
	inHunk := false
	for text := range strings.Lines(patch) {
		class := ours("same")
		switch {
		case strings.HasPrefix(text, "@@ "):
			inHunk, class = true, "hunk"
		case !inHunk:
			continue
		case text[0] == '+':
			class = "add"
		case text[0] == '-':
			class = "del"
		}
		if n := len(all); n > 0 && all[n-1].Class == class {
			all[n-1].lines.WriteString(text)
			continue
		}
		all = append(all, &run{Class: class})
		all[len(all)-1].lines.WriteString(text)
	}
	return all
}
