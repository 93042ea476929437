package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// setUp starts a line of a commit's message that says how git was set up: the
// SHA-256 of a value, and what it is of as a Go string. The commit's id, which is
// kept elsewhere, vouches for it.
const setUp = "Set-up: "

// setUpKnown is the line after which those stand, of which there may be none.
const setUpKnown = "Set-up-known: yes"

// Digest returns what stands for a value in [Checkpoint.Setup].
func Digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

func appendSetup(message string, setup map[string]string) string {
	message = strings.TrimRight(message, "\n") + "\n"
	message = strings.ReplaceAll("\n"+message, "\n"+setUpKnown, "\n "+setUpKnown)[1:] // it is no such line
	if setup == nil {
		return message
	}
	b := fmt.Appendf([]byte(message), "\n%s\n", setUpKnown)
	for _, name := range slices.Sorted(maps.Keys(setup)) {
		b = fmt.Appendf(b, "%s%s %s\n", setUp, setup[name], strconv.QuoteToASCII(name))
	}
	return string(b)
}

func parseSetup(message string) map[string]string {
	_, lines, known := strings.Cut(message, "\n"+setUpKnown+"\n")
	if !known {
		return nil
	}
	setup := make(map[string]string)
	for line := range strings.Lines(lines) {
		rest, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), setUp)
		digest, quoted, _ := strings.Cut(rest, " ")
		if name, err := strconv.Unquote(quoted); found && err == nil {
			setup[name] = digest
		}
	}
	return setup
}
