package live

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/render"
	"codeloops/internal/screen/term"
	"codeloops/internal/wording"
)

// A seen is what looks at the work tree have found in a turn. Its numbers count, not those that
// the agent tells.
type seen struct {
	all   *loop.Look        // the last one; nil: there was none
	files map[string]string // what has become of each, as a part of a line
}

// lines is what is known of a file that the agent has edited.
func (s *seen) lines(edit act) string {
	for path, lines := range s.files {
		if sameFile(path, edit.text) {
			return lines
		}
	}
	return edit.lines
}

// sameFile reports whether two paths may mean one file: agents name files from where they work, or
// from the root.
func sameFile(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return a == b || strings.HasSuffix(a, "/"+strings.TrimPrefix(b, "./"))
}

// look takes what has become of the work tree: what is new stands with what the agent did before
// that which it does now.
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

// insert puts what a look has found behind what the agent did, but for the last.
func (d *doing) insert(a act) {
	before, last := d.last()
	if before = append(slices.Clone(before), a); len(before) > mostDone {
		before = before[1:]
	}
	if d.acts = before; last != nil {
		d.acts = append(d.acts, *last)
	}
}

// last returns what an agent does now, and before it what was done, by whomever; nil: it has not
// said anything.
func (d *doing) last() (before []act, now *act) {
	if d == nil {
		return nil, nil
	}
	if n := len(d.acts) - 1; n >= 0 && !d.acts[n].seen {
		return d.acts[:n], &d.acts[n]
	}
	return d.acts, nil
}

// became says what has become of a file.
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

// files says how much has been changed in the turn.
func (d *doing) files() []string {
	switch l := d.seen.all; {
	case l != nil && l.Files > 0:
		return []string{render.Count(l.Files, "file", "files") + " changed" + lines(l.Added, l.Removed)}
	case l == nil && len(d.edited) > 0:
		return []string{render.Count(len(d.edited), "file", "files") + " edited" + lines(d.added, d.removed)}
	}
	return nil
}
