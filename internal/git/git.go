// Package git knows the git program that codeloops runs.
package git

import (
	"fmt"
	"os"
	"sync"

	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

// Oldest is the version of git that is needed at least.
const Oldest = "2.31"

// ErrOld is a git that lacks what is needed.
var ErrOld = hint.Errorf("install git "+Oldest+" or later", "git is too old")

// Old reports whether a version, as `git version` prints it, is older than that. A build of one's own may print anything.
func Old(version string) bool {
	var major, minor, oldestMajor, oldestMinor int
	if _, err := fmt.Sscanf(version, "git version %d.%d", &major, &minor); err != nil {
		return false
	}
	_, _ = fmt.Sscanf(Oldest, "%d.%d", &oldestMajor, &oldestMinor)
	return major < oldestMajor || major == oldestMajor && minor < oldestMinor
}

// Program returns the absolute path of the git program. It is looked up once: agents may put another one
// before it in PATH.
func Program() (string, error) { return program() }

var program = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // looked up once
	path, err := proc.LookPath("git", "", os.Environ())
	if err != nil {
		return "", hint.Add(fmt.Errorf("find git: %w", err), "install git, or add its directory to the PATH")
	}
	return path, nil
})
