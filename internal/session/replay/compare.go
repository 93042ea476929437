package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/screen/words"
)

// compare reports how an iteration differs today. Codeloops' own words about a failure are not
// compared: they change without meaning.
func (v *verifier) compare(today loop.Round) {
	log := v.now.round
	told := func(what, then, now string) {
		if then != now {
			v.differf("iteration %d: %s: %s in the log, %s today", log.Iteration, what, then, now)
		}
	}
	if v.run.ours && !slices.Equal(v.now.phases, v.phases) {
		told("its phases", names(v.now.phases), names(v.phases))
	}
	told("replies of the critic that could not be used", strconv.Itoa(len(v.now.replies)-1), strconv.Itoa(v.rejected))
	told("the critic", said(log.Review), said(today.Review))
	told("the decision that counts", string(log.Verdict.Decision), string(today.Verdict.Decision))
	if v.run.ours {
		told("why it counts as an error", quoted(log.Failure, words.Stop), quoted(today.Failure, words.Stop))
	}
	if log.Rule != "" { // older logs do not name it
		told("the rule that decided", quoted(log.Rule, words.Rule), quoted(today.Rule, words.Rule))
		told("what the rule ends the session with", quoted(log.Stop, words.Stop), quoted(today.Stop, words.Stop))
	}
	if log.Review.Problem != "" || today.Review.Problem != "" {
		return
	}
	then, now := log.Review.Verdict, today.Review.Verdict
	if a, b := then.Guidance(), now.Guidance(); a != b {
		v.differf("iteration %d: what the critic said: %s in the log, %s today", log.Iteration, short(a), short(b))
	}
	told("the confidence", number(then.Confidence), number(now.Confidence))
	told("the score", number(then.Score), number(now.Score))
	told("the escalation", cmp.Or(then.Escalation, nothing), cmp.Or(now.Escalation, nothing))
}

// end compares how the run ended, unless a loop does not decide that.
func (v *verifier) end(today loop.Outcome, over bool) {
	v.report.Outcome = v.run.end
	then := v.run.end
	if over {
		v.astray()
	}
	if v.report.Partly = v.foreign(); v.report.Partly != "" {
		if !over && v.played < v.run.whole {
			v.differf("today the loop ends after iteration %d (%s); the recorded session went on", v.report.Iterations, ended(today))
		}
		return
	}
	if over {
		if v.played < v.run.whole {
			return // reported already
		}
		v.differf("the recorded session ended after iteration %d (%s); today the loop goes on", v.report.Iterations, ended(*then))
		return
	}
	if then.Reason == loop.StopNone {
		today.Reason = loop.StopNone // the original's logs have no reason
	}
	if then.Result != today.Result || then.Reason != today.Reason || then.Iterations != today.Iterations {
		v.differf("the end: %s after %d in the log, %s after %d today", ended(*then), then.Iterations, ended(today), today.Iterations)
	}
	if then.Result == loop.Success && number(then.Confidence) != number(today.Confidence) && v.run.ours {
		v.differf("the confidence of the end: %s in the log, %s today", number(then.Confidence), number(today.Confidence))
	}
}

// astray reports that the loop has departed from the log, if no other difference shows it.
func (v *verifier) astray() {
	if v.played < v.run.whole && v.broken() == "" && len(v.report.Differences) == 0 {
		v.differf("after iteration %d the loop makes a step today that is not in the log", v.report.Iterations)
	}
}

// broken says why the log does not hold the iteration that is being played, "" if it should not.
func (v *verifier) broken() string {
	if v.over {
		return v.run.broken
	}
	return ""
}

// foreign says why a loop does not decide the end, "" if it does.
func (v *verifier) foreign() string {
	end := v.run.end
	switch {
	case v.broken() != "":
		return v.broken()
	case end == nil:
		return "the log has no end"
	case end.Reason == loop.StopNone && (end.Result == loop.Success || end.Result == loop.MaxIterations):
		return ""
	case slices.Contains([]loop.StopReason{loop.StopDone, loop.StopMaxIterations, loop.StopPolicyEscalation, loop.StopStuck}, end.Reason),
		tooManyErrors(end.Reason), end.Reason.Violates() != "":
		return ""
	}
	return "the session ended as " + ended(*end) + ", which no loop decides"
}

func ended(o loop.Outcome) string {
	if o.Reason == loop.StopNone || string(o.Reason) == string(o.Result) {
		return words.Outcome(string(o.Result))
	}
	return fmt.Sprintf("%s, %s", words.Outcome(string(o.Result)), words.End(o))
}

func said(r loop.Review) string {
	if r.Problem != "" {
		return "no verdict"
	}
	return string(r.Verdict.Decision)
}

func names(states []loop.State) string {
	said := make([]string, len(states))
	for i, s := range states {
		said[i] = words.Phase(s)
	}
	return strconv.Quote(strings.Join(said, ", "))
}

func number(n *float64) string {
	if n == nil {
		return "none"
	}
	return strconv.FormatFloat(*n, 'g', -1, 64)
}

// nothing stands for an empty word.
const nothing = "nothing"

// quoted quotes what stands for a name in words.
func quoted[T ~string](name T, inWords func(T) string) string {
	if name == "" {
		return nothing
	}
	return strconv.Quote(inWords(name))
}

// short quotes the beginning of a text.
func short(text string) string {
	const most = 60
	if text == "" {
		return nothing
	}
	if r := []rune(text); len(r) > most {
		return fmt.Sprintf("%q… (%d bytes)", string(r[:most]), len(text))
	}
	return fmt.Sprintf("%q", text)
}
