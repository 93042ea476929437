package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/config"
	"codeloops/internal/diff"
	"codeloops/internal/diff/difftest"
	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/policy/deciding"
	"codeloops/internal/policy/tamper"
	"codeloops/internal/run/worktree"
)

// A breaking is a setting that enables a rule, and a case that the rule decides.
type breaking struct {
	set    func(*config.Config)
	files  map[string][2]string // path → content before and after
	edit   func(*loop.Case)
	review loop.Review
}

// breakings holds one for every rule of a gate.
func breakings() map[string]breaking {
	done := loop.Review{Verdict: loop.Verdict{Decision: loop.Done, Rating: loop.Rating{Score: new(0.5)}}}
	more := loop.Review{Verdict: loop.Verdict{Decision: loop.Continue, Feedback: "Add the missing test of the parser, please."}}
	late := loop.Review{Verdict: loop.Verdict{
		Decision: loop.Continue, Feedback: "other.go:3 is wrong", Answers: []loop.Answer{{ID: "F1", State: loop.FindingClosed}},
	}}
	long := strings.Repeat("one line of the old text\n", 20)
	lines := map[string][2]string{"a.txt": {"", long}}
	second := func(c *loop.Case) {
		c.Iteration = 2
		before := loop.FileChange{Path: "a.txt", Status: loop.FileAdded, NewMode: 0o100644, NewSize: int64(len(long))}
		c.History = []loop.Round{{Iteration: 1, Change: loop.Change{State: "1", Files: []loop.FileChange{before}}, Ruling: loop.Ruling{Verdict: more.Verdict}}}
	}
	return map[string]breaking{
		"audit":               {files: lines},
		"allow_paths":         {set: func(c *config.Config) { c.Policy.AllowPaths = []string{"src/**"} }, files: lines},
		"deny_paths":          {set: func(c *config.Config) { c.Policy.DenyPaths = []string{"*.txt"} }, files: lines},
		"deny_phrases":        {set: func(c *config.Config) { c.Policy.DenyPhrases = []string{"OLD text"} }, files: lines},
		"max_files":           {set: func(c *config.Config) { c.Policy.MaxFiles = 1 }, files: map[string][2]string{"a": {"", "a\n"}, "b": {"", "b\n"}}},
		"max_lines":           {set: func(c *config.Config) { c.Policy.MaxLines = 19 }, files: lines},
		"max_bytes":           {set: func(c *config.Config) { c.Policy.MaxBytes = 100 }, files: lines},
		"no_new_dependencies": {set: func(c *config.Config) { c.Policy.NoNewDependencies = true }, files: map[string][2]string{"go.mod": {"module m\n", "module m\n\nrequire example.com/x v1.0.0\n"}}},
		"tamper":              {set: func(c *config.Config) { c.Policy.Tamper = "block" }, files: map[string][2]string{"a_test.go": {"package a\n\nfunc TestA(t *testing.T) { t.Fatal(1) }\n", "package a\n"}}},
		"deciding":            {set: func(c *config.Config) { c.Profile = "strict" }},
		"required_changes": {
			set: func(c *config.Config) { c.Policy.Critique = "structured" }, files: lines,
			edit: func(c *loop.Case) {
				second(c)
				c.History[0].Verdict.RequiredChanges = []string{`ADD "what nobody has written"`}
			},
		},
		"approval_threshold": {set: func(c *config.Config) { c.ApprovalThreshold = 0.9 }, review: done},
		"checks":             {edit: func(c *loop.Case) { c.Checks = []loop.CheckResult{{Command: "make", Ending: loop.EndFailed}} }, review: done},
		"require_change":     {set: func(c *config.Config) { c.RequireChange = true }, review: done},
		"open_findings": {set: func(c *config.Config) { c.Policy.OpenFindings = "refuse" }, review: done, edit: func(c *loop.Case) {
			second(c)
			c.History[0].Review.Verdict = more.Verdict
			c.History[0].Findings = []loop.Finding{{ID: "F1", Text: more.Verdict.Feedback, State: loop.FindingNew, Since: 1}}
		}},
		"late_findings": {files: lines, review: late, edit: func(c *loop.Case) {
			second(c)
			c.History = append(c.History, loop.Round{Iteration: 2, Change: loop.Change{State: "2"}, Ruling: loop.Ruling{Verdict: more.Verdict, Findings: []loop.Finding{
				{ID: "F1", Text: more.Verdict.Feedback, State: loop.FindingClosed, Since: 1},
				{ID: "F2", Text: "other.go:2 is wrong", State: loop.FindingNew, Since: 2, Late: true},
			}}})
			c.Iteration, c.Delta = 3, loop.Change{}
		}},
		"auto_revise": {set: func(c *config.Config) { c.Policy.AutoRevise = false }, review: more},
		"convergence": {review: more, edit: func(c *loop.Case) {
			for n := range 5 {
				c.History = append(c.History, loop.Round{Iteration: n + 1, Change: loop.Change{State: "1"}, Ruling: loop.Ruling{Verdict: more.Verdict, Warnings: []string{"it does not get on"}}})
			}
			c.Iteration, c.Change.State = 6, "1"
		}},
	}
}

// TestSigns: policy.block takes the signs of tampering, all of them unless it is set.
func TestSigns(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, k := range tamper.Kinds() {
		all = append(all, string(k))
	}
	if !slices.Equal(cfg.Policy.Block, all) {
		t.Errorf("policy.block is %q, and the signs are %q", cfg.Policy.Block, all)
	}
}

// rule returns all that a gate says about a case.
func rule(g policy.Gate, b breaking) (found loop.Inspection, so loop.Ruling) {
	c := loop.Case{Iteration: 1}
	before, after := map[string]difftest.File{}, map[string]difftest.File{}
	for path, text := range b.files {
		for i, files := range []map[string]difftest.File{before, after} {
			if text[i] != "" {
				files[path] = difftest.File{Mode: 0o100644, Content: text[i]}
			}
		}
	}
	c.Change = difftest.Change(before, after)
	c.Change.State = "after"
	c.Delta = c.Change
	if b.edit != nil {
		b.edit(&c)
	}
	found, ruling := g.Inspect(c)
	if ruling != nil {
		return found, *ruling
	}
	return found, g.Rule(c, b.review)
}

// without returns a gate without one rule, by its index among the inspectors and then the rulers.
func without(g policy.Gate, i int) policy.Gate {
	if n := len(g.Inspectors); i < n {
		g.Inspectors = slices.Delete(slices.Clone(g.Inspectors), i, i+1)
	} else {
		g.Rulers = slices.Delete(slices.Clone(g.Rulers), i-n, i-n+1)
	}
	return g
}

// TestEveryRuleMatters disables each rule of the gate and checks that a case ends differently. A
// rule without a case fails the test.
func TestEveryRuleMatters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("written\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, err := diff.Open(t.Context(), dir, diff.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	gateOf := func(set func(*config.Config)) policy.Gate {
		cfg, err := config.Load(config.Options{Home: dir, WorkingDir: dir, RepositoryRoot: dir})
		if err != nil {
			t.Fatal(err)
		}
		if set != nil {
			set(cfg)
		}
		other := loop.Decider{Path: "a.txt", Role: deciding.Critic, SHA256: "of another content"}
		known := &deciders{tree: deciding.Tree{Root: dir, Dir: dir}, files: []loop.Decider{other}}
		return gate(cfg, &worktree.Tree{Tree: tree}, tamper.Standard(), known, false)
	}
	cases := breakings()
	var names []string
	all := gateOf(nil)
	for _, i := range all.Inspectors {
		names = append(names, i.Name)
	}
	names = append(names, policy.RuleApproval, policy.RuleLate, policy.RuleChecks, policy.RuleChange, policy.RuleFindings, policy.RuleAutoRevise, policy.RuleConvergence)
	if len(names) != len(all.Inspectors)+len(all.Rulers) {
		t.Fatalf("%d rules on verdicts, and not all have a name here: %q", len(all.Rulers), names)
	}
	for i, name := range names {
		b, ok := cases[name]
		if !ok {
			t.Errorf("the rule %s has no case", name)
			continue
		}
		whole := gateOf(b.set)
		found, so := rule(whole, b)
		if name != "audit" && so.Rule != name {
			t.Errorf("%s: the rule %q decides: %s", name, so.Rule, so.Why)
		}
		if f, s := rule(without(whole, i), b); reflect.DeepEqual(f, found) && reflect.DeepEqual(s, so) {
			t.Errorf("%s: the case ends the same without the rule", name)
		}
	}
	if len(cases) != len(names) {
		t.Errorf("%d cases for %d rules", len(cases), len(names))
	}
	documented(t, names)
}

// documented checks that the pages name exactly these rules.
func documented(t *testing.T, rules []string) {
	t.Helper()
	var text strings.Builder
	for _, page := range []string{"policy.md", "limits.md"} {
		content, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		own, _, _ := strings.Cut(string(content), "\n## A structured critique\n")
		text.WriteString(own)
	}
	for _, name := range rules {
		if name != "audit" && !strings.Contains(text.String(), "\n| `"+name+"` |") {
			t.Errorf("docs/policy.md has no row for %s", name)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(text.String(), -1) {
		if !slices.Contains(rules, m[1]) {
			t.Errorf("the pages name %s, which is not a rule", m[1])
		}
	}
}
