package config

import (
	"errors"

	"codeloops/internal/role/prompt"
)

// templates are the top-level keys for the agents' prompts. They need trust, because a
// prompt can talk the critic into anything. Their whole text is in the file, so trust in
// the file covers it.
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
