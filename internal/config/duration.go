package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"codeloops/internal/wording"
)

// span matches weeks and days, and the rest of a duration.
var span = wording.Pattern(`(?s)^(?:([0-9.]+)w)?(?:([0-9.]+)d)?(.*)$`)

// ParseDuration is like [time.ParseDuration], but also accepts weeks and days at the
// beginning: 7d, 2w, 1d12h. The error is meant for users.
func ParseDuration(text string) (time.Duration, error) {
	parts := span().FindStringSubmatch(text)
	weeks, noWeeks := strconv.ParseFloat(cmp.Or(parts[1], "0"), 64)
	days, noDays := strconv.ParseFloat(cmp.Or(parts[2], "0"), 64)
	rest, noRest := time.ParseDuration(cmp.Or(parts[3], "0"))
	sum := (7*weeks + days) * float64(24*time.Hour)
	if errors.Join(noWeeks, noDays, noRest) != nil || text == "" || rest < 0 || sum >= math.MaxInt64 || rest > math.MaxInt64-time.Duration(sum) {
		return 0, fmt.Errorf("%q is not a duration: write it like 7d, 2w or 36h", text)
	}
	return time.Duration(sum) + rest, nil
}

// formatDuration writes a duration with a single unit if possible, up to days. An hour is
// 60m, because that is how time limits of turns are usually written.
func formatDuration(d time.Duration) string {
	for _, unit := range []struct {
		name string
		is   time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}} {
		if d != 0 && d%unit.is == 0 && (d != time.Hour || unit.name == "m") {
			return strconv.FormatInt(int64(d/unit.is), 10) + unit.name
		}
	}
	return d.String()
}
