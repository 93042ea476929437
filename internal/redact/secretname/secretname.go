// Package secretname knows which environment variables hold secrets.
package secretname

import "strings"

// Is reports whether a variable of that name is taken to hold a secret:
// *_KEY, *TOKEN*, *SECRET* and *PASSWORD*, in letters of any case.
func Is(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasSuffix(name, "_KEY") || strings.Contains(name, "TOKEN") ||
		strings.Contains(name, "SECRET") || strings.Contains(name, "PASSWORD")
}
