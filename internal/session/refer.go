package session

import (
	"fmt"
	"strconv"
	"strings"
)

// latestWord refers to the session that began last, and "latest~N" to the one N before it.
const latestWord = "latest"

// Resolve returns the id that a reference stands for: what [Store.Find] takes, or "latest" or
// "latest~N", which are looked up among the sessions that count; nil counts all. "" is
// "latest". The error is [ErrNotFound] or an [*AmbiguousError] if there is not exactly one.
func (s *Store) Resolve(ref string, counts func(Overview) bool) (string, error) {
	if ref == "" || ref == latestWord {
		return s.Latest(counts)
	}
	back, ok := strings.CutPrefix(ref, latestWord+"~")
	if !ok {
		return s.Find(ref)
	}
	n, err := strconv.Atoi(back)
	if err != nil || n < 0 {
		return "", fmt.Errorf("%w: %q is not %s~ with a number behind it", ErrNotFound, ref, latestWord)
	}
	id, err := s.back(n, counts)
	if err == nil && id == "" {
		err = fmt.Errorf("%w: %s holds fewer than %s says", ErrNotFound, s.dir, ref)
	}
	return id, err
}

// IsLatest reports whether a reference counts from the latest session, rather than naming one.
func IsLatest(ref string) bool {
	return ref == "" || ref == latestWord || strings.HasPrefix(ref, latestWord+"~")
}
