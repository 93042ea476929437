// Package shared tells with whom the users of a git repository share what is made in
// it.
package shared

import (
	"fmt"
	"io/fs"
	"runtime"
	"strconv"
	"strings"

	"codeloops/internal/repo"
)

// key is the setting, by git-config(1) and the option --shared of git-init(1).
const key = "core.sharedRepository"

// What a file's permissions are.
const (
	own   = 0o600
	group = 0o660
	all   = 0o664
)

// File returns the permissions that a configuration asks for, of a file that nobody
// else would have a part in. What git refuses is an error. On Windows there are no such
// permissions.
func File(c *repo.Config) (fs.FileMode, error) {
	value, _ := c.String(key)
	n, err := strconv.ParseInt(strings.TrimLeft(value, " \t"), 8, 64)
	octal := err == nil // 0 to 2 are what old repositories have
	yes, notBool := c.Bool(key, false)
	switch {
	case runtime.GOOS == "windows", value == "umask", octal && n == 0:
		return own, nil
	case value == "group", octal && n == 1:
		return group, nil
	case value == "all", value == "world", value == "everybody", octal && n == 2:
		return all, nil
	case octal && n&own == own:
		return fs.FileMode(n & 0o666), nil
	case octal:
		return 0, fmt.Errorf("git configuration %s = %q keeps the owner of files from reading or writing them, which git refuses", key, value)
	case notBool != nil:
		return 0, fmt.Errorf("%w, nor umask, group, all or an octal number", notBool)
	case yes:
		return group, nil
	}
	return own, nil
}
