package session

import "codeloops/internal/loop"

// inspection is what the run's rules found in the work.
func inspection(f fields, i *loop.Inspection) {
	list(f, "concerns,omitempty", &i.Concerns, func(f fields, c *loop.Concern) {
		f.text("rule", &c.Rule)
		f.text("kind,omitempty", &c.Kind)
		f.text("text", &c.Text)
		list(f, "places,omitempty", &c.Places, func(f fields, p *loop.Place) {
			f.text("at", &p.At)
			f.text("what,omitempty", &p.What)
		})
	})
	audit(f, &i.Audit)
}

// audit is the figures of an iteration's own change. Logs without them have no states either.
func audit(f fields, a *loop.Audit) {
	f.object("audit,omitempty", a.After != "", func(f fields) {
		f.text("before", &a.Before)
		f.text("after", &a.After)
		f.value("files", &a.Files)
		f.value("insertions", &a.Insertions)
		f.value("deletions", &a.Deletions)
		f.value("bytes", &a.Bytes)
		fraction(f, "growth,null", &a.Growth)
		fraction(f, "similarity,null", &a.Similarity)
		f.text("excerpt", &a.Excerpt)
		list(f, "required,omitempty", &a.Required, func(f fields, r *loop.Requirement) {
			f.text("text", &r.Text)
			f.value("enforced", &r.Enforced)
		})
	})
}

// ruling is what a ruling holds besides the verdict.
func ruling(f fields, r *loop.Ruling) {
	f.text("rule,omitempty", &r.Rule)
	word(f, "rule_stop,omitempty", &r.Stop)
	f.text("rule_reason,omitempty", &r.Why)
	list(f, "findings,omitempty", &r.Findings, finding)
	f.texts("agent_warnings,omitempty", &r.Warnings)
}

func finding(f fields, x *loop.Finding) {
	f.text("id", &x.ID)
	f.text("text", &x.Text)
	word(f, "state", &x.State)
	f.value("since", &x.Since)
	f.text("check,omitempty", &x.Check)
	f.value("may,omitempty", &x.May)
	f.value("late,omitempty", &x.Late)
}
