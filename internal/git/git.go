// Package git runs the git program, finds the repository of a directory, and reads its settings and references.
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

// Old reports whether a version, as `git version` prints it, is older than [Oldest].
func Old(version string) bool { return Older(version, Oldest) }

// Older reports whether a version, as `git version` prints it, is older than another one, such as "2.38". A build of one's
// own may print anything.
func Older(version, than string) bool {
	var major, minor, thanMajor, thanMinor int
	if _, err := fmt.Sscanf(version, "git version %d.%d", &major, &minor); err != nil {
		return false
	}
	_, _ = fmt.Sscanf(than, "%d.%d", &thanMajor, &thanMinor)
	return major < thanMajor || major == thanMajor && minor < thanMinor
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
