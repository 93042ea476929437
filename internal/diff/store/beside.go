package store

import "os"

// Beside returns a store that has what s has. What it is given, and what it fetches, is
// gone when it is closed: s is as it would be without it. Git and promised are as
// [Options.Git] and [Options.Promised].
func (s *Store) Beside(git, promised Git) *Store {
	o := s.options
	o.Git, o.Promised, o.Sync = git, promised, func(*os.File) error { return nil }
	b := New(o)
	b.beneath = s
	if objects := s.own.directory(); objects != nil {
		b.others = append(b.others, objects.path)
	}
	return b
}
