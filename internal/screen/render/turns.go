package render

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
)

// Turned says how a strategy's own turn went: who played it, how it ended, what it used.
func Turned(t loop.Turn) string { return turned(t, went(t)) }

func turned(t loop.Turn, ending string) string {
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

// Limit writes a time limit.
func Limit(d time.Duration) string {
	said := d.String()
	for _, nothing := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(said, nothing) {
			said = said[:len(said)-2]
		}
	}
	return said
}
