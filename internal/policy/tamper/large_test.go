package tamper_test

import (
	"fmt"
	"strings"
	"testing"

	"codeloops/internal/policy/tamper"
)

// TestManyMove: moving hundreds of test files takes no longer than reading them.
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
		if got := told(tamper.Inspect(change(before, after), tamper.Tree{})); got != "" {
			t.Errorf("%.300s", got)
		}
	}
}

// TestHuge: absurdly large files are read in linear time. In quadratic time this test would take hours.
func TestHuge(t *testing.T) {
	t.Parallel()
	n := 5_000
	if testing.Short() {
		n = 1_000
	}
	repeated := func(line string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, i)
		}
		return b.String()
	}
	for name, c := range map[string][2]string{
		"package.json":  {"{}\n", strings.Repeat("{\"a\": [", n) + "\n"},
		"test_a.py":     {"def test_a():\n" + repeated("    assert f() == a%d\n"), "def test_a():\n" + repeated("    assert f() == b%d\n")},
		"test_b.py":     {repeated("x = %d  # noqa\n"), repeated("y = f(%d)  # noqa\n")},
		"c_test.go":     {repeated("func TestA%d(t *testing.T) {\n\tt.Fatal(1)\n}\n"), repeated("func TestB%d(t *testing.T) {\n\tt.Fatal(2)\n}\n")},
		"d.test.js":     {repeated("test('a%d', () => {\n"), repeated("test('b%d', () => {\n")},
		"Makefile":      {"test:\n", repeated("test: a%d\n")},
		"e_test.go":     {"package e\n", "package e\n" + strings.Repeat("=<>!", n) + "\n"},
		"src/f.spec.ts": {"x\n", "expect(" + strings.Repeat("(", n) + "\n" + repeated("expect((%d\n")},
	} {
		before, after := map[string]string{name: c[0]}, map[string]string{name: c[1]}
		if got := tamper.Inspect(change(before, after), tamper.Tree{Read: memory(after).Read}); len(got) > 3*n {
			t.Errorf("%s: %d signs", name, len(got))
		}
	}
}
