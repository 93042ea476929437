package wording

import (
	"fmt"
	"strings"
	"time"
)

// Count returns a number with a noun, which gets an s unless the number is 1.
func Count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// List joins at most so many texts with commas, and counts the rest.
func List(texts []string, most int) string {
	if rest := len(texts) - most; rest > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(texts[:most], ", "), rest)
	}
	return strings.Join(texts, ", ")
}

// Bytes formats a size for people.
func Bytes[N int | int64](n N) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, names := float64(n)/unit, "KMGT"
	for value >= unit && len(names) > 1 {
		value, names = value/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %ciB", value, names[0])
}

// Duration writes a duration as people do: 90 minutes are 1h30m.
func Duration(d time.Duration) string {
	said := d.String()
	for _, nothing := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(said, nothing) {
			said = said[:len(said)-2]
		}
	}
	return said
}
