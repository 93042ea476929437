package limits

import (
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
	"codeloops/internal/policy/deciding"
	"codeloops/internal/policy/tamper"
)

// RuleDeciding is the rule on the files that decide about the work.
const RuleDeciding = "deciding"

// Deciding reports changes to files that decide about the work: the critic's program, scripts
// that checks run, and the instructions and settings of agents.
type Deciding struct {
	// Changed returns those that have changed since the session began; nil: none are known.
	Changed func() []deciding.ChangedFile
	Block   bool // a change is also a breach, unless the task names the file
	Alone   bool // no critic is asked: the same for what a check runs
}

// Inspect implements [policy.Inspector]. A breach sends the work back without asking the
// critic, whose program may have been replaced.
func (d Deciding) Inspect(c loop.Case, found *loop.Inspection) *policy.Breach {
	if d.Changed == nil {
		return nil
	}
	told := loop.Concern{Rule: RuleDeciding, Text: "files that decide about the work have changed since the session began"}
	var barred []string
	for _, changed := range d.Changed() {
		place := loop.Place{At: tamper.Quote(changed.Path, maxPath), What: became(changed)}
		switch {
		case d.bars(c.Task, changed):
			barred = append(barred, place.String())
		case reported(c.Change, changed):
			continue
		}
		told.Places = append(told.Places, place)
	}
	if len(told.Places) > 0 {
		found.Concerns = append(found.Concerns, told)
	}
	if len(barred) == 0 {
		return nil
	}
	return &policy.Breach{
		Why: "files that decide about the work were changed: " + barred[0] + others(len(barred)-1),
		Feedback: "Files that decide about the work may not be changed in this session. Put these back as they were when it began:\n- " +
			strings.Join(barred, "\n- "),
		Back: true,
	}
}

// maxPath limits the length of a path in a message.
const maxPath = 200

func became(c deciding.ChangedFile) string {
	switch c.Role {
	case deciding.Critic:
		return "the critic is started from it, and it was " + c.Fate
	case deciding.Check, deciding.Program:
		return "a check runs it, and it was " + c.Fate
	case deciding.Git:
		return "codeloops compares files with it, and it was " + c.Fate
	case deciding.Rules:
		return "it holds rules, and was " + c.Fate + ": this session keeps those that it began with"
	}
	return "agents read it before they work, perhaps the critic too, and it was " + c.Fate
}

// fresh reports whether a check names a file that is new: it has decided nothing before.
func fresh(f deciding.ChangedFile) bool { return f.Role == deciding.Check && f.Fate == deciding.Added }

// bars reports whether a change is a breach.
func (d Deciding) bars(task string, f deciding.ChangedFile) bool {
	ran := f.Role == deciding.Check || f.Role == deciding.Program
	return (d.Block || d.Alone && ran) && !fresh(f) && !tamper.Names(task, f.Path)
}

// reported reports whether the diff shows a change, and the rule on tampering reports it.
func reported(c loop.Change, f deciding.ChangedFile) bool {
	return (f.Role == deciding.Agents || f.Role == deciding.Check && !fresh(f)) && slices.ContainsFunc(c.Files, func(x loop.FileChange) bool { return x.Path == f.Path })
}
