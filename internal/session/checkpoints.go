package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"codeloops/internal/file"
)

// checkpointsDir is the directory, beside the logs, of private repositories.
const checkpointsDir = "checkpoints"

// KeptStash is the prefix of references, in the user's repository, to entries of its stash that went during a session,
// whose ID follows.
const KeptStash = "refs/codeloops-stash/"

// CheckpointsFor names the private repository for the sessions of a repository, given its
// common git directory. Logs hold that name, so it does not matter to them if the repository
// is moved or changed later.
func CheckpointsFor(commonDir string) string {
	name := filepath.Base(commonDir)
	if name == ".git" {
		name = filepath.Base(filepath.Dir(commonDir))
	}
	plain := strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' {
			return '-'
		}
		return r
	}, name)
	sum := sha256.Sum256([]byte(commonDir))
	return path.Join(checkpointsDir, plain[:min(len(plain), 40)]+"-"+hex.EncodeToString(sum[:6])+".git")
}

// Checkpoints returns the directory of the private repository that a log names; "" if the name
// is not that of one.
func (s *Store) Checkpoints(name string) string {
	dir, base := path.Split(name)
	if dir != checkpointsDir+"/" || !strings.HasSuffix(base, ".git") || !filepath.IsLocal(base) {
		return ""
	}
	return filepath.Join(s.dir, checkpointsDir, base)
}

// ErrInUse says that sessions are using a private repository.
var ErrInUse = errors.New("a session is at work with it")

// ShareCheckpoints keeps others from tidying up a private repository until the returned lock
// is closed. It waits until nobody tidies up.
func ShareCheckpoints(ctx context.Context, dir string) (io.Closer, error) {
	for {
		f, ok, err := lockCheckpoints(dir, true)
		if err != nil || ok {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// OwnCheckpoints locks a private repository for tidying up: nobody else uses it until the
// returned lock is closed. The error is [ErrInUse] if somebody does now.
func OwnCheckpoints(dir string) (io.Closer, error) {
	f, ok, err := lockCheckpoints(dir, false)
	if err == nil && !ok {
		err = ErrInUse
	}
	return f, err
}

func lockCheckpoints(dir string, shared bool) (held io.Closer, ok bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false, fmt.Errorf("make the repository of checkpoints: %w", err)
	}
	return file.TryLock(filepath.Join(dir, gitLock), shared)
}
