package config

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Size is a number of bytes, never negative.
type Size int64

type sizeUnit struct {
	name  string
	bytes Size
}

// sizeUnits lists the units, largest first. Those with an "i" are binary (IEC 80000-13),
// the others decimal.
func sizeUnits() []sizeUnit {
	return []sizeUnit{
		{"GiB", 1 << 30},
		{"GB", 1e9},
		{"MiB", 1 << 20},
		{"MB", 1e6},
		{"KiB", 1 << 10},
		{"KB", 1e3},
		{"B", 1},
	}
}

// parseSize reads "256MiB", "10 KB" or "512". A bare number is in bytes; the case of the
// unit does not matter.
func parseSize(s string) (Size, error) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	number, unit := s[:digits], strings.TrimLeft(s[digits:], " ")
	if number == "" {
		return 0, fmt.Errorf("read size %q: no number at its start", s)
	}
	for _, u := range sizeUnits() {
		if !strings.EqualFold(u.name, cmp.Or(unit, "B")) {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n > math.MaxInt64/int64(u.bytes) {
			return 0, fmt.Errorf("read size %q: too large", s)
		}
		return Size(n) * u.bytes, nil
	}
	return 0, fmt.Errorf("read size %q: unknown unit", s)
}

// String formats the size with the largest unit that leaves a whole number. parseSize
// reads it back.
func (s Size) String() string {
	for _, u := range sizeUnits() {
		if s != 0 && s%u.bytes == 0 {
			return strconv.FormatInt(int64(s/u.bytes), 10) + u.name
		}
	}
	return "0B"
}
