package tamper_test

import (
	"fmt"
	"testing"

	"codeloops/internal/tamper"
)

// TestManyMove moves some hundred files with tests, which costs no more than
// reading them.
func TestManyMove(t *testing.T) {
	t.Parallel()
	for _, form := range []struct{ before, after, content string }{
		{"old/a%d_test.go", "new/a%d_test.go", "package a\n\nfunc TestA%d(t *testing.T) {\n\tif A() != 1 {\n\t\tt.Fatal(1)\n\t}\n}\n"},
		{"spec/a%d_spec.rb", "specs/unit/a%d_spec.rb", "it \"works %d\" do\n  expect(1).to eq(1)\nend\n"},
	} {
		before, after := map[string]string{}, map[string]string{}
		for i := range 600 {
			before[fmt.Sprintf(form.before, i)] = fmt.Sprintf(form.content, i)
			after[fmt.Sprintf(form.after, i)] = fmt.Sprintf(form.content, i)
		}
		if got := told(tamper.New().Inspect(change(before, after))); got != "" {
			t.Errorf("%.300s", got)
		}
	}
}
