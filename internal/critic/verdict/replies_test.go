package verdict_test

import (
	"strconv"

	"codeloops/internal/loop"
)

// A replyCase is a reply as models write it, with the expected result. In replies, ´ stands for a back-tick.
type replyCase struct {
	name     string
	reply    string
	boundary string
	want     loop.Verdict
	problem  string // instead of want
}

const (
	noDecision = "no line of the reply begins with DECISION: outside of quotations, and it holds no JSON object with a decision"
	notExactly = ", which is not exactly one of DONE, CONTINUE, ERROR and ESCALATE"
	namedOpen  = "the reply says DONE and also names what is open: \"a\"; say CONTINUE if anything is to be done, else repeat the seal"
	twice      = "the reply decides 2 times; decide once, with the seal"
	torn       = "the reply repeats a part of the evidence without both of its boundary lines; quote less of it"
)

// both is the problem of a reply with two decisions.
func both(one, other string) string {
	return "the reply decides " + one + " and also " + other + "; decide once, and repeat no other decision"
}

// elsewhere is the problem of a plain DONE that another decision contradicts.
func elsewhere(said string) string {
	return "the reply says DONE and elsewhere " + strconv.Quote(said) + "; decide once, or repeat the seal in the block that counts"
}

// beside is the problem of a DONE that also names something open.
func beside(said string) string {
	return "the reply says DONE and also names what is open: " + strconv.Quote(said) + "; say CONTINUE if anything is to be done, else DONE without it"
}

// after is the problem of a DONE that is not the last word.
func after(said string) string {
	return "the reply goes on after its DONE: " + strconv.Quote(said) + "; let the block be the last of it, or repeat the seal in it"
}

func done(summary string) loop.Verdict {
	return loop.Verdict{Decision: loop.Done, Summary: summary}
}

func more(feedback string) loop.Verdict {
	return loop.Verdict{Decision: loop.Continue, Feedback: feedback}
}

func sure(v loop.Verdict, confidence float64) loop.Verdict {
	v.Confidence = new(confidence)
	return v
}

func plainReplies() []replyCase {
	return []replyCase{
		{name: "done", reply: "DECISION: DONE\nSUMMARY: both files are there\nCONFIDENCE: 0.9\n", want: sure(done("both files are there"), 0.9)},
		{name: "continue", reply: "DECISION: CONTINUE\nFEEDBACK: add a second file\n\n", want: more("add a second file")},
		{
			name:  "error",
			reply: "DECISION: ERROR\nANALYSIS: it does not compile:\n\nerror[E0599]: no method\nRECOVERY: Either:\n1. import it, or\n2. write it\n",
			want: loop.Verdict{
				Decision: loop.Error, Analysis: "it does not compile:\n\nerror[E0599]: no method",
				Recovery: "Either:\n1. import it, or\n2. write it",
			},
		},
		{name: "CRLF", reply: "DECISION: DONE\r\nSUMMARY: one\r\ntwo\r\nCONFIDENCE: 1\r\n", want: sure(done("one\ntwo"), 1)},
		{name: "lower case", reply: "decision: done\nsummary: ok", want: done("ok")},
		{name: "mixed case", reply: "Decision: Continue\nFeedback: more", want: more("more")},
		{name: "no space after the colon", reply: "DECISION:DONE\nSUMMARY:ok", want: done("ok")},
		{name: "spaces before the colon", reply: "DECISION : DONE\nSUMMARY : ok", want: done("ok")},
		{name: "decision alone", reply: "DECISION: DONE", want: done("")},
		{name: "decision below its label", reply: "DECISION:\nDONE\n\nSUMMARY:\nall of it\n", want: done("all of it")},
		{name: "full stop", reply: "DECISION: DONE.\nSUMMARY: ok", want: done("ok")},
		{name: "exclamation", reply: "DECISION: DONE!", want: done("")},
		{name: "quotation marks", reply: "DECISION: \"DONE\"", want: done("")},
		{name: "typographic quotation marks", reply: "DECISION: “continue”\nFEEDBACK: „mehr“", want: more("„mehr“")},
		{name: "all of the text is indented", reply: "    DECISION: DONE\n    SUMMARY: a\n      b\n", want: done("a\n  b")},
		{name: "prose before", reply: "I ran the tests; all pass.\n\nDECISION: DONE\nSUMMARY: ok", want: done("ok")},
		{name: "labels before the decision", reply: "SUMMARY: all good\nCONFIDENCE: 80%\nDECISION: DONE\n", want: sure(done("all good"), 0.8)},
		{name: "feedback before the decision", reply: "FEEDBACK: fix x\n\nDECISION: CONTINUE", want: more("fix x")},
		{name: "text without a label after DONE", reply: "DECISION: DONE\n\nAll requirements are met.\n", want: done("All requirements are met.")},
		{name: "text without a label after CONTINUE", reply: "DECISION: CONTINUE\nthe tests fail\nin two places", want: more("the tests fail\nin two places")},
		{
			name: "text without a label after ERROR", reply: "DECISION: ERROR\nThe build is broken.",
			want: loop.Verdict{Decision: loop.Error, Analysis: "The build is broken."},
		},
		{name: "reasons above a bare CONTINUE", reply: "The second test fails.\n\nDECISION: CONTINUE", want: more("The second test fails.")},
		{name: "remark behind CONTINUE", reply: "DECISION: CONTINUE - two tests fail", problem: `a DECISION line says "CONTINUE - two tests fail"` + notExactly},
		{name: "labels twice", reply: "DECISION: CONTINUE\nFEEDBACK: one\nFEEDBACK: two\nSCORE: 0.4\nSCORE: 0,4", want: loop.Verdict{
			Decision: loop.Continue, Feedback: "one\ntwo", Rating: loop.Rating{Score: new(0.4)},
		}},
		{
			name: "DONE and MISSING are no labels",
			reply: "DECISION: CONTINUE\nFEEDBACK: The validation is partially implemented:\nDONE:\n- Email format validation using regex\n" +
				"MISSING:\n1. Password minimum length check (required: 8 characters)\n2. Password digit requirement\n" +
				"Please implement the missing ones.\n",
			want: more("The validation is partially implemented:\nDONE:\n- Email format validation using regex\n" +
				"MISSING:\n1. Password minimum length check (required: 8 characters)\n2. Password digit requirement\n" +
				"Please implement the missing ones."),
		},
		{name: "ISSUES stays in the feedback", reply: "DECISION: CONTINUE\nFEEDBACK: see\nISSUES:\n- a\n- b", want: more("see\nISSUES:\n- a\n- b")},
		{name: "decision word inside of another", reply: "DECISION: CONTINUE\nFEEDBACK: DECISIONS: none", want: more("DECISIONS: none")},
		{name: "all the fields", reply: "DECISION: CONTINUE\nSCORE: 95%\nSUMMARY: s\nFEEDBACK: f\nANALYSIS: a\nRECOVERY: r\nCONFIDENCE: 0,95", want: loop.Verdict{
			Decision: loop.Continue, Summary: "s", Feedback: "f", Analysis: "a", Recovery: "r", Rating: loop.Rating{Score: new(0.95), Confidence: new(0.95)},
		}},
		{name: "confidence out of range", reply: "DECISION: DONE\nSUMMARY: s\nCONFIDENCE: 95", want: done("s")},
		{name: "confidence in words", reply: "DECISION: DONE\nSUMMARY: s\nCONFIDENCE: high", want: done("s")},
		{name: "confidence with a word behind", reply: "DECISION: DONE\nCONFIDENCE: **0.9** (high)", want: sure(done(""), 0.9)},
		{name: "thanks at the end", reply: "DECISION: DONE\nSUMMARY: s\nCONFIDENCE: 0.7\n\nThank you!", problem: after("Thank you!")},
	}
}

func markdownReplies() []replyCase {
	return []replyCase{
		{name: "bold label", reply: "**DECISION:** DONE\n**SUMMARY:** it **works**\n**CONFIDENCE:** 0.9", want: sure(done("it **works**"), 0.9)},
		{name: "bold label, colon outside", reply: "**DECISION**: DONE\n**SUMMARY**: **all** of it", want: done("**all** of it")},
		{name: "bold line", reply: "**DECISION: DONE**\n**SUMMARY: fine**", want: done("fine")},
		{name: "bold value", reply: "DECISION: **DONE**.\nSUMMARY: fine", want: done("fine")},
		{name: "bold both", reply: "**DECISION:** **CONTINUE**\n\n**FEEDBACK:**\n- a\n- b", want: more("- a\n- b")},
		{name: "underscores", reply: "__DECISION:__ _done_\n__SUMMARY:__ ok", want: done("ok")},
		{name: "italics", reply: "*Decision:* continue\n*Feedback:* go on", want: more("go on")},
		{name: "heading", reply: "## DECISION: done\n## SUMMARY: ok", want: done("ok")},
		{name: "heading without a space", reply: "###DECISION: DONE", want: done("")},
		{name: "bold heading", reply: "### **Decision: CONTINUE**\n### **Feedback:**\nmore", want: more("more")},
		{name: "decision below a heading", reply: "## Decision:\n\n**DONE**\n\n## Summary:\nok", want: done("ok")},
		{name: "bullets", reply: "- DECISION: DONE\n- SUMMARY: ok\n- CONFIDENCE: 0.5", want: sure(done("ok"), 0.5)},
		{name: "star bullets", reply: "* DECISION: DONE\n* **SUMMARY:** ok", want: done("ok")},
		{name: "plus and dot bullets", reply: "+ DECISION: CONTINUE\n• FEEDBACK: a", want: more("a")},
		{name: "numbered", reply: "1. DECISION: DONE\n2. SUMMARY: ok\n3) CONFIDENCE: 0.25", want: sure(done("ok"), 0.25)},
		{name: "back-ticks around the line", reply: "´DECISION: DONE´\n´SUMMARY: ok´", want: done("ok")},
		{name: "back-ticks around the value", reply: "DECISION: ´DONE´", want: done("")},
		{name: "bold and back-ticks", reply: "**´DECISION: CONTINUE´**\nFEEDBACK: a", want: more("a")},
		{name: "emoji before the label", reply: "✅ **DECISION:** DONE\n📝 SUMMARY: ok", want: done("ok")},
		{name: "emoji with a variation selector", reply: "✔️ DECISION: DONE ✔️", want: done("")},
		{name: "emoji before the value", reply: "DECISION: ✅ DONE 🎉\nSUMMARY: 🎉 ok", want: done("🎉 ok")},
		{name: "emoji beside CONTINUE", reply: "DECISION: 🔄 CONTINUE\nFEEDBACK: ❌ tests", want: more("❌ tests")},
		{name: "rule between", reply: "Review\n\n---\n\nDECISION: CONTINUE\nFEEDBACK: a", want: more("a")},
		{name: "not a table", reply: "| **DECISION:** | DONE |\n|---|---|\n| SUMMARY | ok |", problem: noDecision},
		{name: "fullwidth colon", reply: "DECISION：DONE\nSUMMARY：完成了。", want: done("完成了。")},
		{name: "feedback with a fence", reply: "DECISION: CONTINUE\nFEEDBACK: Run\n´´´sh\ngo test ./...\n´´´\nand fix it.", want: more("Run\n```sh\ngo test ./...\n```\nand fix it.")},
		{name: "whole block in a final fence", reply: "My verdict:\n\n´´´\nDECISION: DONE\nSUMMARY: ok\nCONFIDENCE: 0.9\n´´´\n", want: sure(done("ok"), 0.9)},
		{name: "whole reply in a fence", reply: "´´´text\nDECISION: CONTINUE\nFEEDBACK: a\nb\n´´´", want: more("a\nb")},
		{name: "final fence of tildes", reply: "~~~\nDECISION: DONE\nSUMMARY: ok\n~~~", want: done("ok")},
		{name: "final fence is never closed", reply: "´´´\nDECISION: DONE\nSUMMARY: ok", want: done("ok")},
		{name: "final fence, indented", reply: "1. Verdict\n\n   ´´´\n   DECISION: DONE\n   SUMMARY: ok\n   ´´´", want: done("ok")},
		{name: "fence in a final fence", reply: "´´´´\nDECISION: CONTINUE\nFEEDBACK: run\n´´´\nDECISION: DONE\n´´´\n´´´´", want: more("run\n```\nDECISION: DONE\n```")},
		{name: "final fence without feedback", reply: "The build fails.\n´´´\nDECISION: CONTINUE\n´´´", want: more("The build fails.")},
	}
}

func quotingReplies() []replyCase {
	const b = "0123456789abcdef01234567"
	return []replyCase{
		{name: "fence in the feedback", reply: "DECISION: CONTINUE\nFEEDBACK: it printed\n´´´\nDECISION: DONE\nSUMMARY: x\n´´´\nwhich is wrong", want: more("it printed\n```\nDECISION: DONE\nSUMMARY: x\n```\nwhich is wrong")},
		{name: "fence ends the feedback", reply: "DECISION: CONTINUE\nFEEDBACK: it printed\n´´´\nDECISION: DONE\n´´´", want: more("it printed\n```\nDECISION: DONE\n```")},
		{name: "fence behind the label", reply: "DECISION: CONTINUE\nFEEDBACK: ´´´\nDECISION: DONE\n´´´", want: more("```\nDECISION: DONE\n```")},
		{name: "fence behind other words", reply: "DECISION: CONTINUE\nFEEDBACK: It printed: ´´´text\nDECISION: DONE\n´´´\nStop that.", want: more("It printed: ```text\nDECISION: DONE\n```\nStop that.")},
		{name: "fence after DONE", reply: "DECISION: DONE\nSUMMARY: it now prints\n´´´\nDECISION: CONTINUE\nFEEDBACK: x\n´´´\n", want: done("it now prints\n```\nDECISION: CONTINUE\nFEEDBACK: x\n```")},
		{name: "fence with prose after it", reply: "It printed\n´´´\nDECISION: DONE\nSUMMARY: x\n´´´\nwhich is wrong.", problem: noDecision},
		{name: "fence that holds more than the block", reply: "´´´\n$ ./run\nDECISION: DONE\nSUMMARY: x\n´´´", problem: noDecision},
		{name: "fence below a label", reply: "FEEDBACK: it printed\n´´´\nDECISION: DONE\n´´´", problem: noDecision},
		{name: "blockquote", reply: "> DECISION: DONE\n> SUMMARY: x\n\nDECISION: CONTINUE\nFEEDBACK: no", want: more("no")},
		{name: "blockquote after", reply: "DECISION: CONTINUE\nFEEDBACK: The log says\n> DECISION: DONE\n", want: more("The log says\n> DECISION: DONE")},
		{name: "blockquote only", reply: "The actor wrote:\n> **DECISION:** DONE\n", problem: noDecision},
		{name: "blockquote in a list", reply: "- > DECISION: DONE\n", problem: noDecision},
		{name: "nested blockquote", reply: ">> DECISION: DONE\n > DECISION: DONE", problem: noDecision},
		{name: "bar of a terminal", reply: "│ DECISION: DONE\n┃ DECISION: DONE\n▌ DECISION: DONE", problem: noDecision},
		{name: "indented code", reply: "The fixture is\n\n    DECISION: DONE\n\tDECISION: DONE\n\nand nothing else.", problem: noDecision},
		{name: "added lines of a diff", reply: "The diff has\n+DECISION: DONE\n-DECISION: CONTINUE\nand no test.", problem: noDecision},
		{name: "promise in prose", reply: "I will print DECISION: DONE once the tests pass.", problem: noDecision},
		{name: "refusal in prose", reply: "I cannot say DECISION: DONE yet.", problem: noDecision},
		{name: "promise at the start of a line", reply: "DECISION: DONE once the tests pass.", problem: `a DECISION line says "DONE once the tests pass."` + notExactly},
		{name: "promise over several lines", reply: "I will answer\nDECISION: DONE\nonce the tests pass.", want: done("once the tests pass.")},
		{name: "old heuristics", reply: "TASK COMPLETE. ALL REQUIREMENTS MET. I am DONE.", problem: noDecision},
		{name: "crossed out", reply: "~~DECISION: DONE~~\nDECISION: CONTINUE\nFEEDBACK: a", want: more("a")},
		{name: "value crossed out", reply: "DECISION: ~~DONE~~", problem: `a DECISION line says "~~DONE~~"` + notExactly},
		{name: "check box", reply: "- [ ] DECISION: DONE\n- [x] DECISION: CONTINUE", problem: noDecision},
		{name: "check box in the value", reply: "DECISION: [ ] DONE", problem: `a DECISION line says "[ ] DONE"` + notExactly},
		{name: "cross beside DONE", reply: "DECISION: ❌ DONE", problem: `a DECISION line says "❌ DONE"` + notExactly},
		{name: "boundary", boundary: b, reply: "[" + b + " begin: stdout]\nDECISION: DONE\n´´´\n[" + b + " end: stdout]\nDECISION: CONTINUE\nFEEDBACK: a", want: more("a")},
		{name: "boundary last", boundary: b, reply: "DECISION: CONTINUE\nFEEDBACK: a\n[" + b + " begin: stdout]\nDECISION: DONE\nSUMMARY: x\n[" + b + " end: stdout]", want: more("a\n[" + b + " begin: stdout]\nDECISION: DONE\nSUMMARY: x\n[" + b + " end: stdout]")},
		{name: "boundary only", boundary: b, reply: "**[" + b + " begin: diff]**\nDECISION: DONE\nSUMMARY: x\n**[" + b + " end: diff]**", problem: noDecision},
		{name: "boundary in a fence", boundary: b, reply: "´´´\n[" + b + " begin: diff]\n´´´\nDECISION: DONE\n[" + b + " end: diff]\n´´´", problem: noDecision},
		{name: "boundary, JSON within", boundary: b, reply: "[" + b + " begin: diff]\n{\"decision\": \"done\"}\n[" + b + " end: diff]", problem: noDecision},
		{name: "boundary torn", boundary: b, reply: "DECISION: DONE\n[" + b + " begin: diff]\nDECISION: CONTINUE", problem: torn},
		{name: "boundary without its beginning", boundary: b, reply: "DECISION: DONE\n[" + b + " end: diff]\n", problem: torn},
	}
}

func contradictoryReplies() []replyCase {
	template := "DECISION: DONE\nSUMMARY: <what was done>\nCONFIDENCE: <0 to 1>\n\n" +
		"DECISION: CONTINUE\nFEEDBACK: <what is missing>\n\nDECISION: ERROR\nANALYSIS: <why>\nRECOVERY: <how>\n"
	return []replyCase{
		{name: "empty", reply: "", problem: "the reply is empty"},
		{name: "blank", reply: " \n\t\r\n", problem: "the reply is empty"},
		{name: "prose only", reply: "Looks good to me!", problem: noDecision},
		{name: "labels without a decision", reply: "SUMMARY: ok\nCONFIDENCE: 1", problem: noDecision},
		{name: "label without a value", reply: "DECISION:\n", problem: `a DECISION line says ""` + notExactly},
		{name: "another word", reply: "DECISION: APPROVED", problem: `a DECISION line says "APPROVED"` + notExactly},
		{name: "negated", reply: "DECISION: NOT DONE", problem: `a DECISION line says "NOT DONE"` + notExactly},
		{name: "negated by a sign", reply: "DECISION: !DONE", problem: `a DECISION line says "!DONE"` + notExactly},
		{name: "asked", reply: "DECISION: DONE?", problem: `a DECISION line says "DONE?"` + notExactly},
		{name: "hesitant", reply: "DECISION: DONE...", problem: `a DECISION line says "DONE..."` + notExactly},
		{name: "remark behind DONE", reply: "DECISION: DONE - apart from the tests", problem: `a DECISION line says "DONE - apart from the tests"` + notExactly},
		{name: "remark that names DONE", reply: "DECISION: CONTINUE (DONE in a minute)", problem: `a DECISION line says "CONTINUE (DONE in a minute)"` + notExactly},
		{name: "one of two", reply: "DECISION: DONE or CONTINUE", problem: `a DECISION line says "DONE or CONTINUE"` + notExactly},
		{name: "the choice itself", reply: "DECISION: DONE | CONTINUE | ERROR", problem: `a DECISION line says "DONE | CONTINUE | ERROR"` + notExactly},
		{name: "the choice in brackets", reply: "DECISION: <DONE|CONTINUE|ERROR>", problem: `a DECISION line says "<DONE|CONTINUE|ERROR>"` + notExactly},
		{name: "all on one line", reply: "DECISION: DONE SUMMARY: ok CONFIDENCE: 0.9", problem: `a DECISION line says "DONE SUMMARY: ok CONFIDENCE: 0.9"` + notExactly},
		{name: "the choice as a list", reply: "- DECISION: DONE\n- DECISION: CONTINUE\n- DECISION: ERROR", problem: both("DONE", "CONTINUE")},
		{name: "the choice below the label", reply: "DECISION:\nDONE\nCONTINUE\nERROR", want: done("CONTINUE\nERROR")},
		{name: "two in a row", reply: "DECISION: DONE\nDECISION: CONTINUE\nFEEDBACK: a", problem: both("DONE", "CONTINUE")},
		{name: "two in a row, DONE last", reply: "DECISION: CONTINUE\n\nDECISION: DONE\nSUMMARY: a", problem: both("CONTINUE", "DONE")},
		{name: "three in a row", reply: "DECISION: ERROR\nDECISION: DONE\nDECISION: DONE\nSUMMARY: a", problem: both("ERROR", "DONE")},
		{name: "the same in a row", reply: "DECISION: DONE\nDECISION: DONE\nSUMMARY: a", problem: twice},
		{name: "two blocks", reply: "DECISION: CONTINUE\nFEEDBACK: run the tests\n\nI ran them, they pass.\n\nDECISION: DONE\nSUMMARY: ok", problem: both("CONTINUE", "DONE")},
		{name: "two blocks, DONE first", reply: "DECISION: DONE\nSUMMARY: ok\n\nNo, wait.\n\nDECISION: CONTINUE\nFEEDBACK: b", problem: both("DONE", "CONTINUE")},
		{name: "two blocks, no gap", reply: "DECISION: CONTINUE\nFEEDBACK: a\nDECISION: DONE\nSUMMARY: ok", problem: both("CONTINUE", "DONE")},
		{name: "two blocks, DONE in one line", reply: "DECISION: CONTINUE\nFEEDBACK: a\n\nDECISION: DONE\n", problem: both("CONTINUE", "DONE")},
		{name: "two blocks with fields of their own", reply: "DECISION: DONE\nSUMMARY: ok\nCONFIDENCE: 1\n\nDECISION: ERROR\nRECOVERY: b", problem: both("DONE", "ERROR")},
		{name: "a DONE within the feedback", reply: "DECISION: CONTINUE\nFEEDBACK: The program must print\nDECISION: DONE\nAt its end.", problem: both("CONTINUE", "DONE")},
		{name: "a DONE at the end of the feedback", reply: "DECISION: CONTINUE\nFEEDBACK: The program must print\nDECISION: DONE", problem: both("CONTINUE", "DONE")},
		{name: "a DONE within the feedback, which is all", reply: "FEEDBACK: The program must print\nDECISION: DONE\nAt its end.", problem: "the reply says DONE and also names what is open: \"The program must print\"; say CONTINUE if anything is to be done, else repeat the seal"},
		{name: "a second thought that is no decision", reply: "DECISION: DONE\nSUMMARY: ok\n\nDECISION: I changed my mind", problem: `a DECISION line says "I changed my mind"` + notExactly},
		{name: "echo of the instructions", reply: template, problem: `a block is not filled in: it holds "<why>"`},
		{name: "echo with ellipses", reply: "DECISION: CONTINUE\nFEEDBACK: …\n\nDECISION: DONE\nSUMMARY: …\n", problem: `a block is not filled in: it holds "…"`},
		{name: "echo with the decision last", reply: "SUMMARY: <what was done>\nDECISION: DONE", problem: `a block is not filled in: it holds "<what was done>"`},
		{name: "echo, then the answer", reply: template + "\nHere it is:\n\nDECISION: DONE\nSUMMARY: ok", want: done("ok")},
		{name: "echo in columns", reply: "DECISION: DONE      DECISION: CONTINUE\nSUMMARY: …    FEEDBACK: …", problem: `a DECISION line says "DONE DECISION: CONTINUE"` + notExactly},
		{name: "run together", reply: "DECISION: CONTINDECISION: DONE\nSUMMADECISION: DONE\nSUMMARY: both files are there\nCONFIDENCE: 0.9", problem: `a DECISION line says "CONTINDECISION: DONE"` + notExactly},
		{name: "run together, DONE torn", reply: "DECISION: DONE\nSUMMADECISION: CONTINUE\nFEEDBACK: a", problem: namedOpen},
		{name: "run together, bold", reply: "**DECISION:** DONE\n**SUMM**DECISION:** CONTINUE\n**FEEDBACK:** a", problem: namedOpen},
		{name: "run together after a stop", reply: "DECISION: DONE\nSUMMARY: all of it.Decision: CONTINUE", problem: elsewhere("Decision: CONTINUE")},
		{name: "mentioned in the summary", reply: "DECISION: DONE\nSUMMARY: it prints DECISION: CONTINUE and ´DECISION: ERROR´", problem: elsewhere("DECISION: CONTINUE")},
	}
}

func jsonReplies() []replyCase {
	return []replyCase{
		{name: "bare", reply: `{"decision": "done", "summary": "ok", "confidence": 0.9}`, want: sure(done("ok"), 0.9)},
		{name: "all the fields", reply: `{"decision": "CONTINUE", "summary": "s", "confidence": "95 %", "feedback": "f", "issues": ["a", "b"], "analysis": "n", "recovery": "r", "score": "0,5"}`, want: loop.Verdict{
			Decision: loop.Continue,
			Summary:  "s",
			Rating:   loop.Rating{Confidence: new(0.95), Score: new(0.5)},
			Feedback: "f",
			Issues:   []string{"a", "b"},
			Analysis: "n",
			Recovery: "r",
		}},
		{name: "over several lines", reply: "Here it is:\n\n{\n  \"decision\": \"error\",\n  \"analysis\": \"a\\nb\",\n  \"recovery\": \"c {}\"\n}\n", want: loop.Verdict{
			Decision: loop.Error, Analysis: "a\nb", Recovery: "c {}",
		}},
		{name: "fenced", reply: "Verdict:\n´´´json\n{\"decision\": \"done\", \"summary\": \"ok\"}\n´´´", want: done("ok")},
		{name: "fenced below a title", reply: "**DECISION:**\n\n´´´json\n{\"decision\": \"done\", \"summary\": \"ok\"}\n´´´", want: done("ok")},
		{name: "in tags", reply: "<decision>{\"type\": \"done\", \"summary\": \"ok\"}</decision>", want: done("ok")},
		{name: "in tags on lines of their own", reply: "I think so.\n<decision>\n{\"type\": \"continue\",\n\"feedback\": \"a\"}\n</decision>\nBye.", want: more("a")},
		{name: "in tags and a fence", reply: "<Decision>\n´´´json\n{\"decision\": \"done\"}\n´´´\n</Decision>", want: done("")},
		{name: "tags never closed", reply: "<decision>\n{\"decision\": \"continue\", \"feedback\": \"a\"}", want: more("a")},
		{name: "text in tags", reply: "<decision>\nDECISION: DONE\nSUMMARY: ok\n</decision>\nBye.", want: done("ok")},
		{name: "raw line breaks in a string", reply: "{\"decision\": \"continue\", \"feedback\": \"It prints\nDECISION: DONE\nand stops.\"}", want: more("It prints DECISION: DONE and stops.")},
		{name: "approve", reply: `{"decision": "approve", "severity": "low", "risks": [], "required_changes": [], "reason": "fine"}`, want: loop.Verdict{
			Decision: loop.Done, Summary: "fine", Severity: "low",
		}},
		{name: "revise", reply: `{"decision": "revise", "severity": "medium", "risks": [{"type": "overconfidence", "note": "too sure"}, "other"], "required_changes": ["ADD \"x\"", "REMOVE \"y\""]}`, want: loop.Verdict{
			Decision: loop.Continue, Feedback: "- ADD \"x\"\n- REMOVE \"y\"", Severity: "medium",
			Risks:           []loop.Risk{{Type: "overconfidence", Detail: "too sure"}, {Detail: "other"}},
			RequiredChanges: []string{`ADD "x"`, `REMOVE "y"`},
		}},
		{name: "escalate", reply: `{"decision": "escalate", "severity": "high", "reason": "deletes data"}`, want: loop.Verdict{
			Decision: loop.Error, Escalation: "deletes data", Severity: "high",
		}},
		{name: "escalate without a reason", reply: `{"decision": "escalate"}`, want: loop.Verdict{
			Decision: loop.Error, Escalation: "the critic escalates and gives no reason",
		}},
		{name: "issues only", reply: `{"decision": "continue", "issues": [{"file": "a.go", "description": "no test"}, {"line": 3}, 7, null]}`, want: loop.Verdict{
			Decision: loop.Continue, Feedback: "- no test\n- {\"line\":3}\n- 7", Issues: []string{"no test", `{"line":3}`, "7"},
		}},
		{name: "feedback as a list", reply: `{"decision": "continue", "feedback": ["a", "b"], "issues": "c"}`, want: loop.Verdict{
			Decision: loop.Continue, Feedback: "- a\n- b", Issues: []string{"c"},
		}},
		{name: "numbers out of range", reply: `{"decision": "done", "confidence": 95, "score": -0.5, "summary": null}`, want: done("")},
		{name: "type of another kind beside a decision", reply: `{"type": "result", "decision": "done"}`, want: done("")},
		{name: "text and object agree", reply: "DECISION: DONE\nSUMMARY: ok\n\n{\"decision\": \"done\", \"summary\": \"other\", \"confidence\": 0.5}", problem: twice},
		{name: "object in a sentence", reply: `I would answer {"decision": "done"} if it worked.`, problem: noDecision},
		{name: "object before the rest of a sentence", reply: `{"decision": "done"} would be wrong.`, problem: `a JSON object with a decision is followed by other text in its line: "would be wrong."`},
		{name: "object in a fence that is not the last", reply: "It answered\n´´´json\n{\"decision\": \"done\"}\n´´´\nwhich is wrong.", problem: noDecision},
		{name: "fence in the feedback", reply: "DECISION: CONTINUE\nFEEDBACK: do not answer\n´´´json\n{\"decision\": \"done\"}\n´´´", want: more("do not answer\n```json\n{\"decision\": \"done\"}\n```")},
		{name: "text DONE, fence continue", reply: "DECISION: DONE\nSUMMARY: ok\n´´´json\n{\"decision\": \"continue\"}\n´´´", want: done("ok\n```json\n{\"decision\": \"continue\"}\n```")},
		{name: "text DONE, fence never closed", reply: "DECISION: DONE\nSUMMARY: ok\n´´´\nDECISION: CONTINUE\nFEEDBACK: a", want: done("ok\n```\nDECISION: CONTINUE\nFEEDBACK: a")},
		{name: "text and object disagree", reply: "DECISION: CONTINUE\nFEEDBACK: a\n\n{\"decision\": \"done\"}", problem: both("CONTINUE", "DONE")},
		{name: "text DONE and escalate", reply: "{\"decision\": \"escalate\"}\nDECISION: DONE\nSUMMARY: ok", problem: both("ESCALATE", "DONE")},
		{name: "object DONE, fence continue", reply: "{\"decision\": \"done\"}\n´´´json\n{\"decision\": \"continue\"}\n´´´", problem: after("json {\"decision\": \"continue\"} ```")},
		{name: "events of a stream", reply: "{\"type\": \"start\"}\n{\"type\": \"text\", \"text\": \"I doubt it.\"}\n{\"type\": \"done\"}", problem: noDecision},
		{name: "error event", reply: `{"type": "error", "message": "overloaded"}`, problem: noDecision},
		{name: "run together in a fence", reply: "´´´\nDECISION: DONE\nSUMMDECISION: CONTINUE\n´´´", problem: elsewhere("DECISION: CONTINUE")},
		{name: "two objects disagree", reply: "{\"decision\": \"continue\"}\n\n{\"decision\": \"done\"}", problem: both("CONTINUE", "DONE")},
		{name: "two objects agree", reply: "{\"decision\": \"done\", \"summary\": \"a\"}\n{\"decision\": \"done\", \"summary\": \"b\"}", problem: twice},
		{name: "two decisions in one", reply: `{"decision": "done", "decision": "continue"}`, problem: "the JSON object with the decision holds \"decision\" more than once; give it once"},
		{name: "decision and type disagree", reply: `{"type": "continue", "decision": "done"}`, problem: "the JSON object holds two decisions that contradict each other"},
		{name: "approves and requires changes", reply: `{"decision": "approve", "required_changes": ["ADD \"x\""]}`, problem: beside(`ADD "x"`)},
		{name: "done and requires changes", reply: `{"decision": "done", "required_changes": "one more"}`, problem: beside("one more")},
		{name: "the choice itself", reply: `{"decision": "done|continue|error"}`, problem: `the decision of the JSON object is "done|continue|error", which is none of done, continue, error and escalate`},
		{name: "not filled in", reply: `{"decision": "done", "summary": "<what was done>"}`, problem: `the JSON object is not filled in: it holds "<what was done>"`},
		{name: "decision that is no text", reply: `{"decision": true}`, problem: `the decision of the JSON object is "true", which is none of done, continue, error and escalate`},
		{name: "torn", reply: `{"decision": "continue", "feedback": "it`, problem: `a JSON object in the reply cannot be read: "{\"decision\": \"continue\", \"feedback\": \"it"`},
		{name: "torn in a fence", reply: "´´´json\n{\"decision\": \"done\", \"summ\n´´´", problem: `a JSON object in the reply cannot be read: "{\"decision\": \"done\", \"summ"`},
		{name: "run together", reply: `{"decision":"continue","feedba{"decision":"done","summary":"x"}`, problem: `a JSON object in the reply cannot be read: "{\"decision\":\"continue\",\"feedba{\"decision\":\"done\",\"summary\":\"x\""`},
		{name: "no JSON after all", reply: "{\"decision\": done}", problem: `a JSON object in the reply cannot be read: "{\"decision\": done"`},
		{name: "no object with a decision", reply: "{\"a\": 1}\n{\"type\": \"object\"}\n{not json}\n", problem: noDecision},
		{name: "an array", reply: `[{"decision": "done"}]`, problem: noDecision},
		{name: "sample in the feedback", reply: "DECISION: CONTINUE\nFEEDBACK: the file should be\n{\"type\": \"module\",\n // a comment\n}\nand no more", want: more("the file should be\n{\"type\": \"module\",\n // a comment\n}\nand no more")},
	}
}

func foreignReplies() []replyCase {
	return []replyCase{
		{name: "German", reply: "Ich habe die Prüfungen ausgeführt – alles grün.\n\n**DECISION:** DONE\n**SUMMARY:** Größe stimmt, Übung fertig.", want: done("Größe stimmt, Übung fertig.")},
		{name: "Chinese", reply: "测试全部通过。\n\nDECISION: DONE。\nSUMMARY: 两个文件都在。\nCONFIDENCE: 0.9", want: sure(done("两个文件都在。"), 0.9)},
		{name: "Russian", reply: "Не хватает тестов.\nDECISION: CONTINUE\nFEEDBACK: добавьте тесты\nи документацию", want: more("добавьте тесты\nи документацию")},
		{name: "Arabic with direction marks", reply: "\u202bلم ينته العمل\u202c\n\u200fDECISION: CONTINUE\u200f\nFEEDBACK: أضف اختبارا", want: more("أضف اختبارا")},
		{name: "French, narrow spaces", reply: "DECISION\u202f: DONE\nSUMMARY\u00a0: ça marche\nCONFIDENCE : 0,95", want: sure(done("ça marche"), 0.95)},
		{name: "translated label", reply: "ENTSCHEIDUNG: DONE", problem: noDecision},
		{name: "byte order mark", reply: "\ufeffDECISION: DONE\nSUMMARY: ok", want: done("ok")},
		{name: "zero-width characters", reply: "\u200bDECISION\u200b: \u200bDONE\u200d\nSUMMARY: ok", want: done("ok")},
		{name: "no-break spaces", reply: "\u00a0DECISION:\u00a0DONE\u00a0\nSUMMARY:\u00a0ok\u00a0", want: done("ok")},
		{name: "colours", reply: "\x1b[1mDECISION:\x1b[0m \x1b[32mDONE\x1b[0m\r\n\x1b[1mSUMMARY:\x1b[0m ok\x1b[K", want: done("ok")},
		{name: "window title", reply: "\x1b]0;critic\aDECISION: DONE\nSUMMARY: ok", want: done("ok")},
		{name: "torn control sequence", reply: "DECISION: DONE\nSUMMARY: ok\x1b]0;\nDECISION: CONTINUE\nFEEDBACK: a", problem: both("DONE", "CONTINUE")},
		{name: "control characters", reply: "DECI\x00SION: CONT\x08INUE\x07\nFEEDBACK: a\x7fb", want: more("ab")},
		{name: "carriage returns before the line feed", reply: "DECISION: DONE\r\r\nSUMMARY: ok\r\r\n", want: done("ok")},
		{name: "lone carriage return", reply: "thinking\rDECISION: DONE", problem: noDecision},
		{name: "line separator", reply: "I may say\u2028DECISION: DONE", problem: noDecision},
		{name: "not UTF-8", reply: "\xff\xfe DECISION: DONE\nDECISION: CONTINUE\nFEEDBACK: caf\xe9", want: more("caf\ufffd")},
		{name: "look-alike letters", reply: "DЕCISION: DONE", problem: noDecision},
		{name: "emoji of several characters", reply: "DECISION: DONE\nSUMMARY: 👩‍💻 ok", want: done("👩‍💻 ok")},
	}
}
