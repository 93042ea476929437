package limits

import (
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/policy/deciding"
)

type changes = []deciding.ChangedFile

func changed(path, role, fate string) deciding.ChangedFile {
	return deciding.ChangedFile{Decider: loop.Decider{Path: path, Role: role}, Fate: fate}
}

func TestDeciding(t *testing.T) {
	t.Parallel()
	judge := changed("tools/judge.sh", deciding.Critic, "changed")
	seen := changed("AGENTS.md", deciding.Agents, "changed")
	for name, c := range map[string]struct {
		files  changes
		strict bool
		task   string
		told   string // in the one concern; "": none
		barred string // in the feedback; "": the rule is not broken
	}{
		"nothing":                {},
		"told":                   {files: changes{judge}, told: "tools/judge.sh: the critic is started from it, and it was changed"},
		"refused":                {files: changes{judge}, strict: true, told: "tools/judge.sh", barred: "- tools/judge.sh: the critic is started"},
		"asked for":              {files: changes{judge}, strict: true, task: "Make (`./tools/judge.sh`) faster.", told: "tools/judge.sh"},
		"asked for by name":      {files: changes{judge}, strict: true, task: "judge.sh: make it faster", told: "tools/judge.sh"},
		"another is asked for":   {files: changes{judge}, strict: true, task: "Make other-judge.sh faster, as a judge would.", told: "tools/judge.sh", barred: "- tools/judge.sh"},
		"a plain word":           {files: changes{changed("tools/check", deciding.Check, "changed")}, strict: true, task: "check it", told: "a check runs it", barred: "- tools/check"},
		"a plain word's path":    {files: changes{changed("tools/check", deciding.Check, "changed")}, strict: true, task: "mend tools/check!", told: "a check runs it"},
		"a Makefile":             {files: changes{changed("Makefile", deciding.Check, "changed")}, strict: true, task: "Add it to the Makefile.", told: "a check runs it"},
		"in the diff":            {files: changes{seen}},
		"in the diff, and wrong": {files: changes{seen}, strict: true, told: "AGENTS.md: agents read it", barred: "- AGENTS.md"},
		"in no diff":             {files: changes{changed(".claude/settings.json", deciding.Agents, "added")}, told: "and it was added"},
		"new":                    {files: changes{changed("new.sh", deciding.Check, "added")}, strict: true, told: "new.sh: a check runs it, and it was added"},
		"new in PATH":            {files: changes{changed("bin/make", deciding.Program, "added")}, strict: true, told: "bin/make: a check runs it", barred: "- bin/make"},
		"a check in the diff":    {files: changes{changed("AGENTS.md", deciding.Check, "changed")}},
		"rules":                  {files: changes{changed("codeloops.toml", deciding.Rules, "removed")}, told: "it holds rules, and was removed: this session keeps those that it began with"},
		"an odd name":            {files: changes{changed("a\nb", deciding.Check, "added")}, told: `"a\nb": a check runs it`},
	} {
		var found loop.Inspection
		b := Deciding{Changed: func() changes { return c.files }, Block: c.strict}.Inspect(loop.Case{Task: c.task, Change: loop.Change{Files: []loop.FileChange{{Path: "AGENTS.md"}}}}, &found)
		told, barred := "", ""
		if len(found.Concerns) > 0 {
			told = found.Concerns[0].Summary(1000)
		}
		if b != nil {
			if barred = b.Feedback; !b.Back {
				t.Errorf("%s: the breach ends the run", name)
			}
		}
		if !strings.Contains(told, c.told) || (told == "") != (c.told == "") || !strings.Contains(barred, c.barred) || (barred == "") != (c.barred == "") {
			t.Errorf("%s: told %q\nfeedback %q", name, told, barred)
		}
	}
	if b := (Deciding{Block: true}).Inspect(loop.Case{}, &loop.Inspection{}); b != nil {
		t.Error("without files:", b)
	}
}
