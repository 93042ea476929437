package proc

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// shimmed matches the line of a batch file of npm's that starts the program it stands for: node with a script, or a program
// of the package itself.
var shimmed = sync.OnceValue(func() *regexp.Regexp { //nolint:gochecknoglobals // compiled once
	return regexp.MustCompile(`(?m)(?:(?:"%_prog%"|(?:^|[ \t&@])"?node(?:\.exe)?"?)[ \t]+|^@?[ \t]*)"%(?:~dp0|dp0%)\\?([^"%]+)"[ \t]+%\*[ \t]*\r?$`)
})

// unshim returns the program and the script that a batch file of npm's stands for, given its text and its directory: what cmd.exe
// makes of arguments with quotes, percent signs and line breaks, as prompts have them, is not what was meant. node is
// "node" where npm would look for one beside the batch file. ok is false for any other batch file.
func unshim(text, dir string) (argv []string, ok bool) {
	m := shimmed().FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	target := filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(m[1], `\`, "/")))
	if strings.EqualFold(filepath.Ext(target), ".exe") {
		return []string{target}, true
	}
	return []string{"node", target}, true
}
