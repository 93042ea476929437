// Package verdict reads a critic's decision from its reply, and checks it against the
// contract of the run.
//
// # The grammar of a reply
//
// In a reply the critic may say whatever it likes, and then decides: with lines that begin
// with a label, or with a JSON object.
//
//	DECISION: DONE          DECISION: CONTINUE      DECISION: ERROR         DECISION: ESCALATE
//	SUMMARY: ...            FEEDBACK: ...           ANALYSIS: ...           ANALYSIS: ...
//	CONFIDENCE: 0.95        SEAL: k7f2qx            RECOVERY: ...           SEAL: k7f2qx
//	SEAL: k7f2qx                                    SEAL: k7f2qx
//
// The labels are DECISION, SUMMARY, CONFIDENCE, SCORE, FEEDBACK, ANALYSIS, RECOVERY and
// SEAL, in any case, with any Markdown around them, indented by at most three columns. A
// value extends to the next label. The value of DECISION is its line, which holds exactly
// one of the four words; all but DONE may be followed by a remark.
//
// Below a decision, a line "F1: settled" or "F1: withdrawn, because ..." gives the state
// of a finding of an earlier review; in an object, the member "findings" does.
//
// The object has the member "decision", or "type" beside only other members of a verdict.
// Its value is done, continue, error or escalate, or else approve or revise. No key occurs
// twice. The object is on lines of its own, in a final fence, or between <decision> and
// </decision>.
//
// Only the critic's own words decide. Lines inside a code fence, after ">" or within the
// boundary of the prompt are quotations. A final fence that holds the whole block of
// labels, or the JSON object, is read if nothing else decides, or if it is sealed.
//
// # One decision
//
// The prompt holds a random word, the seal. A block or an object that repeats it is sealed,
// and decides, whatever else the reply says; sealed decisions that differ are none. A wrong
// seal counts as none.
//
// If nothing is sealed, the one decision in the critic's own words counts. A DONE counts
// then only if it is the last thing in the reply, if no other decision is named with its
// label, and if it does not occur in the evidence word for word.
//
// A DONE is rejected if it names something open: an issue, a required change, a point
// marked as a must, a finding that it calls open. No other word decides, of any language.
// Numbers that differ are none.
//
// If the policy of a run wants structured replies, only a JSON object decides, and the
// [Contract] says what it must hold. The contract may also require that every decision is
// sealed.
//
// A truncated reply, or one that still holds the placeholders of the instructions, decides
// nothing either. Every doubt is reported as a [ReplyError], and the critic is asked again.
package verdict
