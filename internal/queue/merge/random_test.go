package merge_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"codeloops/internal/queue/merge"
)

// series makes branches from main. Of ten, four conflict with another one, and one fails the check.
func (s scene) series(count int, random *rand.Rand) (heads []string) {
	s.Helper()
	for n := range count {
		files := []string{fmt.Sprintf("own-%d", n), fmt.Sprintf("%d\n", n)}
		switch n % 10 {
		case 3, 4:
			files = append(files, fmt.Sprintf("both-%d", n/10), fmt.Sprintf("%d\n", n))
		case 5, 6:
			files = append(files, "list", strings.Replace(s.Text(s.Root, "list"), fmt.Sprintf("line %d\n", n/10), fmt.Sprintf("of %d\n", n), 1))
		case 7:
			files = append(files, fmt.Sprintf("need-%d", n), fmt.Sprintf("needs:other-%d", n))
		}
		heads = append(heads, s.Branch(fmt.Sprintf("branch-%d", n), "main", files...))
	}
	random.Shuffle(count, func(i, j int) { heads[i], heads[j] = heads[j], heads[i] })
	return heads
}

// TestRandom: two mergers merge fifty branches while the user commits on the target and takes what waits. Every
// commit on the target passes the check, nothing that was reported as merged is lost, and the user's files are not
// touched.
func TestRandom(t *testing.T) {
	t.Parallel()
	count := 50
	if testing.Short() {
		count = 20
	}
	for _, out := range []bool{false, true} {
		t.Run(strconv.FormatBool(out), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, out)
			var lines strings.Builder
			for n := range 3 * count {
				fmt.Fprintf(&lines, "line %d\n", n)
			}
			s.Write("list", lines.String())
			if base := s.Save("list"); !out {
				s.Git("update-ref", "refs/heads/main", base)
			}
			base := s.Git("rev-parse", "main")
			heads := s.series(count, rand.New(rand.NewPCG(1, 2)))
			outcomes, ref := s.all(heads, out)
			if outcomes[merge.Merged] < count/2 || outcomes[merge.Conflict] == 0 || outcomes[merge.Red] == 0 {
				t.Errorf("%v", outcomes)
			}
			s.green(ref, base)
			s.clean()
		})
	}
}

// all merges heads with two concurrent mergers, and returns the ref that has them all.
func (s scene) all(heads []string, out bool) (outcomes map[merge.Outcome]int, ref string) {
	s.Helper()
	outcomes = make(map[merge.Outcome]int)
	ref = "refs/heads/main"
	if out {
		ref = queue
	}
	var mu sync.Mutex // guards outcomes, kept, and what the user does
	var kept []string
	var mergers sync.WaitGroup
	for half := range 2 {
		m := at(s.Repo)
		mergers.Go(func() {
			for i := half; i < len(heads); i += 2 {
				before := s.users(&mu, func() {
					if i%7 == 0 {
						kept = append(kept, s.own(i, out))
					}
				})
				res, err := m.merge(heads[i])
				if err != nil {
					s.Errorf("%s: %v", heads[i], err)
					return
				}
				mu.Lock()
				if outcomes[res.Outcome]++; res.Outcome == merge.Merged {
					s.contains(res.Ref, heads[i])
					kept = append(kept, heads[i])
				}
				if !out && s.Untouched() != before {
					s.Errorf("%s: the user's HEAD, index or files have changed", heads[i])
				}
				mu.Unlock()
			}
		})
	}
	mergers.Wait()
	return outcomes, s.settled(kept, ref)
}

// users does something as the user, and returns a fingerprint of the user's files. A git command that fails ends the
// test.
func (s scene) users(mu *sync.Mutex, do func()) string {
	mu.Lock()
	defer mu.Unlock()
	do()
	return s.Untouched()
}

// settled merges everything once more, together with the user's last commits, and returns the ref that has it all.
func (s scene) settled(kept []string, ref string) string {
	s.Helper()
	before := s.Untouched()
	for _, head := range kept {
		if res, err := s.merge(head); err != nil || res.Outcome != merge.Merged {
			s.Errorf("%s: %+v, %v", head, res, err)
		}
	}
	if s.Untouched() != before {
		s.Error("the user's HEAD, index or files have changed")
	}
	if s.Git("for-each-ref", ref) == "" { // the user has taken everything
		ref = "refs/heads/main"
	}
	for _, head := range kept {
		s.contains(ref, head)
	}
	return ref
}

// own commits on main as the user. Half of the time the user takes the waiting merges first.
func (s scene) own(n int, out bool) string {
	s.Helper()
	if !out {
		for { // until no merger has moved main meanwhile
			tip := s.Git("rev-parse", "main")
			own := s.Branch(fmt.Sprintf("user-%d", n), tip, fmt.Sprintf("user-%d", n), "own\n")
			if _, err := s.Run(s.Context(), s.Root, "update-ref", "refs/heads/main", own, tip); err == nil {
				return own
			}
		}
	}
	if n%2 == 0 {
		_, _ = s.Run(s.Context(), s.Root, "merge", "-q", "--ff-only", queue) // it fails if there is nothing to take
	}
	s.Write(fmt.Sprintf("user-%d", n), "own\n")
	s.Git("add", fmt.Sprintf("user-%d", n))
	s.Git("commit", "-q", "-m", "own")
	return s.Git("rev-parse", "HEAD")
}

// green expects that every commit on a ref passes the check.
func (s scene) green(ref, base string) {
	s.Helper()
	dir := s.TempDir() + "/look"
	s.Git("worktree", "add", "-q", "--detach", dir, ref)
	for commit := range strings.FieldsSeq(s.Git("rev-list", "--first-parent", base+".."+ref)) {
		s.In(dir, "checkout", "-q", "--detach", commit)
		if failed, err := green(s.Context(), dir); err != nil || failed != nil {
			s.Errorf("%s: %+v, %v", commit, failed, err)
		}
	}
	s.Git("worktree", "remove", "--force", dir)
	s.Git("fsck", "--strict", "--no-dangling")
}
