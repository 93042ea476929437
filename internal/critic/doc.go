// Package critic judges an actor's work by asking an agent.
//
// # The grammar of a reply
//
// [Parse] reads a reply in which the critic says what it wants said before,
// and then decides: with lines that begin with a label, or with a JSON object.
//
//	DECISION: DONE          DECISION: CONTINUE      DECISION: ERROR
//	SUMMARY: ...            FEEDBACK: ...           ANALYSIS: ...
//	CONFIDENCE: 0.95                                RECOVERY: ...
//
// The labels are DECISION, SUMMARY, CONFIDENCE, SCORE, FEEDBACK, ANALYSIS and
// RECOVERY, in any case, with whatever Markdown around them, indented by at
// most three columns. A value runs to the next label. The value of DECISION is
// its line, which holds exactly one of the three words; CONTINUE and ERROR may
// be followed by a remark, DONE may not.
//
// The object has the member "decision", or "type" beside other members of a
// verdict: done, continue or error, or else approve, revise or escalate. It
// stands on lines of its own, in a final fence, or between <decision> and
// </decision>.
//
// Only the critic's own words decide. Lines inside a code fence, behind ">" or
// within the boundary of the prompt are quotations; a final fence that holds
// the whole block of labels, or the JSON object, is read when nothing else
// decides.
//
// Several decisions: among separate blocks the last one decides; a DONE that
// overrules another decision must be a block of its own, followed by its
// SUMMARY, CONFIDENCE or SCORE, or standing apart at the very end. Decision
// lines with nothing between them, a text and a JSON object, or two JSON
// objects contradict each other when they differ, and then nothing decides.
//
// Where the policy of a run wants structured replies, nothing but a JSON object
// decides, and what it must hold is for package critique to say.
//
// A reply that is torn, glued together from several, or still holds the
// placeholders of the instructions decides nothing either. Every doubt ends in
// a [ReplyError] rather than in a DONE.
package critic
