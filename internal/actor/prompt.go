package actor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/wording"
)

// Limits for what a prompt shows of the previous round, in bytes.
const (
	maxFeedback = 64 << 10
	maxCheck    = 12 << 10 // the output of one failing check, mostly its end
	maxChecks   = 36 << 10 // the output of all failing checks
)

// intro comes first, so that no CLI takes the first line of a task for a command or an
// option.
const intro = `You are working in the git repository that is your working directory. This is iteration %d of a loop: when you stop, a reviewer judges everything that has changed in the repository since the loop began, and its findings come back to you. Do the work itself; a description of it does not count.`

// prompt writes the actor's prompt. The task is in it verbatim; texts from other sources
// are in fences that nothing in them can close.
func (a *Actor) prompt(b loop.Brief) string {
	var p strings.Builder
	fmt.Fprintf(&p, intro+"\n", b.Iteration)
	switch {
	case b.Previous == nil:
		a.task(&p, b.Task)
		checks(&p, b.Baseline, true)
		return p.String()
	case a.Refine != nil:
		refine(&p, a.Refine, b)
		instructions(&p, a.Instructions)
		turn(&p, b.Previous.Attempt.Turn)
	default:
		a.task(&p, b.Task)
		turn(&p, b.Previous.Attempt.Turn)
		review(&p, *b.Previous)
	}
	findings(&p, b.Previous.Findings)
	warnings(&p, b.Previous.Warnings)
	checks(&p, b.Previous.Checks, false)
	return p.String()
}

// task writes what is to be done, in the user's own words if there are some.
func (a *Actor) task(p *strings.Builder, text string) {
	if a.Template == nil {
		fmt.Fprintf(p, "\nThe task:\n\n%s\n", strings.Trim(text, "\n"))
	} else {
		refine(p, a.Template, loop.Brief{Task: text})
	}
	instructions(p, a.Instructions)
}

func instructions(p *strings.Builder, text string) {
	if text != "" {
		fmt.Fprintf(p, "\n%s\n", strings.Trim(wording.Clean(text), "\n"))
	}
}

// turn says how the last turn ended, unless it completed.
func turn(p *strings.Builder, t loop.Turn) {
	if t.Ending == loop.EndCompleted {
		return
	}
	how := prompt.Ended(t.Ending, t.ExitCode)
	if t.Ending == loop.EndContextTooLong {
		how += ". Read less at once"
	}
	fmt.Fprintf(p, "\nYour last turn %s. What it changed is still in the repository; look at it before you go on.\n", how)
}

// review passes on what the reviewer said.
func review(p *strings.Builder, r loop.Round) {
	lead, words := heard(r)
	musts, mays := verdict.Split(words)
	musts, words = loop.Named(musts, r.Findings), loop.Named(words, r.Findings)
	lookedFor := lead == "" && slices.ContainsFunc(r.Verdict.RequiredChanges, func(text string) bool {
		_, err := verdict.ParseChange(text)
		return err == nil
	})
	if lead != "" || mays == "" {
		musts, mays = words, ""
	}
	if lookedFor || mays != "" {
		lead = "The task is not finished. The reviewer's feedback on your last turn. Mend this, and change nothing else:"
	}
	fmt.Fprintf(p, "\n%s\n", cmp.Or(lead, "The task is not finished. The reviewer's feedback on your last turn:"))
	quoted(p, musts)
	if lookedFor {
		p.WriteString("\nA program looks for the required changes. " + verdict.WordForWord + "\n")
	}
	if mays != "" {
		p.WriteString("\nThis the reviewer notes, too. The task is done without it, so leave it as it is:\n")
		quoted(p, mays)
	}
}

// quoted writes what somebody said about the last turn, if anything.
func quoted(p *strings.Builder, words string) {
	if words != "" {
		p.WriteString("\n")
		p.WriteString(prompt.Fenced(prompt.Clip(words, maxFeedback, maxFeedback/2)))
	}
}

// heard returns what was said about the last turn, and a sentence that introduces it
// unless it is ordinary feedback.
func heard(r loop.Round) (lead, words string) {
	words = prompt.Guidance(r.Verdict)
	switch {
	case r.Verdict.Decision == loop.Done:
		return "The reviewer found the task finished as it stood then. It has been added to since: do what is new in it.", ""
	case r.Review.Problem != "" && r.Verdict.Feedback == "" && r.Verdict.Recovery == "":
		return "The review of your last turn failed, so there is no feedback on it. Check your work against the task and go on.", ""
	case r.Rule == loop.RuleUser && words == "":
		return "The user has interrupted your last turn. Look at what is there, and go on.", ""
	case r.Rule == loop.RuleUser:
		return "The user has interrupted your last turn, and says:", words
	case r.Unjudged:
		return "Your last turn comes back to you without a review: what is in the repository breaks the rules of this loop. They say:", words
	case words == "":
		return "The reviewer finds that the task is not finished and gives no reasons. Check your work against the task and go on.", ""
	case r.Verdict.Decision == loop.Error:
		return "Something went wrong in your last turn. The reviewer says what, and how to recover:", words
	}
	return "", words
}

// checks shows the project's failing checks; baseline is set for those that were run
// before the first iteration.
func checks(p *strings.Builder, results []loop.CheckResult, baseline bool) {
	failing := slices.DeleteFunc(slices.Clone(results), loop.CheckResult.Passed)
	for _, c := range failing {
		how := fate(c)
		switch {
		case c.Witness != "":
			how = "did not pass"
		case baseline:
			how = "failed before you started: it " + how
		case c.FailedBefore:
			how += ", as it did before the loop began"
		}
		size := min(maxCheck, maxChecks/len(failing))
		output := strings.TrimSpace(wording.Clean(c.Output.Text))
		fmt.Fprintf(p, "\nA check of the project %s. Its command and its output:\n\n", how)
		p.WriteString(prompt.Fenced("$ " + wording.Clean(c.Command) + "\n" + prompt.Clip(output, size, size/4)))
		if c.Output.Omitted > 0 && c.Output.File != "" {
			fmt.Fprintf(p, "\nAll of its output is in the file\n%s\n", c.Output.File)
		}
		for _, remark := range c.Remarks() {
			fmt.Fprintf(p, "\nAbout this check: %s.\n", remark)
		}
	}
}

func fate(c loop.CheckResult) string {
	if c.Ending == loop.EndCompleted && c.ExitCode == 0 {
		return "did not pass, although it ended with exit code 0"
	}
	return prompt.Ended(c.Ending, c.ExitCode)
}
