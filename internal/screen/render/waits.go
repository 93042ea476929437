package render

import (
	"fmt"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
)

// waiting says what a run waits for, and until when.
func waiting(w loop.Wait, zone *time.Location) string {
	what := "the rate limit is reached"
	if w.Cause == loop.EndOverloaded {
		what = "the model's service is overloaded"
	}
	if w.Reason != "" {
		what += " (" + term.Line(w.Reason) + ")"
	}
	return fmt.Sprintf("%s: waiting until %s", what, w.Until.In(zone).Format("15:04:05"))
}

// Waited sums up the waits of a turn by agent: "waited 12m 03s for claude (rate limit)"; "" if
// there were none.
func Waited(waits []loop.Wait) string {
	type pause struct {
		who, why string
		took     time.Duration
		times    int
		end      loop.WaitEnd
	}
	var pauses []*pause
	for _, w := range waits {
		who, why := Who(w.Agent), obstacle(w.Cause)
		last := len(pauses) - 1
		if last < 0 || pauses[last].who != who || pauses[last].why != why {
			pauses = append(pauses, &pause{who: who, why: why})
			last++
		}
		p := pauses[last]
		p.took, p.times, p.end = p.took+w.Duration, p.times+1, w.End
	}
	if len(pauses) == 0 {
		return ""
	}
	said := make([]string, len(pauses))
	for i, p := range pauses {
		how := p.why
		if p.times > 1 {
			how += fmt.Sprintf(", %d times", p.times)
		}
		switch p.end {
		case loop.WaitHurried:
			how += ", cut short"
		case loop.WaitInterrupted:
			how += ", interrupted"
		case loop.WaitOver:
		}
		said[i] = fmt.Sprintf("%s for %s (%s)", Span(p.took), p.who, how)
	}
	return "waited " + strings.Join(said, ", ")
}

// Awaited describes a wait whose end the log does not tell, with the expected end.
func Awaited(w loop.Wait, zone *time.Location) string {
	return fmt.Sprintf("waiting for %s until %s (%s)", Who(w.Agent), w.Until.In(zone).Format(time.DateTime), obstacle(w.Cause))
}

// obstacle says in two words why a service could not be used.
func obstacle(cause loop.Ending) string {
	if cause == loop.EndOverloaded {
		return "overload"
	}
	return "rate limit"
}

// OfIt says, as an addition to a time, how much of it was spent waiting for services; "" if nothing
// was.
func OfIt(waited time.Duration) string {
	if waited <= 0 {
		return ""
	}
	return ", " + Span(waited) + " of it waiting"
}
