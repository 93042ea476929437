package ui

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"codeloops/internal/project"
)

// A projectRow is a project with how its runs have gone.
type projectRow struct {
	project.Project

	Query, Done, First, Cost string
	Health                   string // a class: of every ten that ended, seven were done, four, or fewer
	At                       time.Time
}

type projectsPage struct {
	Rows     []projectRow
	Older    int // sessions that are not read yet
	ReadOnly bool
}

// projects lists the projects, the default first.
func (s *Server) projects(ctx context.Context) ([]project.Project, error) {
	all, _, err := s.home.look(ctx)
	if err != nil {
		return nil, err
	}
	b, err := project.Read(project.File(s.Logs.Host))
	return b.List(all), err
}

func (s *Server) projectsPage(w http.ResponseWriter, q *http.Request) {
	all, err := s.projects(q.Context())
	if err != nil {
		s.refuse(w, http.StatusInternalServerError, s.told(err))
		return
	}
	p := projectsPage{Older: s.home.unread(), ReadOnly: s.ReadOnly}
	for _, one := range all {
		r := projectRow{Project: one, Query: s.clean(base(one.Dir)), Done: percent(one.SuccessRate), First: percent(one.FirstTry), At: one.Last}
		if one.CostUSD != nil {
			r.Cost = fmt.Sprintf("$%.2f", *one.CostUSD)
		}
		if rate := one.SuccessRate; rate != nil {
			const well, fair = 0.7, 0.4
			switch {
			case *rate >= well:
				r.Health = "good"
			case *rate >= fair:
				r.Health = "warn"
			default:
				r.Health = "bad"
			}
		}
		r.Name, r.Dir = s.clean(r.Name), s.clean(r.Dir)
		p.Rows = append(p.Rows, r)
	}
	s.show(w, "projects", p)
}
