package command

import (
	"github.com/spf13/pflag"

	"codeloops/internal/git"
	"codeloops/internal/wording/hint"
)

// A Scope is whose settings of an agent are meant: the user's own, or else those of a project.
type Scope struct{ User, Project bool }

// Flags declares the flags.
func (s *Scope) Flags(f *pflag.FlagSet) {
	f.BoolVar(&s.User, "user", false, "in your own settings, for all projects (the default)")
	f.BoolVar(&s.Project, "project", false, "in the settings of this repository, for whoever works on it")
}

// Root is the root of the project; "" if the user's settings are meant.
func (s *Scope) Root(c *Console) (string, error) {
	switch {
	case s.User && s.Project:
		return "", hint.Errorf("leave one of them out", "--user and --project contradict each other")
	case !s.Project:
		return "", nil
	}
	at, err := git.Open(c.Dir, c.Environ)
	if err != nil {
		return "", err
	}
	return at.WorkTree, nil
}
