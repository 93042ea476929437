package agent

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A resetText is a known sentence in which a CLI, or its model's service, says when a
// limit ends. Nothing is guessed from unknown ones.
type resetText struct {
	pattern string // of a whole message, or of its beginning
	when    func(now time.Time, found []string) (time.Time, bool)
}

// resetTexts returns the sentences of Claude Code, Codex, Gemini CLI and the services of
// OpenAI and Google.
func resetTexts() []resetText {
	return []resetText{
		{`^Claude AI usage limit reached\|(\d{10})$`, ofUnix},
		{`^(?:You've hit your (?:[\w-]+ )?limit|\d+-hour limit reached) [·∙] resets (\d{1,2}(?::\d\d)?[ap]m)(?: \(([\w/+-]+)\))?`, ofClock},
		{`^You['’]ve hit your usage limit\. .*[Tt]ry again at (\d{1,2}:\d\d [AP]M)\.`, ofClock},
		{`^You['’]ve hit your usage limit\. .*[Tt]ry again at (\w{3} \d{1,2})\w\w, (\d{4} \d{1,2}:\d\d [AP]M)\.`, ofDate},
		{`^You['’]ve hit your usage limit\. .*[Tt]ry again in ((?:\d+ (?:day|hour|minute|second)s? ?)+)\.`, ofWords},
		{`^You have exhausted your capacity on this model\. Your quota will reset after ([\dhms.]+s)\.`, ofPause},
		{`^You exceeded your current quota.* (?:Please retry in|Suggested retry after) ([\dhms.]+s)\.`, ofPause},
		{`^(?:429 )?Rate limit reached for .* Please try again in ([\dhms.]+s)\.`, ofPause},
	}
}

// resetIn returns when the limit in a message ends; zero if it does not say so in known
// words.
func resetIn(message string, now time.Time) time.Time {
	for _, known := range resetTexts() {
		found := regexp.MustCompile(known.pattern).FindStringSubmatch(message)
		if found == nil {
			continue
		}
		if at, ok := known.when(now, found[1:]); ok {
			return at.UTC()
		}
	}
	return time.Time{}
}

func ofUnix(_ time.Time, found []string) (time.Time, bool) {
	seconds, err := strconv.ParseInt(found[0], 10, 64)
	return time.Unix(seconds, 0), err == nil
}

const (
	// minuteLeft is added because the CLIs omit the seconds: the limit ends somewhere in
	// the minute that they name.
	minuteLeft = time.Minute
	// justPast is how far a time of day may lie in the past and still mean today: the
	// limit may have ended just before the turn did.
	justPast = 10 * time.Minute
)

// ofClock reads a time of day, in the zone that is named or else in the user's, and
// returns when it comes next.
func ofClock(now time.Time, found []string) (time.Time, bool) {
	zone := now.Location()
	if len(found) > 1 && found[1] != "" {
		named, err := time.LoadLocation(found[1])
		if err != nil {
			return time.Time{}, false
		}
		zone = named
	}
	for _, layout := range []string{"3pm", "3:04pm", "3:04 PM"} {
		clock, err := time.Parse(layout, found[0])
		if err != nil {
			continue
		}
		local := now.In(zone)
		for day := local.Day() - 1; ; day++ {
			at := time.Date(local.Year(), local.Month(), day, clock.Hour(), clock.Minute(), 0, 0, zone)
			if !at.Before(now.Add(-justPast)) {
				return within(at, now), true
			}
		}
	}
	return time.Time{}, false
}

func ofDate(now time.Time, found []string) (time.Time, bool) {
	at, err := time.ParseInLocation("Jan 2, 2006 3:04 PM", found[0]+", "+found[1], now.Location())
	return within(at, now), err == nil
}

// within returns when to expect the end of a limit that ends within a minute: at the end
// of the minute, or at once if it has begun.
func within(minute, now time.Time) time.Time {
	if minute.After(now) {
		return minute.Add(minuteLeft)
	}
	return minute
}

func ofPause(now time.Time, found []string) (time.Time, bool) {
	pause, err := time.ParseDuration(found[0])
	return now.Add(pause), err == nil
}

// ofWords reads a pause such as "3 days 6 hours 57 minutes".
func ofWords(now time.Time, found []string) (time.Time, bool) {
	units := map[string]time.Duration{"day": 24 * time.Hour, "hour": time.Hour, "minute": time.Minute, "second": time.Second}
	words := strings.Fields(found[0])
	for i := 0; i+1 < len(words); i += 2 {
		n, err := strconv.Atoi(words[i])
		if err != nil || n > 1000 {
			return time.Time{}, false
		}
		now = now.Add(time.Duration(n) * units[strings.TrimSuffix(words[i+1], "s")])
	}
	return now, true
}
