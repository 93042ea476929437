package verdict_test

import (
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/role/verdict"
)

// An approval is refused if another member of the object contradicts it.
func TestMembersBesideAnApproval(t *testing.T) {
	t.Parallel()
	for _, member := range []string{
		`"status": "failed"`, `"success": "no"`, `"approved": "false"`, `"approved": false`, `"failed_tests": 2`, `"tests_failed": 2`, `"testsPassed": false`,
		`"blocking_issues": ["a"]`, `"must_fix": ["a"]`, `"todo": "docs"`, `"severity": "critical"`, `"error": "timeout"`, `"truncated": true`, `"draft": true`,
		`"dry_run": true`, `"final": false`, `"stop_reason": "length"`, `"condition": "if the tests pass"`, `"comment": "but the tests fail"`,
		`"verdict": "continue"`, `"build": "broken"`, `"action": "continue"`, `"needs_work": true`, `"changes_requested": ["a"]`, `"next": "run the tests"`,
		`"tests": {"failed": 2}`, `"checks": [{"name": "a", "passed": false}]`, `"errors": [{"file": "a.go"}]`, `"result": "partial"`, `"risks": [{"type": "x", "level": "high", "note": "deletes data"}]`,
	} {
		if v, err := verdict.Parse(`{"decision": "done", "summary": "ok", ` + member + `}`); err == nil {
			t.Errorf("%s passes: %s", member, v.Decision)
		}
	}
	for _, member := range []string{
		`"status": "approved"`, `"success": true`, `"failed_tests": 0`, `"tests_failed": []`, `"tests": {"passed": 40, "failed": 0}`, `"notes": "The error path is tested."`,
		`"errors": []`, `"next_steps": []`, `"next_steps": "none"`, `"issues_fixed": ["a"]`, `"resolved_problems": ["a"]`, `"error_handling": "good"`, `"draft": false`,
		`"stop_reason": "end_turn"`, `"blocking": false`, `"result": "pass"`, `"missing": "nothing"`, `"severity": "low"`, `"open_issues": "none"`,
		`"previous_issues": ["a test was missing"]`, `"risks": [{"type": "scope", "level": "low", "note": "none"}]`, `"bugs": null`, `"errors": 0`, `"completed": ["a", "b"]`,
		`"checks": [{"name": "a", "passed": true, "errors": 0}]`, `"review": "The old code failed when the name was missing."`, `"files": ["errors.go"]`,
	} {
		v, err := verdict.Parse(`{"decision": "done", "summary": "ok", ` + member + `}`)
		if err != nil || v.Decision != loop.Done {
			t.Errorf("%s is refused: %v", member, err)
		}
	}
}

// A cross or an empty box before DONE contradicts it.
func TestSymbolsBeforeADecision(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"❌ DECISION: DONE": false, "☐ DECISION: DONE": false, "- [ ] DECISION: DONE": false, "⛔ **DECISION:** DONE": false,
		"✅ DECISION: DONE": true, "🎉 **DECISION:** DONE": true, "📝 DECISION: DONE": true,
	} {
		if _, err := verdict.Parse(line + "\nSUMMARY: ok"); (err == nil) != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}
