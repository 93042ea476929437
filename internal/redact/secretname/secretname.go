// Package secretname knows which environment variables hold secrets.
package secretname

import (
	"slices"
	"strings"
)

// Is reports whether a variable of that name is taken to hold a secret, in letters of any case:
// *_KEY, *_PAT, *_PASS, *TOKEN*, *SECRET*, *PASSWORD*, *PASSWD*, *PASSPHRASE*, *CREDENTIAL*, SSHPASS,
// MYSQL_PWD and *AUTH*.
func Is(name string) bool {
	name = strings.ToUpper(name)
	has := func(part string) bool { return strings.Contains(name, part) }
	ends := func(end string) bool { return strings.HasSuffix(name, end) }
	return slices.ContainsFunc([]string{"_KEY", "_PAT", "_PASS"}, ends) ||
		slices.ContainsFunc([]string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"}, has) ||
		name == "SSHPASS" || name == "MYSQL_PWD" || authorizes(name)
}

// authorizes reports whether a name is about authorization, and not about an author, or about where
// and how something signs in.
func authorizes(name string) bool {
	words := strings.Split(name, "_")
	about := slices.ContainsFunc(words, func(word string) bool { return strings.HasSuffix(word, "AUTH") || word == "AUTHORIZATION" })
	return about && !slices.Contains([]string{
		"DIR", "DOMAIN", "ENABLED", "FILE", "HOST", "ID", "METHOD", "MODE", "PATH", "PORT", "PROVIDER", "SOCK", "TYPE", "URI", "URL", "USER",
	}, words[len(words)-1])
}
