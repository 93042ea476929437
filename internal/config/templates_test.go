package config

import (
	"os"
	"strings"
	"testing"
)

// TestTemplatePage: the example on the page on templates works if it is copied.
func TestTemplatePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	var example strings.Builder
	for line := range strings.Lines(string(page)) {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			example.WriteString(code)
		} else if line == "\n" {
			example.WriteString(line)
		}
	}
	p := newPlace(t)
	p.global(example.String())
	c := mustLoad(t, p.options())
	if !strings.HasPrefix(c.CritiqueTemplate, "You review") || !strings.Contains(c.RefineTemplate, "{issues_bulleted}") {
		t.Errorf("got %q and %q", c.CritiqueTemplate, c.RefineTemplate)
	}
	if got := entry(t, c, "critique_template").Value; got != c.CritiqueTemplate {
		t.Errorf("shown as %q", got)
	}
}

// TestTemplateVariable: an error in a template names the line of the variable.
func TestTemplateVariable(t *testing.T) {
	t.Parallel()
	_, err := Load(newPlace(t).options("CODELOOPS_REFINE_TEMPLATE=a\n{prompt}\n{}"))
	const want = "CODELOOPS_REFINE_TEMPLATE holds a single { in its line 3"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
