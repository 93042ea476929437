package lookup

import (
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/session/sessionview"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Filter selects sessions, in the words of a command line; "" is any.
type Filter struct {
	Outcome, Search, Agent, Project string
	After, Before                   string // a time
	Since                           string // a span up to now
}

// Query parses the filter.
func (f Filter) Query(h *host.Host) (q sessionview.Query, err error) {
	now := h.Now()
	q = sessionview.Query{Outcome: f.Outcome, Search: f.Search, Agent: f.Agent}
	if f.Outcome != "" {
		if err := OneOf("--outcome", f.Outcome, sessionview.Outcomes()); err != nil {
			return q, err
		}
	}
	if f.After != "" && f.Since != "" {
		return q, hint.Errorf("give one of them", "--after and --since both say when to begin")
	}
	if f.After != "" {
		if q.After, err = sessionview.ParseTime(f.After, now.Location()); err != nil {
			return q, hint.Errorf("", "--after: %w", err)
		}
	}
	if f.Before != "" {
		if q.Before, err = sessionview.ParseTime(f.Before, now.Location()); err != nil {
			return q, hint.Errorf("", "--before: %w", err)
		}
	}
	if f.Since != "" {
		back, err := config.ParseDuration(f.Since)
		if err != nil {
			return q, hint.Errorf("", "--since: %w", err)
		}
		q.After = now.Add(-back)
	}
	if f.Project != "" {
		dir := filepath.Clean(h.Path(f.Project))
		q.Projects = []string{dir}
		// A log has the directory as the user had named it.
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			q.Projects = append(q.Projects, resolved)
		}
	}
	return q, nil
}

// OneOf rejects a value of a flag that is not one of the words, and suggests the nearest.
func OneOf(flag, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	what := "one of " + strings.Join(words, ", ")
	if near, ok := wording.Nearest(strings.ToLower(value), words); ok {
		what = "did you mean " + near + "?"
	}
	return hint.Errorf(what, "%s cannot be %q", flag, value)
}
