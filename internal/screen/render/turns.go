package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
)

// TurnSummary says how a strategy's own turn went: who played it, how it ended, what it used.
func TurnSummary(t loop.Turn) string { return turnSummary(t, endingOf(t)) }

func turnSummary(t loop.Turn, ending string) string {
	parts := []string{ending}
	if t.Agent.Agent != "" {
		parts = []string{Who(t.Agent), ending}
	}
	if k := t.Usage.Tokens; k != nil {
		parts = append(parts, estimated(Tokens(k.All())+" tokens", t.Usage.TokensEstimated))
	}
	if usd := t.Usage.CostUSD; usd != nil {
		parts = append(parts, estimated(Dollars(*usd), t.Usage.CostEstimated))
	}
	return strings.Join(parts, ", ")
}

func estimated(figure string, so bool) string {
	if so {
		return "about " + figure
	}
	return figure
}

// StepName names the step of a turn, which distinguishes it from other turns of its role.
func StepName(at loop.Stamp, iteration int) string {
	if at.Step == "" {
		return strconv.Itoa(iteration)
	}
	return term.Line(string(at.Step))
}

// Used says how many tokens and dollars were used, and their limits; a limit of 0 is none.
func Used(tokens, mostTokens int64, usd, mostUSD float64) (parts []string) {
	if mostTokens > 0 {
		parts = append(parts, Tokens(tokens)+" of "+Tokens(mostTokens)+" tokens")
	} else if tokens > 0 {
		parts = append(parts, Tokens(tokens)+" tokens")
	}
	if mostUSD > 0 {
		parts = append(parts, Dollars(usd)+" of "+Dollars(mostUSD))
	} else if usd > 0 {
		parts = append(parts, Dollars(usd))
	}
	return parts
}

// Dollars writes a cost.
func Dollars(usd float64) string {
	if usd > 0 && usd < 0.005 {
		return "<$0.01"
	}
	return fmt.Sprintf("$%.2f", usd)
}

// Tokens writes a rounded number of tokens.
func Tokens(n int64) string {
	switch {
	case n < 10_000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Verb says in one word what an agent does.
func Verb(k loop.NoticeKind) string {
	switch k {
	case loop.NoticeMessage:
		return "says"
	case loop.NoticeTool:
		return "uses"
	case loop.NoticeCommand:
		return "runs"
	case loop.NoticeEdit:
		return "edits"
	case loop.NoticeProblem:
		return "fault"
	case loop.NoticeChange:
		return "next"
	case loop.NoticeOutput, loop.NoticeLook:
	}
	return "prints"
}

// Clock writes how long something has taken so far: 4:05 or 1:02:03.
func Clock(d time.Duration) string {
	seconds := int(max(0, d) / time.Second)
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

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
	var said []string
	for len(waits) > 0 {
		who, why := Who(waits[0].Agent), obstacle(waits[0].Cause)
		n, took := 0, time.Duration(0)
		for ; n < len(waits) && Who(waits[n].Agent) == who && obstacle(waits[n].Cause) == why; n++ {
			took += waits[n].Duration
		}
		if n > 1 {
			why += fmt.Sprintf(", %d times", n)
		}
		switch waits[n-1].End {
		case loop.WaitHurried:
			why += ", cut short"
		case loop.WaitInterrupted:
			why += ", interrupted"
		case loop.WaitOver:
		}
		said = append(said, fmt.Sprintf("%s for %s (%s)", Span(took), who, why))
		waits = waits[n:]
	}
	if said == nil {
		return ""
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

// WaitNote says, as an addition to a time, how much of it was spent waiting for services; "" if nothing
// was.
func WaitNote(waited time.Duration) string {
	if waited <= 0 {
		return ""
	}
	return ", " + Span(waited) + " of it waiting"
}
