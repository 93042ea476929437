package agent

import (
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // many containers have no time zones

	"codeloops/internal/wording"
)

// ofLimit matches how a message begins in which a CLI, or its model's service, says that a
// limit is reached. Nothing is guessed from other messages, which may be about limits.
var ofLimit = wording.Pattern(`^(?:\d{3}:? )?(?:You(?:['’]ve| have)? (?:hit|reached|exceeded|exhausted) your [^.:]*?(?:limit|quota|capacity)\b|` +
	`(?i:(?:[\w-]+ ){0,3}(?:limit|quota) (?:reached|exceeded)\b|too many requests\b|(?:please )?(?:try again|retry|resets) ))`)

// unixEnd is how Claude Code once said it.
var unixEnd = wording.Pattern(`^Claude AI usage limit reached\|(\d{10})$`)

// opensEnd matches what stands before the end of a limit.
var opensEnd = wording.Pattern(`(?i)\b(?:try again|retry|resets?|available(?: again)?)(?: (?:at|on|in|after))?:? `)

// resetIn returns when the limit in a message ends; zero if it does not say so in a known
// way.
func resetIn(message string, now time.Time) time.Time {
	if found := unixEnd().FindStringSubmatch(message); found != nil {
		seconds, _ := strconv.ParseInt(found[1], 10, 64) // ten digits
		return time.Unix(seconds, 0).UTC()
	}
	if !ofLimit().MatchString(message) {
		return time.Time{}
	}
	for _, at := range opensEnd().FindAllStringIndex(message, -1) {
		rest := message[at[1]:]
		if end, ok := afterPause(now, rest); ok {
			return end.UTC()
		}
		if end, ok := momentOf(now, rest); ok {
			return end.UTC()
		}
	}
	return time.Time{}
}

// pausePart matches a part of "3 days, 6 hours and 57 minutes" or "21h53m56.5s".
var pausePart = wording.Pattern(`^,? ?(?:and )?(\d+(?:\.\d+)?) ?([a-z]+)`)

// longestPart bounds a part of a pause, in any unit.
const longestPart = 10_000

func afterPause(now time.Time, text string) (time.Time, bool) {
	units := map[string]time.Duration{
		"week": 7 * 24, "w": 7 * 24, "day": 24, "d": 24, "hour": 1, "hr": 1, "h": 1, // of "h"
		"minute": 1, "min": 1, "m": 1, "second": 1, "sec": 1, "s": 1, "ms": 1,
	}
	began := len(text)
	for {
		part := pausePart().FindStringSubmatch(text)
		if part == nil {
			return now, len(text) < began
		}
		unit := part[2]
		if len(unit) > 2 {
			unit = strings.TrimSuffix(unit, "s")
		}
		times, known := units[unit]
		if n, err := strconv.ParseFloat(part[1], 64); err != nil || n > longestPart || !known {
			return now, false
		}
		switch {
		case times > 1:
			unit = "h"
		case unit != "ms":
			unit = unit[:1]
		}
		pause, err := time.ParseDuration(part[1] + unit)
		if err != nil {
			return now, false
		}
		now, text = now.Add(pause*times), text[len(part[0]):]
	}
}
