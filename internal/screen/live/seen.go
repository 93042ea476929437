package live

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
)

// A seen holds what looks at the work tree have found in a turn. It takes precedence over what the
// agent reports.
type seen struct {
	all   *loop.Look        // the last look; nil: there was none
	files map[string]string // the change of each file, as a part of a line
}

// lines returns the change of a file that the agent has edited.
func (s *seen) lines(edit act) string {
	for path, lines := range s.files {
		if sameFile(path, edit.text) {
			return lines
		}
	}
	return edit.lines
}

// sameFile reports whether two paths may mean the same file: agents name files relative to
// different directories.
func sameFile(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return a == b || strings.HasSuffix(a, "/"+strings.TrimPrefix(b, "./"))
}

// look takes a look at the work tree. New changes are listed before the agent's current action.
func (d *doing) look(l loop.Look) {
	if d.seen.all = &l; d.seen.files == nil {
		d.seen.files = map[string]string{}
	}
	for _, f := range l.New {
		path := term.Line(f.Path)
		text := became(f)
		d.seen.files[path] = text
		same := func(a act) bool { return a.kind == loop.NoticeEdit && sameFile(a.text, path) }
		switch i := slices.IndexFunc(d.acts, same); {
		case i >= 0 && f.Status == "" && d.acts[i].seen:
			d.acts = slices.Delete(d.acts, i, i+1)
		case i >= 0:
			for i := range d.acts {
				if same(d.acts[i]) {
					d.acts[i].lines = text
				}
			}
		case f.Status != "":
			d.insert(act{kind: loop.NoticeEdit, text: path, lines: text, seen: true})
		}
	}
}

func (d *doing) insert(a act) {
	before, last := d.last()
	if before = append(slices.Clone(before), a); len(before) > mostDone {
		before = before[1:]
	}
	if d.acts = before; last != nil {
		d.acts = append(d.acts, *last)
	}
}

// last returns what an agent is doing now, and what was done before; nil: it has not reported
// anything.
func (d *doing) last() (before []act, now *act) {
	if d == nil {
		return nil, nil
	}
	if n := len(d.acts) - 1; n >= 0 && !d.acts[n].seen {
		return d.acts[:n], &d.acts[n]
	}
	return d.acts, nil
}

func became(f loop.Seen) string {
	switch {
	case f.Status == "":
		return " as it was"
	case f.Status == loop.FileDeleted:
		return " deleted" + lines(f.Added, f.Removed)
	case f.Binary:
		return " binary, " + wording.Bytes(f.Size)
	}
	return lines(f.Added, f.Removed)
}

func (d *doing) files() []string {
	switch l := d.seen.all; {
	case l != nil && l.Files > 0:
		return []string{render.Count(l.Files, "file", "files") + " changed" + lines(l.Added, l.Removed)}
	case l == nil && len(d.edited) > 0:
		return []string{render.Count(len(d.edited), "file", "files") + " edited" + lines(d.added, d.removed)}
	}
	return nil
}
