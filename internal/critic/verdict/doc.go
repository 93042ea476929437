// Package verdict reads a critic's decision from its reply, and checks it against the
// policy of the run. It also reads the other forms that the roles of strategies reply in.
//
// In a reply the critic may say whatever it likes, and then decides: with lines that begin
// with a label, or with a JSON object.
//
//	DECISION: DONE          DECISION: CONTINUE      DECISION: ERROR         DECISION: ESCALATE
//	SUMMARY: ...            FEEDBACK: ...           ANALYSIS: ...           ANALYSIS: ...
//	CONFIDENCE: 0.95        SEAL: k7f2qx            RECOVERY: ...           SEAL: k7f2qx
//	SEAL: k7f2qx                                    SEAL: k7f2qx
//
// A label stands in any case, with any Markdown around it, indented by at most three columns,
// and its value extends to the next label. The value of DECISION is its line, which holds
// exactly one of the four words. Below a decision, a
// line "F1: settled" or "F1: withdrawn, because ..." gives the state of a finding.
//
// The object has the same members, in small letters: "decision", or "type" beside only other
// members of a verdict. It is on lines of its own, in a final fence, or between <decision> and
// </decision>. Both forms become one [claim] of what the critic decides.
//
// Only the critic's own words decide. Lines inside a code fence, after ">" or within the
// boundary of the prompt are quotations. A final fence that holds the whole block, or the
// object, is read if nothing else decides, or if it is sealed.
//
// The prompt holds a random word, the seal. A claim that repeats it is sealed, and decides,
// whatever else the reply says; sealed claims that differ are none. A wrong seal counts as
// none. If nothing is sealed, the one claim counts, and a DONE only if it is the last thing in
// the reply, names nothing open, and does not occur in the evidence word for word.
//
// Every doubt is reported as a [ReplyError], and the critic is asked again.
package verdict
