// Package git knows the git program that codeloops runs.
package git

import (
	"fmt"
	"os"
	"sync"

	"codeloops/internal/proc"
	"codeloops/internal/wording/hint"
)

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
