// Package verdict reads what a critic decides from its reply, and holds it to the
// contract of the run.
//
// # The grammar of a reply
//
// [Parse] reads a reply in which the critic says what it wants said before,
// and then decides: with lines that begin with a label, or with a JSON object.
//
//	DECISION: DONE          DECISION: CONTINUE      DECISION: ERROR         DECISION: ESCALATE
//	SUMMARY: ...            FEEDBACK: ...           ANALYSIS: ...           ANALYSIS: ...
//	CONFIDENCE: 0.95        SEAL: k7f2qx            RECOVERY: ...           SEAL: k7f2qx
//	SEAL: k7f2qx                                    SEAL: k7f2qx
//
// The labels are DECISION, SUMMARY, CONFIDENCE, SCORE, FEEDBACK, ANALYSIS,
// RECOVERY and SEAL, in any case, with whatever Markdown around them, indented
// by at most three columns. A value runs to the next label. The value of DECISION
// is its line, which holds exactly one of the four words; all but DONE may be
// followed by a remark.
//
// Below a decision, a line "F1: settled" or "F1: withdrawn, because ..." says what
// has become of a finding of an earlier review; in an object it is the member
// "findings".
//
// The object has the member "decision", or "type" beside nothing but other
// members of a verdict: done, continue, error or escalate, or else approve or
// revise. No key comes twice. It stands on lines of its own, in a final fence,
// or between <decision> and </decision>.
//
// Only the critic's own words decide. Lines inside a code fence, behind ">" or
// within the boundary of the prompt are quotations; a final fence that holds
// the whole block of labels, or the JSON object, is read when nothing else
// decides, or when it is sealed.
//
// # One decision
//
// The prompt holds a random word, the seal. A block or an object that repeats it
// is sealed, and decides; another word in its place is no better than none. Without a
// sealed one the last of all decides. Either way every other decision in the
// critic's own words has to be the same, and all scores, and all confidences,
// have to be the same number: what differs is none.
//
// A decision by which the work goes on needs no more. One that ends it, a DONE, is
// none either when
//
//   - the reply names another decision anywhere else, be it quoted, in a tag, in
//     look-alike letters or in the middle of a sentence (under a seal: at the
//     beginning of a line);
//   - something open is named beside it: feedback, a recovery, issues;
//   - it is led in as a plan, or as somebody else's words;
//   - it is followed by more than a closing remark: by a plan, by a word that takes
//     it back or, without a seal, by anything long or with a title of its own;
//   - it has no seal, and is in the evidence word for word.
//
// Where a score decides, it stands above the feedback, alone in its line, and no
// other one stands anywhere in the reply.
//
// Where the policy of a run wants structured replies, nothing but a JSON object
// decides, and what it must hold is for the [Contract] to say; so it is where
// every decision has to be sealed.
//
// A reply that is torn, or still holds the placeholders of the instructions,
// decides nothing either. Every doubt ends in a [ReplyError], and the critic is
// asked again.
package verdict
