package loop

// maxSeen is how many files one [Look] lists.
const maxSeen = 20

// A Look says in the middle of a turn how the work tree differs from its last capture, whoever
// changed it. It is for people who watch.
type Look struct {
	Files   int    `json:"files"` // that differ
	Added   int    `json:"added"` // lines in all of them
	Removed int    `json:"removed"`
	New     []Seen `json:"new,omitempty"` // files that differ from the look before, in order, at most maxSeen
}

// A Seen is one file in a Look.
type Seen struct {
	Path    string     `json:"path"`
	Status  FileStatus `json:"status,omitzero"` // "": it is as it was at the last capture
	Binary  bool       `json:"binary,omitzero"` // or too large to compare
	Size    int64      `json:"size,omitzero"`   // in bytes; 0 if it is gone
	Added   int        `json:"added,omitzero"`  // lines
	Removed int        `json:"removed,omitzero"`
}

// Looked compares two changes of one turn, the first of which may be empty; nil: they are equal.
func Looked(before, now Change) *Look {
	was, is := seenIn(before), seenIn(now)
	look := &Look{Files: len(is), Added: now.Insertions, Removed: now.Deletions}
	known := make(map[string]Seen, len(was))
	for _, f := range was {
		known[f.Path] = f
	}
	for _, f := range is {
		if known[f.Path] != f {
			look.New = append(look.New, f)
		}
		delete(known, f.Path)
	}
	for _, f := range was {
		if _, back := known[f.Path]; back {
			look.New = append(look.New, Seen{Path: f.Path})
		}
	}
	if len(look.New) == 0 {
		return nil
	}
	look.New = look.New[:min(len(look.New), maxSeen)]
	return look
}

// seenIn returns the files of a change; a change of type becomes one entry.
func seenIn(c Change) (all []Seen) {
	for _, f := range c.Files {
		s := Seen{Path: f.Path, Status: f.Status, Binary: f.Binary, Size: f.NewSize, Added: f.Insertions, Removed: f.Deletions}
		if n := len(all) - 1; n >= 0 && all[n].Path == f.Path {
			s.Status, s.Binary = FileModified, s.Binary || all[n].Binary
			s.Added, s.Removed = s.Added+all[n].Added, s.Removed+all[n].Removed
			all[n] = s
			continue
		}
		all = append(all, s)
	}
	return all
}
