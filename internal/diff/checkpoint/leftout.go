package checkpoint

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
)

// leftOut starts a line of a commit's message that stands for a file that is
// not in its tree: mode, id, size in bytes, and the path as a Go string. It is a
// large one, or the commit of a repository whose files are in the tree.
const leftOut = "Left-out: "

func appendLeftOut(message string, files []scan.Placed) string {
	message = strings.TrimRight(message, "\n") + "\n"
	message = strings.ReplaceAll("\n"+message, "\n"+leftOut, "\n "+leftOut)[1:] // it is no such line
	if len(files) > 0 {
		message += "\n"
	}
	b := []byte(message)
	for _, f := range files {
		b = fmt.Appendf(b, "%s%06o %s %d %s\n", leftOut, f.Mode, f.ID, f.Size(), strconv.QuoteToASCII(f.Path))
	}
	return string(b)
}

// parseLeftOut returns the files that a commit's message says were left out. A
// line of another form is not one of them.
func parseLeftOut(message string) []scan.Placed {
	var files []scan.Placed
	for line := range strings.Lines(message) {
		rest, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), leftOut)
		fields := strings.SplitN(rest, " ", 4)
		if !found || len(fields) != 4 || !plumbing.IsHash(fields[1]) {
			continue
		}
		mode, modeErr := strconv.ParseUint(fields[0], 8, 32)
		size, sizeErr := strconv.ParseInt(fields[2], 10, 64)
		path, pathErr := strconv.Unquote(fields[3])
		if modeErr != nil || sizeErr != nil || pathErr != nil {
			continue
		}
		if f, ok := scan.Place(path, uint32(mode), plumbing.NewHash(fields[1]), size); ok {
			files = append(files, f)
		}
	}
	return files
}
