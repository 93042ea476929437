package session

import (
	"time"

	"codeloops/internal/loop"
)

const patchMain = `diff --git a/main.go b/main.go
index 8baef1b4abc478178b004d62031cf7fe6db6f903..5716ca5987cbf97d6bb54920bea6adde242d87e6 100644
--- a/main.go
+++ b/main.go
@@ -1,2 +1,3 @@
 package main
-func main() { a < b && c > d }
+// "quoted" \ back
+func main() {}
`

const patchNew = "diff --git \"a/caf\\351.txt\" \"b/caf\\351.txt\"\nnew file mode 100755\n" +
	"index 0000000000000000000000000000000000000000..257cc5642cb1a054f08cc83f2d943e56fd3ebe99\n" +
	"--- /dev/null\n+++ \"b/caf\\351.txt\"\n@@ -0,0 +1 @@\n+caf\xe9\n"

const patchLogo = `diff --git a/logo.png b/logo.png
index 257cc5642cb1a054f08cc83f2d943e56fd3ebe99..0000000000000000000000000000000000000000 100644
Binary files a/logo.png and /dev/null differ
`

const binaryLogo = `diff --git a/logo.png b/logo.png
deleted file mode 100644
index 257cc5642cb1a054f08cc83f2d943e56fd3ebe99..e69de29bb2d1d6434b8b29ae775ad8c2e48c5391
GIT binary patch
literal 0
HcmV?d00001

literal 4
LcmZQzWMT#Y01f~L

`

func theChange() loop.Change {
	return loop.Change{
		Files: []loop.FileChange{
			{
				Path: "caf\xe9.txt", Status: loop.FileAdded, NewMode: 0o100755, NewSize: 5,
				Insertions: 1, Patch: patchNew,
			},
			{
				Path: "logo.png", Status: loop.FileDeleted, OldMode: 0o100644, OldSize: 4, Binary: true,
				Patch: patchLogo, BinaryPatch: binaryLogo,
			},
			{
				Path: "main.go", Status: loop.FileModified, OldMode: 0o100644, NewMode: 0o100644, OldSize: 45, NewSize: 47,
				Insertions: 2, Deletions: 1, Patch: patchMain,
			},
		},
		Insertions: 3, Deletions: 1, State: "tree:4b825dc642cb6eb9a060e54bf8d69288fbee4904",
		Warnings: []string{"secret.txt could not be read: permission denied"},
	}
}

// firstRound is an eventful iteration.
func firstRound() loop.Round {
	verdict := loop.Verdict{
		Decision: loop.Done,
		Summary:  "done, it seems",
		Rating:   loop.Rating{Confidence: new(0.95), Score: new(0.6)}, Severity: "low",
		Issues:          []string{"no test", "caf\xe9"},
		Risks:           []loop.Risk{{Type: "scope", Detail: "touches the logo"}},
		RequiredChanges: []string{"add a test"},
		Answers:         []loop.Answer{{ID: "F7", State: loop.FindingWithdrawn, Why: "caf\xe9 is right"}},
	}
	ruled := verdict
	ruled.Decision, ruled.Feedback = loop.Continue, "the score is below the threshold: add a test"
	return loop.Round{
		Iteration: 1,
		Attempt: loop.Attempt{Turn: loop.Turn{
			ID:           "2025-01-27T15-30-45Z_5d2f60__actor_1",
			Execution:    loop.Execution{Stdout: loop.Output{Text: "I did it.\n\x1b[1mBold\x1b[0m <b>&amp;</b>\n", Total: 41}, Stderr: loop.Output{Text: "head\n[… 900 bytes left out …]\ntail\n", Total: 912, Omitted: 900, File: "001.actor.stderr"}, ExitCode: 3, Duration: 12*time.Second + 345678901, Leftovers: []loop.Process{{PID: 4711, Command: "node server.js"}}, Failures: []loop.Failure{{Act: "run `npm test`", ExitCode: 1}, {Act: "use WebFetch", Denied: true}}, Futile: true},
			Try:          loop.Try{Ending: loop.EndFailed, Reason: "API Error: 429", Usage: loop.Usage{Tokens: &loop.Tokens{Input: 1000, Output: 20, CacheRead: 300}, Rounds: new(2)}},
			ResetAt:      time.Unix(1738000000, 0),
			Conversation: "c-1",
		}},
		Change: theChange(),
		Checks: []loop.CheckResult{
			{Command: "go vet ./...", Ending: loop.EndCompleted, Duration: time.Second},
			{
				Command: "go test ./...", ExitCode: 1, Ending: loop.EndFailed, Duration: 2500 * time.Millisecond, FailedBefore: true,
				Output: loop.Output{Text: "--- FAIL: TestX\n", Total: 16},
			},
		},
		Review: loop.Review{
			Turn: loop.Turn{
				Execution: loop.Execution{Stdout: loop.Output{Text: `{"result":"DECISION: DONE"}` + "\n", Total: 28}, Duration: 4 * time.Second},
				Try:       loop.Try{Ending: loop.EndCompleted},
			},
			Reply: "DECISION: DONE", Verdict: verdict, Unmentioned: []string{"F2"}, Stale: []string{"caf\xe9.txt", "HEAD"},
			Written: loop.Written{Changed: []string{"caf\xe9.txt"}, Added: []string{"b.txt", "c.txt"}, Settings: []string{"hooks/pre-commit"}},
		},
		Inspection: inspected(),
		Ruling: loop.Ruling{
			Verdict: ruled, Rule: "approval_threshold",
			Findings: []loop.Finding{{ID: "F1", Text: "no test", State: loop.FindingNew, Since: 1, Check: "go test ./..."}},
			Warnings: []string{"the same feedback came twice"},
		},
		Duration: 25 * time.Second,
		Trace: []loop.Phase{
			{State: loop.ActorExecuting, Duration: 12 * time.Second, Waited: 2 * time.Second, Turns: 1},
			{State: loop.CriticEvaluating, Duration: 5 * time.Second, Turns: 2},
		},
	}
}

func aWait() loop.Wait {
	return loop.Wait{
		Agent: loop.AgentRef{Agent: "claude", Model: "opus"}, Cause: loop.EndRateLimited,
		Reason: "5-hour limit", Until: time.Unix(1738000003, 0).UTC(),
	}
}

func waited() loop.Wait {
	w := aWait()
	w.Duration, w.End = 2*time.Second, loop.WaitOver
	return w
}

func inspected() loop.Inspection {
	return loop.Inspection{
		Concerns: []loop.Concern{
			{Rule: "tamper", Text: "TestX is gone from x_test.go"},
			{Rule: "tamper", Kind: "test_removed", Text: "tests are gone", Places: []loop.Place{{At: "x_test.go:3", What: "the test TestX is gone"}, {At: "y_test.go"}}},
		},
		Audit: loop.Audit{
			Before: "4b825dc642cb6eb9a060e54bf8d69288fbee4904", After: "8ab686eafeb1f44702738c8b0f24f2567c36da6d",
			Files: 1, Insertions: 2, Deletions: 1, Bytes: -12, Excerpt: "-a\n+b\n",
			Required: []loop.Requirement{{Text: `ADD "a test"`, Enforced: true}},
		},
	}
}

// secondRound is the last iteration, in which little happens.
func secondRound() loop.Round {
	verdict := loop.Verdict{Decision: loop.Done, Summary: "all done", Rating: loop.Rating{Confidence: new(1.0)}}
	return loop.Round{
		Iteration: 2,
		Attempt: loop.Attempt{Turn: loop.Turn{
			Execution: loop.Execution{Stdout: loop.Output{Text: "added a test\n", Total: 13}, Duration: 3 * time.Second},
			Try:       loop.Try{Ending: loop.EndCompleted},
		}},
		Review: loop.Review{
			Turn: loop.Turn{
				Execution: loop.Execution{Stdout: loop.Output{Text: "DECISION: DONE\nSUMMARY: all done\n", Total: 33}, Duration: time.Second},
				Try:       loop.Try{Ending: loop.EndCompleted},
			},
			Reply: "DECISION: DONE\nSUMMARY: all done\n", Verdict: verdict,
		},
		Own:      new(theChange()),
		Ruling:   loop.Ruling{Verdict: verdict},
		Duration: 4 * time.Second,
	}
}

func rejected() loop.Review {
	return loop.Review{
		Turn: loop.Turn{
			Execution: loop.Execution{Stdout: loop.Output{Text: "Looks good to me!\n", Total: 18}, Duration: time.Second},
			Try:       loop.Try{Ending: loop.EndCompleted},
		},
		Reply: "Looks good to me!\n", Problem: "the reply holds no DECISION line",
	}
}

func theSession(id string) loop.Session {
	return loop.Session{
		ID: id, Prompt: "make it <work> & test it", WorkingDir: "/home/user/project",
		Cast: loop.Cast{Actor: loop.AgentRef{Agent: "claude", Model: "opus"}, Critic: loop.AgentRef{Agent: "codex"}},
		Base: loop.Base{BaseCommit: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}, Version: "1.2.3", View: "overlay",
	}
}

// wholeRun is a run with every kind of event.
func wholeRun() []loop.Event {
	one, two := firstRound(), secondRound()
	return []loop.Event{
		loop.Started{Session: theSession("2025-01-27T15-30-45Z_5d2f60")},
		loop.BaselineChecked{Checks: []loop.CheckResult{{Command: "go test ./...", ExitCode: 1, Ending: loop.EndFailed, Changed: []string{"go.sum"}, Rewrites: []string{"go.work"}, Lacked: []string{"dist/app", "dist/b"}}}},
		loop.IterationStarted{Iteration: 1},
		loop.PhaseEntered{Iteration: 1, State: loop.ActorExecuting},
		loop.Activity{Iteration: 1, Role: loop.RoleActor, Notice: loop.Notice{Stream: "stdout", Text: "I did it.\n"}},
		loop.WaitStarted{Iteration: 1, Role: loop.RoleActor, Wait: aWait()},
		loop.WaitFinished{Iteration: 1, Role: loop.RoleActor, Wait: waited()},
		loop.ActorFinished{Iteration: 1, Attempt: one.Attempt},
		loop.PhaseEntered{Iteration: 1, State: loop.CapturingDiff},
		loop.DiffCaptured{Iteration: 1, Change: one.Change},
		loop.Inspected{Iteration: 1, Inspection: one.Inspection},
		loop.PhaseEntered{Iteration: 1, State: loop.Verifying},
		loop.ChecksFinished{Iteration: 1, Checks: one.Checks},
		loop.PhaseEntered{Iteration: 1, State: loop.CriticEvaluating},
		loop.ReviewRejected{Iteration: 1, Review: rejected()},
		loop.CriticFinished{Iteration: 1, Review: one.Review},
		loop.IterationFinished{Round: one},
		loop.Warned{Iteration: 1, Text: "changed while no agent was at work: main.go"},
		loop.IterationStarted{Iteration: 2},
		loop.PhaseEntered{Iteration: 2, State: loop.ActorExecuting},
		loop.ActorFinished{Iteration: 2, Attempt: two.Attempt},
		loop.PhaseEntered{Iteration: 2, State: loop.CapturingDiff},
		loop.DiffCaptured{Iteration: 2},
		loop.PhaseEntered{Iteration: 2, State: loop.CriticEvaluating},
		loop.CriticFinished{Iteration: 2, Review: two.Review},
		loop.IterationFinished{Round: two},
		loop.Finished{Outcome: loop.Outcome{
			Result: loop.Success, Reason: loop.StopDone, Iterations: 2, Summary: "all done",
			Confidence: new(1.0), Duration: 34500 * time.Millisecond,
		}},
	}
}
