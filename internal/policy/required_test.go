package policy_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
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

func (f files) Write(path string, content []byte) error {
	f[path] = string(content)
	return nil
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

// The actor is asked three times; then codeloops makes the changes, if it may.
func TestRequiredTries(t *testing.T) {
	t.Parallel()
	one, two := changed(loop.FileModified, "a.txt"), changed(loop.FileModified, "a.txt", "b.txt")
	tried := append(asking(add), back(policy.RuleRequired), back(policy.RuleRequired))
	for name, c := range map[string]struct {
		change  loop.Change
		history []loop.Round
		apply   bool
		rule    string
		stop    loop.StopReason
	}{
		"the first try":          {one, asking(add), true, policy.RuleRequired, ""},
		"the second":             {one, append(asking(add), back(policy.RuleRequired)), true, policy.RuleRequired, ""},
		"the third":              {one, tried, false, policy.RuleRequired, "policy_violation:required_changes"},
		"the third, by itself":   {one, tried, true, policy.RuleFallback, ""},
		"more than one file":     {two, tried, true, policy.RuleRequired, "policy_violation:required_changes"},
		"by itself, and in vain": {one, append(tried[:3:3], back(policy.RuleFallback)), true, policy.RuleRequired, "policy_violation:required_changes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := policy.Gate{Inspectors: []policy.Named{{Name: policy.RuleRequired, Inspector: policy.Required{On: true, Read: files{"a.txt": "", "b.txt": ""}.Read, Apply: c.apply}}}}
			_, ruling := gate.Inspect(loop.Case{Change: c.change, History: c.history})
			if ruling == nil || ruling.Rule != c.rule || ruling.Stop != c.stop {
				t.Fatalf("ruled %+v", ruling)
			}
			if c.stop == "" && !reflect.DeepEqual(ruling.Verdict.RequiredChanges, []string{add}) {
				t.Errorf("the verdict lost its required changes: %+v", ruling.Verdict)
			}
		})
	}
}

// worker is an actor that must not be asked.
type worker struct{ asked int }

func (w *worker) Act(context.Context, loop.Brief, loop.Watch) (loop.Attempt, error) {
	w.asked++
	return loop.Attempt{Turn: loop.Turn{Execution: loop.Execution{Stdout: loop.Output{Text: "mine"}}}}, nil
}

// Under the fallback rule, codeloops makes the required changes itself; otherwise it asks the actor.
func TestMender(t *testing.T) {
	t.Parallel()
	round := func(rule string, c loop.Change, changes ...string) *loop.Round {
		r := back(rule)
		r.Change, r.Verdict.RequiredChanges = c, changes
		return &r
	}
	one := changed(loop.FileModified, "a.txt")
	const before = "It ends in 45 minutes.\n"
	for name, c := range map[string]struct {
		previous *loop.Round
		asked    int
		text     string
		said     string
		err      error
	}{
		"the first turn":   {nil, 1, before, "mine", nil},
		"sent back":        {round(policy.RuleRequired, one, add), 1, before, "mine", nil},
		"made":             {round(policy.RuleFallback, one, add, remove), 0, "It ends. within an hour\n", "codeloops made the required changes in a.txt by itself:\n- " + add + "\n- " + remove + "\n", nil},
		"more has changed": {round(policy.RuleFallback, changed(loop.FileModified, "a.txt", "b.txt"), add), 0, before, "codeloops could not make the required changes by itself: more has changed than one text file.\n", nil},
		"cannot be read":   {round(policy.RuleFallback, changed(loop.FileModified, "gone.txt"), add), 0, before, "", fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, tree := &worker{}, files{"a.txt": before}
			got, err := policy.Fixer{Actor: w, Files: tree}.Act(t.Context(), loop.Brief{Previous: c.previous}, nil)
			if !errors.Is(err, c.err) || got.Stdout.Text != c.said || w.asked != c.asked {
				t.Errorf("%q, %v; the actor was asked %d times", got.Stdout.Text, err, w.asked)
			}
			if !maps.Equal(tree, files{"a.txt": c.text}) {
				t.Errorf("the files are %q", tree)
			}
			if c.asked == 0 && c.err == nil && (got.Ending != loop.EndCompleted || got.Usage.Tokens == nil || got.Usage.CostUSD == nil) {
				t.Errorf("the turn is %+v", got.Turn)
			}
		})
	}
}
