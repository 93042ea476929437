package source

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/proc"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Means are what sources need besides their names.
type Means struct {
	Runner interface {
		Run(context.Context, proc.Command) (proc.Result, error)
	} // a [proc.Runner]
	Dir string   // working directory of programs, absolute
	Env []string // complete
	Now func() time.Time
}

// Open returns the source of a kind with a name; see [Source].
func Open(kind, name string, m Means) (Source, error) {
	switch kind {
	case "checklist":
		return NewChecklist(name)
	case "prd":
		return NewStories(name)
	case "github":
		return NewIssues(name, m.Env, m.Now)
	case "command":
		return &Program{Means: m, Path: name, Timeout: time.Minute}, nil
	}
	return nil, hint.Errorf("there are checklist, prd, github and command; a newer codeloops may know more",
		"tasks of the kind %s are not known", wording.Quote(kind, 40))
}

// KindOf guesses the kind of source from a file's name.
func KindOf(path string) string {
	if strings.EqualFold(filepath.Ext(path), ".json") {
		return "prd"
	}
	return "checklist"
}
