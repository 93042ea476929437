package config

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// ParseDuration is like [time.ParseDuration], but also accepts weeks and days at the
// beginning: 7d, 2w, 1d12h. The error is meant for users.
func ParseDuration(text string) (time.Duration, error) {
	bad := fmt.Errorf("%q is not a duration: write it like 7d, 2w or 36h", text)
	var sum float64
	rest := text
	for _, unit := range []struct {
		letter string
		hours  float64
	}{{"w", 7 * 24}, {"d", 24}} {
		number, behind, found := strings.Cut(rest, unit.letter)
		if !found {
			continue
		}
		hours, err := time.ParseDuration(number + "h") // parses the number
		if err != nil || strings.Trim(number, "0123456789.") != "" {
			return 0, bad
		}
		sum += hours.Hours() * unit.hours * float64(time.Hour)
		rest = behind
	}
	if rest != "" || rest == text {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 {
			return 0, bad
		}
		if sum == 0 {
			return d, nil
		}
		sum += float64(d)
	}
	if sum >= math.MaxInt64 {
		return 0, bad
	}
	return time.Duration(sum), nil
}
