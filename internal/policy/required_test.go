package policy_test

import (
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

// files are a work tree in memory.
type files map[string]string

func (f files) Read(path string) ([]byte, error) {
	text, ok := f[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func changed(status loop.FileStatus, paths ...string) loop.Change {
	c := loop.Change{State: "after"}
	for _, p := range paths {
		c.Files = append(c.Files, loop.FileChange{Path: p, Status: status, NewMode: 0o100644})
	}
	return c
}

const add, remove = `MUST_INCLUDE "within an hour"`, `MUST_REMOVE "in 45 minutes"`

func asking(changes ...string) []loop.Round {
	return []loop.Round{judged(loop.Verdict{Decision: loop.Continue, Feedback: "too sure", RequiredChanges: changes})}
}

func TestRequired(t *testing.T) {
	t.Parallel()
	binary := changed(loop.FileModified, "a.txt", "b.bin")
	binary.Files[1].Binary = true
	link := changed(loop.FileAdded, "a.txt", "link")
	link.Files[1].NewMode = 0o120000
	for name, c := range map[string]struct {
		files   files
		change  loop.Change
		history []loop.Round
		off     bool
		kept    []bool // whether each required change was made; nil: none is required
	}{
		"nothing required":     {files{}, changed(loop.FileModified, "a.txt"), asking(), false, nil},
		"no verdict yet":       {files{}, changed(loop.FileModified, "a.txt"), nil, false, nil},
		"off":                  {files{"a.txt": ""}, changed(loop.FileModified, "a.txt"), asking(add), true, nil},
		"made":                 {files{"a.txt": "It ends\nwithin  an hour."}, changed(loop.FileModified, "a.txt"), asking(add, remove), false, []bool{true, true}},
		"not made":             {files{"a.txt": "It ends In 45 Minutes!"}, changed(loop.FileModified, "a.txt"), asking(add, remove), false, []bool{false, false}},
		"made in half":         {files{"a.txt": "It ends."}, changed(loop.FileModified, "a.txt"), asking(add, remove), false, []bool{false, true}},
		"in another file":      {files{"a.txt": "within an hour", "b.txt": "in 45 minutes"}, changed(loop.FileAdded, "a.txt", "b.txt"), asking(add, remove), false, []bool{true, false}},
		"not in changed files": {files{"a.txt": "", "b.txt": "within an hour, in 45 minutes"}, changed(loop.FileAdded, "a.txt"), asking(add, remove), false, []bool{false, true}},
		"deleted":              {files{}, changed(loop.FileDeleted, "a.txt"), asking(add, remove), false, []bool{false, true}},
		"no change at all":     {files{}, loop.Change{}, asking(add, remove), false, []bool{false, true}},
		"binary files":         {files{"a.txt": "within an hour", "b.bin": "in 45 minutes"}, binary, asking(add, remove), false, []bool{true, true}},
		"links":                {files{"a.txt": "within an hour", "link": "in 45 minutes"}, link, asking(add, remove), false, []bool{true, true}},
		"what cannot be read":  {files{"a.txt": "within an hour"}, changed(loop.FileAdded, "a.txt", "gone.txt"), asking(add, remove), false, []bool{true, false}},
		"sent back in between": {files{"a.txt": ""}, changed(loop.FileAdded, "a.txt"), append(asking(add), back("max_files")), false, []bool{false}},
		"under other rules":    {files{"a.txt": ""}, changed(loop.FileAdded, "a.txt"), asking("make it nicer"), false, nil},
		"the same one twice":   {files{"a.txt": ""}, changed(loop.FileAdded, "a.txt"), asking(add, `ADD "Within an hour."`), false, []bool{false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := policy.Gate{Inspectors: []policy.Named{{Name: policy.RuleRequired, Inspector: policy.Required{On: !c.off, Read: c.files.Read}}}}
			found, ruling := gate.Inspect(loop.Case{Change: c.change, History: c.history})
			var kept []bool
			missing := false
			for _, r := range found.Audit.Required {
				kept = append(kept, r.Enforced)
				missing = missing || !r.Enforced
			}
			if !reflect.DeepEqual(kept, c.kept) || (ruling != nil) != missing {
				t.Fatalf("kept %v, ruled %+v", kept, ruling)
			}
			if ruling == nil {
				return
			}
			if ruling.Rule != policy.RuleRequired || ruling.Verdict.Decision != loop.Continue || ruling.Stop != loop.StopNone {
				t.Errorf("ruled %+v", ruling)
			}
			for _, r := range found.Audit.Required {
				if !strings.Contains(ruling.Verdict.Feedback, "- "+r.Text+"\n") {
					t.Errorf("the feedback does not mention %s: %s", r.Text, ruling.Verdict.Feedback)
				}
				if !r.Enforced && !strings.Contains(ruling.Why, r.Text) {
					t.Errorf("the reason does not mention %s: %s", r.Text, ruling.Why)
				}
			}
		})
	}
}

// The actor is asked three times; then the run ends.
func TestRequiredTries(t *testing.T) {
	t.Parallel()
	one := changed(loop.FileModified, "a.txt")
	for name, c := range map[string]struct {
		history []loop.Round
		stop    loop.StopReason
	}{
		"the first try": {asking(add), ""},
		"the second":    {append(asking(add), back(policy.RuleRequired)), ""},
		"the third":     {append(asking(add), back(policy.RuleRequired), back(policy.RuleRequired)), "policy_violation:required_changes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := policy.Gate{Inspectors: []policy.Named{{Name: policy.RuleRequired, Inspector: policy.Required{On: true, Read: files{"a.txt": ""}.Read}}}}
			_, ruling := gate.Inspect(loop.Case{Change: one, History: c.history})
			if ruling == nil || ruling.Rule != policy.RuleRequired || ruling.Stop != c.stop {
				t.Fatalf("ruled %+v", ruling)
			}
			if c.stop == "" && !reflect.DeepEqual(ruling.Verdict.RequiredChanges, []string{add}) {
				t.Errorf("the verdict lost its required changes: %+v", ruling.Verdict)
			}
		})
	}
}
