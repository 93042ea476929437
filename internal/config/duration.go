package config

import (
	"fmt"
	"time"
)

// ParseDuration reads a span of time as [time.ParseDuration] does, and beyond that
// days (7d) and weeks (2w). The error is a sentence.
func ParseDuration(text string) (time.Duration, error) {
	bad := fmt.Errorf("%q is no span of time: write 7d, 2w or 36h", text)
	if n := len(text) - 1; n > 0 && (text[n] == 'd' || text[n] == 'w') {
		hours, err := time.ParseDuration(text[:n] + "h")
		unit := time.Duration(24)
		if text[n] == 'w' {
			unit *= 7
		}
		if err != nil || hours < 0 || hours > (1<<63-1)/unit {
			return 0, bad
		}
		return hours * unit, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, bad
	}
	return d, nil
}
