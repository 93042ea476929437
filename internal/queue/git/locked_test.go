package git_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"codeloops/internal/queue/git/gittest"
)

// A lock of the packed references that a killed git has left is removed once it is old; a young one is waited for.
func TestPackedRefsLocked(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	lock := filepath.Join(s.CommonDir, "packed-refs.lock")
	for name, age := range map[string]time.Duration{"old": time.Minute, "young": 0} {
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(lock, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
		if age == 0 {
			time.AfterFunc(1500*time.Millisecond, func() { _ = os.Remove(lock) }) // by the git that has it
		}
		s.Git("update-ref", "refs/codeloops/x", "main")
		if _, err := s.Run(t.Context(), s.Root, "update-ref", "-d", "refs/codeloops/x"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
