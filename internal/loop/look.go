package loop

// MaxSeen is how many files one [Look] names.
const MaxSeen = 20

// A Look says, in the middle of a turn, what has become of the work tree since its last capture,
// whoever did it and whether an agent tells of it or not. It is for people who watch.
type Look struct {
	Files          int    // that differ
	Added, Removed int    // lines, in all of them
	New            []Seen // those that are not as at the look before, in order; the first ones
}

// A Seen is what a look has seen of one file.
type Seen struct {
	Path           string
	Status         FileStatus // "": it is as it was at the last capture
	Binary         bool       // or too large to be compared
	Size           int64      // of one that is there, in bytes
	Added, Removed int        // lines
}

// Looked returns what two changes of one turn, the first of which may be empty, differ in;
// nil: in nothing.
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
	look.New = look.New[:min(len(look.New), MaxSeen)]
	return look
}

// seenIn returns the files of a change, one of another type as one.
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
