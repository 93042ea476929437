package verdict_test

import (
	"strings"
	"testing"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
)

// honest has long replies as models write them; ´ stands for a back-tick.
// They end in a block that [TestHonestReplies] adds.
func honest() map[string]string {
	return map[string]string{
		"report": "I reviewed the change end to end.\n\n**What I ran**\n\n´´´\n$ go test ./...\nok  \tlogin\t0.4s\n--- PASS: TestLogin/error_is_returned\n´´´\n\n" +
			"- The handler returns 400 if the e-mail is missing.\n- It will not accept an empty password, and says so.\n- Errors are wrapped, not swallowed\n\nAll of the task is there.\n\n",
		"headings": "# Review\n\n## Findings\n\n1. Validation: done, with tests.\n2. Docs: updated.\n\n## Open questions\n\nNone.\n\n## Verdict\n\n",
		"design":   "The design decision (not to retry) is documented, and the decision to fail fast is what the task asks for. A decision table stands in the docs.\n\n",
		"history":  "In the first iteration I asked for a test; the decision was CONTINUE then. The test is there now and fails without the fix.\n\n",
		"step":     "Let me look at the diff first.\n\nNow I run the tests:\n\n´´´\n12 passed, 0 failed\n´´´\n\nEverything passes. Next, the documentation: it matches.\n\nI am satisfied with the work. Here is my verdict:\n\n",
		"German":   "Ich habe alles geprüft: Die Tests laufen durch, auch wenn der Name fehlt.\n\n",
		"quoting":  "The program prints\n\n> Hello, world\n\nas the task says, and nothing else.\n\n---\n\n",
		"table":    "| check | result |\n|---|---|\n| build | ok |\n| tests | ok |\n\n",
		"JSON":     "The endpoint answers\n´´´json\n{\"type\": \"error\", \"message\": \"no such user\"}\n´´´\nfor a user who is not there, and {\"ok\": true} otherwise.\n\n",
		"none":     "",
	}
}

// TestHonestReplies: honest replies are read as they are meant, in every form, with and without the seal.
func TestHonestReplies(t *testing.T) {
	t.Parallel()
	const summary = "The endpoint refuses an empty e-mail; errors name the field, and nothing else has changed. Tests no longer fail when the clock is off."
	blocks := map[string]string{
		"plain":    "DECISION: DONE\nSUMMARY: " + summary + "\nCONFIDENCE: 0.95\n" + theSeal,
		"Markdown": "**DECISION:** DONE\n\n**SUMMARY:** " + summary + "\n\n**CONFIDENCE:** 0.95\n\n**SEAL:** ´k7f2qx´",
		"fenced":   "´´´\nDECISION: DONE\nSUMMARY: " + summary + "\nCONFIDENCE: 0.95\n" + theSeal + "\n´´´",
		"list":     "DECISION: DONE\nSUMMARY:\n- " + summary + "\n- docs follow\nCONFIDENCE: 95%\n" + theSeal,
		"object":   `{"decision": "done", "summary": "` + summary + `", "confidence": 0.95, "feedback": "", "issues": [], "seal": "k7f2qx"}`,
	}
	for name, prose := range honest() {
		for form, block := range blocks {
			for _, text := range []string{block, strings.NewReplacer("\n"+theSeal, "", "\n\n**SEAL:** ´k7f2qx´", "", `, "seal": "k7f2qx"`, "").Replace(block)} {
				v, sealed, problem := verdict.Parser{Seal: "k7f2qx"}.Read(strings.ReplaceAll(prose+text, "´", "`"))
				if problem != "" || v.Decision != loop.Done || v.Confidence == nil || *v.Confidence != 0.95 || (sealed == loop.SealRight) != strings.Contains(text, "k7f2qx") {
					t.Errorf("%s, %s: %q, %s, %s", name, form, sealed, show(v), problem)
				}
			}
		}
	}
}
