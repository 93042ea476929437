package config_test

import (
	"testing"
	"time"

	"codeloops/internal/config"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"7d": 7 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "36h": 36 * time.Hour, "1.5d": 36 * time.Hour, "0d": 0, "0s": 0, "1d12h": 36 * time.Hour, "1w1d": 8 * 24 * time.Hour, "1d1h30m": 25*time.Hour + 30*time.Minute,
	} {
		if got, err := config.ParseDuration(text); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "7", "-1d", "-1h", "1d2", "1y", "99999999d", "NaNd", "Infd", "1hd", "1h1d", "1d-1h", "1d1w", "+1d", "1d ", "1d\n", "400000d"} {
		if got, err := config.ParseDuration(text); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"7d", "2w", "1.5d", "-1d", "9999999w", "1e3d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := config.ParseDuration(text); err == nil && d < 0 {
			t.Errorf("%q is %v", text, d)
		}
	})
}
