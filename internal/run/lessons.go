package run

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"time"

	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/git"
	"codeloops/internal/lesson"
	"codeloops/internal/lesson/embedding"
	"codeloops/internal/lesson/postgres"
	"codeloops/internal/loop"
	"codeloops/internal/strategy"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// The places of lessons.
const (
	LessonsOfUser    = "user"    // a file in the user's data directory
	LessonsOfProject = "project" // a file in the repository
)

// LessonsIn opens the store of lessons in one of these places, or in the database at a URL. root
// is the root of the work tree, "" if there is none. tell is called for lessons that are skipped.
// Lessons are found by their words; see [ByMeaning].
func LessonsIn(ctx context.Context, h *host.Host, root, where string, tell func(error)) (lesson.Store, error) {
	if strings.HasPrefix(where, "postgres://") {
		if err := config.Address("postgres", where); err != nil {
			return nil, err
		}
		return postgres.Open(ctx, where)
	}
	data := h.Data("")
	if data == "" {
		return nil, hint.Errorf("set HOME, or XDG_DATA_HOME", "there is no place to keep lessons: the home directory is unknown")
	}
	files := &lesson.Files{Data: data, Into: lesson.Own(data), Tell: tell}
	switch {
	case where == LessonsOfUser:
		return files, nil
	case where != LessonsOfProject:
		return nil, hint.Errorf("say user, project, or postgres://…", "lessons cannot be kept in %q", where)
	case root == "":
		return nil, hint.Errorf("go to the project", "there is no repository here that could have lessons")
	}
	files.Into = lesson.InTree(root)
	return files, nil
}

// ByMeaning wraps a store so that lessons are found by meaning, if the configuration names an
// endpoint.
func ByMeaning(s lesson.Store, h *host.Host, is config.Lessons, tell func(error)) lesson.Store {
	if is.EmbeddingsURL == "" {
		return s
	}
	e := embedding.Endpoint{URL: is.EmbeddingsURL, Model: is.EmbeddingsModel}
	if is.EmbeddingsKeyEnv != "" {
		e.Key = h.Getenv(is.EmbeddingsKeyEnv)
	}
	return &embedding.Store{Store: s, Endpoint: e, Cache: h.Cache("lessons"), Tell: tell}
}

// ProjectOf identifies a project by its origin, or else by its directory: lessons of one project
// are not told in another.
func ProjectOf(r *git.Repository) string {
	origin := ""
	if settings, err := r.Config(); err == nil {
		origin, _ = settings.String("remote.origin.url")
	}
	if u, err := url.Parse(origin); err == nil && u.Host != "" {
		return strings.TrimSuffix(path.Join(u.Hostname(), u.Path), ".git") // without user and password
	}
	// As in git@example.com:a/b.git, which is not a URL.
	if at, name, ok := strings.Cut(origin, ":"); ok && !strings.ContainsAny(at, `/\`) && len(at) > 1 {
		return strings.TrimSuffix(path.Join(at[strings.LastIndex(at, "@")+1:], name), ".git")
	}
	return strings.TrimSuffix(r.Family, string(filepath.Separator)+".git")
}

// memory implements [strategy.Lessons] for a run. No store keeps a run from going on: problems
// are logged.
type memory struct {
	plan *Plan
	told []string // the IDs of the lessons that the run follows
}

var _ strategy.Lessons = &memory{}

// patience is how long a store may take to answer.
const patience = 15 * time.Second

// ask asks the store that is configured now; the one in a log may belong to somebody else.
func (m *memory) ask(ctx context.Context, about func(ctx context.Context, s lesson.Store, project string) error) (remarks string, err error) {
	p, b := m.plan, strings.Builder{}
	remark := func(err error) { fmt.Fprintf(&b, "! %s\n", wording.Line(err.Error())) }
	where, project := p.Config.Strategy.Values().Set["lessons"].(string), ""
	if where == strategy.LessonsOff {
		return "! the configuration keeps no lessons now\n", nil
	}
	if r, err := git.Open(p.Dir, p.options.Host.Environ); err == nil {
		project = ProjectOf(r)
	}
	both := where == LessonsOfProject // a run writes to the user's lessons, and reads the project's as well
	if both {
		where = LessonsOfUser
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	store, err := LessonsIn(within, p.options.Host, p.Root(), where, remark)
	if err == nil {
		defer store.Close() //nolint:errcheck // each change was whole
		if files, ok := store.(*lesson.Files); ok && both {
			files.Also = []lesson.Place{lesson.InTree(p.Root())}
		}
		err = about(within, ByMeaning(store, p.options.Host, p.Config.Lessons, remark), project)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	default:
		remark(err)
	}
	return b.String(), nil
}

// Recall implements [strategy.Lessons].
func (m *memory) Recall(ctx context.Context, task string, most int, block bool) (string, error) {
	var b strings.Builder
	remarks, err := m.ask(ctx, func(ctx context.Context, s lesson.Store, project string) error {
		found, err := s.Recall(ctx, lesson.Query{Task: m.plan.options.Host.Secrets.String(task), Project: project, Most: most, Block: block})
		for _, l := range found {
			// There may be other secrets today than when it was kept.
			if clean, err := l.Clean(m.plan.options.Host.Secrets.String); err == nil {
				fmt.Fprintf(&b, "%s %s\n", l.ID(), clean.Text)
			}
		}
		return err
	})
	return strings.TrimSpace(remarks + b.String()), err
}

// Told implements [strategy.Lessons].
func (m *memory) Told(ids []string) { m.told = ids }

// Keep implements [strategy.Lessons].
func (m *memory) Keep(ctx context.Context, task, sentence string, attempt int) (string, error) {
	id, h := "", m.plan.options.Host
	remarks, err := m.ask(ctx, func(ctx context.Context, s lesson.Store, project string) error {
		l, err := lesson.Lesson{
			Task: task, Text: sentence, Project: project, Session: m.plan.ID(), Attempt: attempt, At: h.Now().UTC().Truncate(time.Second),
		}.Clean(h.Secrets.String)
		if err == nil {
			_, err = s.Add(ctx, l)
		}
		if err == nil {
			id = l.ID()
		}
		return err
	})
	return strings.TrimSpace(remarks + id), err
}

// ended tells the lessons of the run how it ended. An end caused by others, such as Ctrl+C, says
// nothing about them.
func (m *memory) ended(ctx context.Context, out loop.Outcome) {
	done := out.Result == loop.Success
	if len(m.told) == 0 || !done && out.Result != loop.MaxIterations && out.Result != loop.BudgetExhausted && out.Reason != loop.StopStuck {
		return
	}
	remarks, _ := m.ask(context.WithoutCancel(ctx), func(ctx context.Context, s lesson.Store, _ string) error {
		return s.Used(ctx, m.plan.ID(), m.told, done)
	})
	if remarks != "" {
		m.plan.options.Tell("lessons: " + strings.TrimSpace(strings.TrimPrefix(remarks, "! ")))
	}
}
