package config

import (
	"errors"

	"codeloops/internal/role/prompt"
)

// templates are the keys on what the agents are asked, which stand at the top
// level. Who could set them could talk the critic into anything: they need trust,
// and as they are in the file itself, that covers every word of them.
func templates() schema {
	return schema{
		{key: "critique_template", value: text(asTemplate(prompt.ForCritique)), byDefault: "", guarded: true, loosens: differs},
		{key: "refine_template", value: text(asTemplate(prompt.ForRefinement)), byDefault: "", guarded: true},
	}
}

func asTemplate(read func(string) (prompt.Template, error)) func(string) *fault {
	return func(s string) *fault {
		_, err := read(s)
		if bad, ok := errors.AsType[*prompt.Error](err); ok {
			return &fault{problem: bad.Problem, hint: bad.Hint, line: bad.Line}
		}
		return nil
	}
}
