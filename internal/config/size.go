package config

import (
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
	return []sizeUnit{{"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"KB", 1e3}, {"B", 1}, {"", 1}}
}

// parseSize reads "256MiB", "10 KB" or "512". A bare number is in bytes; the case of the
// unit does not matter.
func parseSize(s string) (Size, error) {
	for _, u := range sizeUnits() {
		number, has := strings.CutSuffix(strings.ToUpper(s), strings.ToUpper(u.name))
		n, err := strconv.ParseUint(strings.TrimRight(number, " "), 10, 63)
		if has && err == nil && n <= math.MaxInt64/uint64(u.bytes) {
			return Size(n) * u.bytes, nil
		}
	}
	return 0, fmt.Errorf("%q is not a size", s)
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
