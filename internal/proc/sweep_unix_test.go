//go:build unix

package proc

import (
	"os"
	"reflect"
	"testing"
	"testing/synctest"
	"time"
)

// TestSweepGivesUp: a sweep gives up on processes that cannot be killed, and reports
// them.
func TestSweepGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rounds := 0
		s := sweep{
			gone:  func() bool { rounds++; return false },
			list:  func() []int { return nil },
			hurry: func() bool { return true },
		}
		left, survivors := s.run()
		want := []Process{{Command: "?"}}
		if left != nil || !reflect.DeepEqual(survivors, want) || rounds < 10 {
			t.Errorf("left %v, survivors %v, after %d rounds", left, survivors, rounds)
		}
	})
}

// TestSweepNamesWhoFollows: a process that ended before it could be named is skipped, and
// the next one is named.
func TestSweepNamesWhoFollows(t *testing.T) {
	t.Parallel()
	const noProcess = 1 << 30 // larger than any process ID
	looks, self := 0, os.Getpid()
	s := sweep{
		gone: func() bool { return looks > 1 },
		list: func() []int {
			if looks++; looks == 1 {
				return []int{noProcess}
			}
			return []int{self}
		},
		hurry: func() bool { return false },
		asked: map[int]bool{self: true},
	}
	left, survivors := s.run()
	if len(left) != 1 || left[0].PID != self || survivors != nil {
		t.Errorf("left %v, survivors %v", left, survivors)
	}
}

// TestSweepIsPatient: a sweep does not give up while processes die one by one, however
// long that takes.
func TestSweepIsPatient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const noProcess = 1 << 30 // larger than any process ID
		left := []int{noProcess, noProcess + 1, noProcess + 2, noProcess + 3}
		died := time.Now()
		s := sweep{
			gone: func() bool {
				if time.Since(died) > killLimit-time.Second {
					left, died = left[1:], time.Now()
				}
				return len(left) == 0
			},
			list:  func() []int { return left },
			hurry: func() bool { return true },
		}
		if _, survivors := s.run(); survivors != nil {
			t.Errorf("survivors %v", survivors)
		}
	})
}

// TestSweepStandsStill: if the whole machine is suspended, processes still have time to
// die afterwards.
func TestSweepStandsStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const noProcess = 1 << 30 // larger than any process ID
		looks := 0
		s := sweep{
			gone: func() bool {
				if looks++; looks == 5 { // they have been killed by now
					time.Sleep(2 * killLimit)
				}
				return looks > 10
			},
			list:  func() []int { return []int{noProcess} },
			hurry: func() bool { return true },
		}
		if _, survivors := s.run(); survivors != nil {
			t.Errorf("survivors %v", survivors)
		}
	})
}
