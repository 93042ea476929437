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
// and decides; a wrong seal counts as none. If nothing is sealed, the last decision counts.
// Either way, all decisions in the critic's own words must agree, and so must all scores
// and all confidences. Otherwise there is no decision.
//
// CONTINUE, ERROR and ESCALATE need no more than that. A DONE is rejected if
//
//   - the reply names another decision anywhere else, even quoted, in a tag, in
//     look-alike letters or in the middle of a sentence (with a seal: only at the
//     beginning of a line);
//   - something open is named beside it: feedback, a recovery, issues;
//   - it is introduced as a plan, or as somebody else's words;
//   - it is followed by more than a closing remark: by a plan, by a word that takes it
//     back or, without a seal, by anything long or with a title of its own;
//   - it has no seal, and occurs in the evidence word for word.
//
// If a score decides, it must be above the feedback, alone in its line, and the only score
// in the reply.
//
// If the policy of a run wants structured replies, only a JSON object decides, and the
// [Contract] says what it must hold. The contract may also require that every decision is
// sealed.
//
// A truncated reply, or one that still holds the placeholders of the instructions, decides
// nothing either. Every doubt is reported as a [ReplyError], and the critic is asked again.
package verdict
