package prompt_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/prompt"
)

func TestForCritique(t *testing.T) {
	t.Parallel()
	got, err := prompt.ForCritique("a\n{prompt}{diff} {{x}} {{{output}}}\n")
	want := prompt.Template{
		{Text: "a\n"},
		{Place: prompt.Prompt},
		{Place: prompt.Diff},
		{Text: " {x} {"},
		{Place: prompt.Output},
		{Text: "}\n"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := prompt.ForCritique(""); err != nil || got != nil {
		t.Errorf("an empty template: got %q, %v", got, err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	const all = "valid here: {prompt}, {output}, {diff}, {critique}, {issues_bulleted}; write {{ for a brace"
	open, shut := "write {{ for a literal {", "write }} for a literal }"
	for text, want := range map[string]prompt.Error{
		"{prompt}\n{dif}":                   {Line: 2, Problem: "holds the unknown placeholder {dif}", Hint: `did you mean "{diff}"?`},
		"{Prompt}":                          {Line: 1, Problem: "holds the unknown placeholder {Prompt}", Hint: `did you mean "{prompt}"?`},
		"\n\n{ prompt }":                    {Line: 3, Problem: "holds the unknown placeholder { prompt }", Hint: `did you mean "{prompt}"?`},
		"{issues}":                          {Line: 1, Problem: "holds the unknown placeholder {issues}", Hint: all},
		"{prompt} {diff} {x}":               {Line: 1, Problem: "holds the unknown placeholder {x}", Hint: all},
		"{prompt}\r\n{diff}\r\n{diff}":      {Line: 3, Problem: "holds {diff} twice", Hint: "keep one of the two"},
		"{prompt}\n{\"a\": 1}":              {Line: 2, Problem: "holds a single {", Hint: open},
		"{prompt\n}":                        {Line: 1, Problem: "holds a single {", Hint: open},
		"{}":                                {Line: 1, Problem: "holds a single {", Hint: open},
		"{ }":                               {Line: 1, Problem: "holds a single {", Hint: open},
		"a {":                               {Line: 1, Problem: "holds a single {", Hint: open},
		"{prompt {diff}}":                   {Line: 1, Problem: "holds a single {", Hint: open},
		"{" + strings.Repeat("x", 41) + "}": {Line: 1, Problem: "holds a single {", Hint: open},
		"{prompt} {diff} }":                 {Line: 1, Problem: "holds a single }", Hint: shut},
		"{{prompt}}":                        {Problem: "lacks {prompt}", Hint: "the critic needs to see it: add it where it should appear"},
		" ":                                 {Problem: "lacks {prompt}", Hint: "the critic needs to see it: add it where it should appear"},
		"{prompt} {output}":                 {Problem: "lacks {diff}", Hint: "the critic needs to see it: add it where it should appear"},
	} {
		_, err := prompt.ForCritique(text)
		if got, ok := errors.AsType[*prompt.Error](err); !ok || *got != want {
			t.Errorf("%q: got %+v", text, got)
		}
	}
	for text, want := range map[string]string{
		"{critique}":                 "lacks {prompt}",
		"{prompt}":                   "lacks {critique} or {issues_bulleted}",
		"{prompt} {critique}":        "",
		"{issues_bulleted} {prompt}": "",
	} {
		_, err := prompt.ForRefinement(text)
		if got, ok := errors.AsType[*prompt.Error](err); ok != (want != "") || ok && (got.Problem != want || got.Error() != want) {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestBulleted(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]loop.Verdict{
		"":                         {Decision: loop.Continue},
		"- no test\n":              {Decision: loop.Continue, Feedback: " no test\n"},
		"- one\n  b\n- two\n":      {Decision: loop.Continue, Feedback: "- one\n  b\n- two"},
		"- ADD \"x\"\n- no\n  b\n": {Decision: loop.Continue, Feedback: "not said", Issues: []string{"no\nb", " "}, RequiredChanges: []string{"ADD \"x\""}},
		"- go back\n- it broke\n":  {Decision: loop.Error, Recovery: "go back", Issues: []string{"it \x1b[1mbroke"}},
	} {
		if got := prompt.Bulleted(v); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// FuzzRead: a template that was read can be written back as it was; no placeholder occurs twice; and an error
// names a line that exists.
func FuzzRead(f *testing.F) {
	f.Add("{prompt}\n{diff} {{x}} {{{output}}}")
	f.Add("{prompt} {critique}{issues_bulleted}")
	f.Add("{promt}\r\n}")
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func(string) (prompt.Template, error){prompt.ForCritique, prompt.ForRefinement} {
			got, err := read(text)
			if bad, ok := errors.AsType[*prompt.Error](err); err != nil {
				if !ok || bad.Problem == "" || bad.Hint == "" || bad.Line < 0 || bad.Line > 1+strings.Count(text, "\n") {
					t.Errorf("error %+v", err)
				}
				continue
			}
			again := written(t, got)
			if back, err := read(again); again != text || err != nil || !reflect.DeepEqual(back, got) {
				t.Errorf("%q was read as %q and written as %q", text, got, again)
			}
		}
	})
}

// written returns the text of a template.
func written(t *testing.T, asked prompt.Template) string {
	t.Helper()
	var b strings.Builder
	seen := map[prompt.Place]bool{}
	for _, piece := range asked {
		if piece.Place == "" {
			b.WriteString(strings.NewReplacer("{", "{{", "}", "}}").Replace(piece.Text))
			continue
		}
		if seen[piece.Place] || !asked.Holds(piece.Place) || piece.Text != "" {
			t.Errorf("unexpected piece %+v", piece)
		}
		seen[piece.Place] = true
		b.WriteString("{" + string(piece.Place) + "}")
	}
	return b.String()
}
