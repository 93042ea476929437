package patch

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// devNull stands for the side of a file that does not exist.
const devNull = "/dev/null"

// names are the quoted names of the two sides: for the "diff --git" line, where
// both are always there, and for the lines below it.
type names struct {
	gitBefore, gitAfter string
	before, after       string
}

func namesOf(from, to string, before, after Side) names {
	n := names{gitBefore: quote("a/" + from), gitAfter: quote("b/" + to)}
	n.before, n.after = n.gitBefore, n.gitAfter
	if !before.exists() {
		n.before = devNull
	}
	if !after.exists() {
		n.after = devNull
	}
	return n
}

// appendHeader appends the lines down to the "index" line, with those of a rename
// before it.
func appendHeader(dst []byte, n names, before, after Side, rename string) []byte {
	dst = appendAll(dst, "diff --git ", n.gitBefore, " ", n.gitAfter, "\n")
	switch {
	case !before.exists():
		dst = appendAll(dst, "new file mode ", octal(after.Mode), "\n")
	case !after.exists():
		dst = appendAll(dst, "deleted file mode ", octal(before.Mode), "\n")
	case before.Mode != after.Mode:
		dst = appendAll(dst, "old mode ", octal(before.Mode), "\nnew mode ", octal(after.Mode), "\n")
	}
	dst = append(dst, rename...)
	if before.ID == after.ID {
		return dst
	}
	dst = hex.AppendEncode(append(dst, "index "...), before.ID[:])
	dst = hex.AppendEncode(append(dst, ".."...), after.ID[:])
	if before.Mode == after.Mode {
		dst = appendAll(dst, " ", octal(after.Mode))
	}
	return append(dst, '\n')
}

// appendNames appends the "---" line with the "+++" line.
func appendNames(dst []byte, n names) []byte {
	return appendAll(dst, "--- ", n.before, tab(n.before), "\n+++ ", n.after, tab(n.after), "\n")
}

// appendAll is what takes the least memory here in a new process.
func appendAll(dst []byte, texts ...string) []byte {
	for _, text := range texts {
		dst = append(dst, text...)
	}
	return dst
}

// octal returns a mode in the six digits that git gives it.
func octal(mode uint32) string {
	digits := strconv.FormatUint(uint64(mode), 8)
	return strings.Repeat("0", max(6-len(digits), 0)) + digits
}

// tab ends a name that has a space, so that GNU patch does not take what
// follows the space for a date.
func tab(name string) string {
	if strings.Contains(name, " ") {
		return "\t"
	}
	return ""
}

// appendDiffer appends the line that stands for the hunks of binary files.
func appendDiffer(dst []byte, n names) []byte {
	return fmt.Appendf(dst, "Binary files %s and %s differ\n", n.before, n.after)
}

// appendTooLarge appends the sizes of a file whose content was not looked at.
// Every parser of patches skips a line like this between two files.
func appendTooLarge(dst []byte, before, after Side) []byte {
	switch {
	case !before.exists():
		return fmt.Appendf(dst, "# too large to compare: %d bytes\n", after.size())
	case !after.exists():
		return fmt.Appendf(dst, "# too large to compare: %d bytes before\n", before.size())
	default:
		return fmt.Appendf(dst, "# too large to compare: %d bytes before, %d bytes after\n", before.size(), after.size())
	}
}
