package config

import (
	"errors"

	"codeloops/internal/template"
)

// templates are the keys on what the agents are asked, which stand at the top
// level. Who could set them could talk the critic into anything: they need trust,
// and as they stand in the file itself, that covers every word of them.
func templates() schema {
	return schema{
		{
			key: "critique_template", value: text(asTemplate(template.ForCritique)), byDefault: "", guarded: true,
			doc: "What the critic is asked, in place of codeloops' own words on how to judge. It\nhas to hold {prompt} and {diff}; docs/templates.md tells what else it may. In a\nproject file it needs trust.",
		}, {
			key: "refine_template", value: text(asTemplate(template.ForRefinement)), byDefault: "", guarded: true,
			doc: "What the actor is asked from the second iteration on. It has to hold {prompt},\nand {critique} or {issues_bulleted}. In a project file it needs trust.",
		},
	}
}

func asTemplate(read func(string) (template.Template, error)) func(string) *fault {
	return func(s string) *fault {
		_, err := read(s)
		if bad, ok := errors.AsType[*template.Error](err); ok {
			return &fault{problem: bad.Problem, hint: bad.Hint, line: bad.Line}
		}
		return nil
	}
}
