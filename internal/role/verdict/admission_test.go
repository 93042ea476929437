package verdict_test

import (
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/role/verdict"
)

// decides reads a DONE with the seal and without it, and returns both problems.
func decides(reply string) (sealed, unsealed string) {
	p := verdict.Parser{Seal: "k7f2qx"}
	_, _, unsealed = p.Read(reply)
	_, _, sealed = p.Read(strings.Replace(reply, "DECISION: DONE\n", "DECISION: DONE\n"+theSeal+"\n", 1))
	return sealed, unsealed
}

// A DONE is refused if its summary says that the work is unfinished, but not if the summary only describes what
// the program does or did.
func TestSummariesOfADone(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Two tests still fail", "Two tests fail", "One test is failing", "The build fails", "38 of 40 tests pass", "38/40 tests pass, two fail", "The tests are red",
		"It is only half done", "Only a part of the task is done", "Not all of the task is done", "To be confirmed", "More work is needed", "It isn't finished",
		"It's not finished yet", "The task is incomplete", "The work is unfinished", "The work remains to be done", "The tests crash", "The bug is still there",
		"There are failing tests", "Two tests are broken", "It cannot be built", "Nothing was done", "No part of the task is done", "The feature is missing",
		"The actor did not do the work", "The actor has not done the task", "It does not build yet", "It has not been implemented", "The review is in progress",
		"Most of it is done; the rest is missing", "It does not work on Windows",
	} {
		sealed, unsealed := decides("DECISION: DONE\nSUMMARY: A good beginning. " + said + ".")
		if sealed == "" || unsealed == "" {
			t.Errorf("%q passes: %q, %q", said, sealed, unsealed)
		}
	}
	for _, said := range []string{
		"The password does not pass through the shell any more", "Returns 501 Not Implemented for other methods", "The upload shows an in progress marker",
		"An upload that is not complete is refused", "It does not work around the fault, it mends it", "The tests fail without the fix and pass with it",
		"The failing test now passes", "Tests no longer fail", "No tests fail", "None of the tests fail", "It exits with 1 if the build fails",
		"Errors are reported when a request fails", "Nothing remains to be done", "A missing name is an error now", "The tests that failed pass",
		"TODO items can be marked as done or not done", "The list shows which tasks are not finished", "The retry stops once a request does not pass",
		"It says so if the file does not compile", "Incomplete input is refused", "All 40 of 40 tests pass", "3 of 40 tests are new", "No work remains",
		"The old tests were red", "It tells whether the name is missing",
	} {
		sealed, unsealed := decides("DECISION: DONE\nSUMMARY: The task is done. " + said + ".")
		if sealed != "" || unsealed != "" {
			t.Errorf("%q is refused: %q, %q", said, sealed, unsealed)
		}
	}
}

// A DONE is refused if the line above introduces it as a plan or as somebody else's words.
func TestLeadsToADone(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Draft:", "Template:", "The reply format:", "The expected reply:", "Pending the test run:", "After the tests:", "Subject to the tests passing:",
		"Tentatively:", "Provisionally:", "My guess:", "Option A:", "Case 1, the tests pass:", "The best case:", "To be confirmed by the tests:",
		"Awaiting the tests:", "Possible outcomes:", "The block that I have to fill in:", "In case of success:", "Here is the block, for later:", "Plan:",
		"Skeleton:", "On success:", "## Draft",
	} {
		if sealed, unsealed := decides("I looked at the diff.\n\n" + said + "\n\n" + doneOK); sealed == "" || unsealed == "" {
			t.Errorf("%q passes: %q, %q", said, sealed, unsealed)
		}
	}
	for _, said := range []string{
		"From the actor:", "In the actor's words:", "The actor concluded:", "The actor's verdict:", "It returned:", "stdout:", "Log:", "README.md:", "Transcript:",
		"It told me:", "The actor's own review:", "The previous critic's verdict:", "The comment at the top:", "This is what the actor left:", "## The actor's decision",
	} {
		if _, unsealed := decides("I looked at the diff.\n\n" + said + "\n\n" + doneOK); unsealed == "" {
			t.Errorf("%q passes", said)
		}
	}
	for _, said := range []string{
		"Based on my review, here is my final decision:", "Here is my decision:", "My verdict:", "Final verdict", "## Verdict", "Therefore:", "In conclusion:", "---",
		"Here's my verdict in the required format:", "I have verified all of it. Conclusion:", "The task is complete, so:", "Result of the review:",
		"Everything is as it should be.", "The tests pass and the program exits with 1 when the file does not exist.", "No issues found.", "**Decision**", "## Review",
	} {
		if sealed, unsealed := decides("I looked at the diff.\n\n" + said + "\n\n" + doneOK); sealed != "" || unsealed != "" {
			t.Errorf("%q is refused: %q, %q", said, sealed, unsealed)
		}
	}
}

// A line right above a DONE, without its full stop, introduces it only if it is unfinished.
func TestLinesRightAboveADone(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"It is not", "I refuse to say", "I cannot write", "I will answer", "If the tests pass", "Once the build is through I would say", "**Draft:**"} {
		if sealed, unsealed := decides(said + "\n" + doneOK); sealed == "" || unsealed == "" {
			t.Errorf("%q passes: %q, %q", said, sealed, unsealed)
		}
	}
	for _, said := range []string{
		"The edge case is covered", "3. The tests pass after the fix", "It exits with 1 if the file is missing. All of it works as expected", "✅ The empty case",
		"| empty case | ok |", "The plan has been carried out", "The change does not break the API", "Now the example works",
	} {
		if sealed, unsealed := decides(said + "\n" + doneOK); sealed != "" || unsealed != "" {
			t.Errorf("%q is refused: %q, %q", said, sealed, unsealed)
		}
	}
	for _, said := range []string{"I would not change anything.", "I can find no fault; it works if the flag is given twice, too."} {
		if sealed, unsealed := decides(said + "\n\n" + doneOK); sealed != "" || unsealed != "" {
			t.Errorf("%q is refused: %q, %q", said, sealed, unsealed)
		}
	}
}

// A DONE is refused if a remark below it contradicts or qualifies it.
func TestRemarksOnADone(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"(to be confirmed)", "Awaiting CI.", "Subject to the tests passing.", "Assuming the tests pass.", "Conditional on a green build.",
		"Provided that the tests pass.", "40 passed, 2 red.", "38 of 40 tests pass.", "I have yet to run the tests.", "Just kidding.",
		"This is what the actor wrote.", "Above is an example.", "The above is a quotation.", "That was the template.", "Two tests are red.", "Do another round.",
		"More work is needed.", "The docs need work.", "Ignore the above.", "Scratch that.", "On second thought, there is a bug.", "Revert it.", "Needs changes.",
		"Please fix the bug.", "Verdict withdrawn.", "The tests time out.", "The build crashes.", "The tests hang.",
	} {
		if sealed, unsealed := decides(doneOK + "\n\n" + said); sealed == "" || unsealed == "" {
			t.Errorf("%q passes: %q, %q", said, sealed, unsealed)
		}
	}
	for _, said := range []string{
		"Great work!", "The actor's implementation is clean.", "No issues found.", "Let me know if you have questions.", "All tests pass.", "40 of 40 tests pass.",
		"Good job; the error handling is clean.", "The previously failing test passes now.", "No further work is needed.", "The bug is fixed.", "No crashes, no hangs.",
		"I did not modify the work tree.", "MAY: a table test would be shorter.",
	} {
		if sealed, unsealed := decides(doneOK + "\n\n" + said); sealed != "" || unsealed != "" {
			t.Errorf("%q is refused: %q, %q", said, sealed, unsealed)
		}
	}
}

// A score is refused if a sentence beside it names another one, or if its own line qualifies it.
func TestScoresInSentences(t *testing.T) {
	t.Parallel()
	read := func(line, other string) (loop.Verdict, string) {
		p := verdict.Parser{}
		p.Contract.Threshold = 0.8
		v, _, problem := p.Read("DECISION: DONE\nSUMMARY: fine\nSCORE: " + line + "\n\n" + other)
		return v, problem
	}
	for _, other := range []string{"The score of this work is 0.2.", "I score it 0.2.", "A score of 0.2 is what it deserves.", "Scored 0.2.", "Score is 0.2", "Final score .2", "score=2/10", "Score: 20%"} {
		if _, problem := read("0.95", other); problem == "" {
			t.Errorf("%q passes", other)
		}
	}
	for _, line := range []string{"0.95 at best", "0.95 assuming the tests pass", "0.95?", "0.95, subject to the tests"} {
		if _, problem := read(line, ""); problem == "" {
			t.Errorf("%q passes", line)
		}
	}
	for _, line := range []string{"0.95", "95%", "0.95 (all tests pass)", "**0.95**", "0.95 - small gaps"} {
		if v, problem := read(line, "The score of 0.95 is well earned."); problem != "" || v.Score == nil {
			t.Errorf("%q is refused: %s", line, problem)
		}
	}
}
