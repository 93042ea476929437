package agent

import (
	"strconv"
	"strings"
	"time"

	"codeloops/internal/wording"
)

const (
	// minuteLeft is added because the CLIs omit the seconds: the limit ends somewhere in
	// the minute that they name.
	minuteLeft = time.Minute
	// justPast is how far a time of day may lie in the past and still mean today: the
	// limit may have ended just before the turn did.
	justPast = 10 * time.Minute
	// halfYear is how far a date without a year may lie in the past.
	halfYear = 183 * 24 * time.Hour
)

// A moment is a time as people write it; what they leave out is zero.
type moment struct {
	year, day int
	month     time.Month
	weekday   string
	tomorrow  bool
	clock     time.Time // its time of day counts
	exact     bool      // clock has seconds
	zone      *time.Location
	foreign   bool // the zone is unknown
}

// halfOfDay matches the "p.m." of a time of day, with what separates it.
var halfOfDay = wording.Pattern(`(?i)(\d) ?([ap])\.?m(?:\b\.?|$)`)

// momentOf reads the time at the start of a text, such as "9pm (UTC)", "Mon 9:30 AM PST",
// "Nov 30th, 2026 at 3pm" or "2026-12-01 15:00 +02:00". Without a zone it is in the
// user's, without a day it comes next, without a time of day it is the day's beginning.
func momentOf(now time.Time, text string) (time.Time, bool) {
	var m moment
	text = halfOfDay().ReplaceAllString(text, "${1}${2}m ")
	for word := range strings.FieldsSeq(text) {
		bare := strings.Trim(word, "(),.;")
		if bare != "" && !m.take(bare) || strings.HasSuffix(word, ".") {
			break
		}
	}
	return m.next(now)
}

func (m *moment) take(word string) bool {
	switch lower := strings.ToLower(word); lower {
	case "at", "on", "next", "today":
		return true
	case "tomorrow":
		m.tomorrow = true
		return true
	}
	return m.takeClock(word) || m.takeDay(word) || m.takeZone(word)
}

func (m *moment) takeClock(word string) bool {
	if at, err := time.Parse(time.RFC3339, word); err == nil {
		m.year, m.month, m.day = at.Date()
		m.clock, m.exact, m.zone = at, true, at.Location()
		return true
	}
	for _, layout := range []string{"3pm", "3:04pm", "15:04", "15:04:05"} {
		if clock, err := time.Parse(layout, strings.ToLower(word)); err == nil && m.clock.IsZero() {
			m.clock, m.exact = clock, layout == "15:04:05"
			return true
		}
	}
	return false
}

func (m *moment) takeDay(word string) bool {
	if at, err := time.Parse(time.DateOnly, word); err == nil {
		m.year, m.month, m.day = at.Date()
		return true
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if abbreviates(word, day.String()) {
			m.weekday = day.String()
			return true
		}
	}
	for month := time.January; month <= time.December; month++ {
		if abbreviates(word, month.String()) {
			m.month = month
			return true
		}
	}
	n, err := strconv.Atoi(strings.TrimRight(word, "stndrh"))
	switch {
	case err != nil:
		return false
	case n >= 1 && n <= 31 && m.day == 0:
		m.day = n
	case n >= 2000 && n <= 9999 && m.year == 0:
		m.year = n
	default:
		return false
	}
	return true
}

// abbreviates reports whether a word is a name, or at least three letters of its beginning.
func abbreviates(word, name string) bool {
	return len(word) >= 3 && len(word) <= len(name) && strings.EqualFold(word, name[:len(word)])
}

// offset matches "+02:00", "UTC+2" and "GMT-0530".
var offset = wording.Pattern(`^(?:UTC|GMT)?([+-])(\d\d?)(?::?(\d\d))?$`)

// looksZone matches what must be a zone, even an unknown one.
var looksZone = wording.Pattern(`^(?:[A-Z]{1,5}|[A-Za-z_]+(?:/[\w+-]+)+)$`)

func (m *moment) takeZone(word string) bool {
	if found := offset().FindStringSubmatch(word); found != nil {
		hours, _ := strconv.Atoi(found[2])
		minutes, _ := strconv.Atoi(found[3])
		seconds := (hours*60 + minutes) * 60
		if found[1] == "-" {
			seconds = -seconds
		}
		m.zone = time.FixedZone(word, seconds)
		return true
	}
	if !looksZone().MatchString(word) {
		return false
	}
	places := map[string]string{ // those that are no names of zones themselves
		"Z": "UTC", "PT": "America/Los_Angeles", "PST": "America/Los_Angeles", "PDT": "America/Los_Angeles",
		"MT": "America/Denver", "MDT": "America/Denver", "CT": "America/Chicago", "CST": "America/Chicago", "CDT": "America/Chicago",
		"ET": "America/New_York", "EST": "America/New_York", "EDT": "America/New_York",
		"BST": "Europe/London", "CEST": "CET", "EEST": "EET", "WEST": "WET", "JST": "Asia/Tokyo",
	}
	if place, ok := places[word]; ok {
		word = place
	}
	zone, err := time.LoadLocation(word)
	m.zone, m.foreign = zone, err != nil
	return err == nil
}

// next returns the next time that a moment may mean.
func (m *moment) next(now time.Time) (time.Time, bool) {
	zone := now.Location()
	if m.zone != nil {
		zone = m.zone
	}
	local := now.In(zone)
	on := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, m.clock.Hour(), m.clock.Minute(), m.clock.Second(), 0, zone)
	}
	switch {
	case m.foreign || (m.month == 0) != (m.day == 0):
		return time.Time{}, false
	case m.month != 0:
		year := m.year
		if year == 0 {
			year = local.Year()
			if on(year, m.month, m.day).Before(now.Add(-halfYear)) {
				year++
			}
		}
		at := on(year, m.month, m.day)
		return m.within(at, now), at.Day() == m.day
	case m.tomorrow:
		return m.within(on(local.Year(), local.Month(), local.Day()+1), now), true
	case m.weekday == "" && m.clock.IsZero():
		return time.Time{}, false
	}
	for day := local.Day() - 1; ; day++ {
		at := on(local.Year(), local.Month(), day)
		if !at.Before(now.Add(-justPast)) && (m.weekday == "" || m.weekday == at.Weekday().String()) {
			return m.within(at, now), true
		}
	}
}

// within returns when to expect the end of a limit that ends within a minute: at the end
// of the minute, or at once if it has begun.
func (m *moment) within(at, now time.Time) time.Time {
	if at.After(now) && !m.exact && !m.clock.IsZero() {
		return at.Add(minuteLeft)
	}
	return at
}
