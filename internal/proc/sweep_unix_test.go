//go:build unix

package proc

import (
	"os"
	"reflect"
	"testing"
	"testing/synctest"
	"time"
)

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

// TestSweepNamesWhoFollows: one that has died when its name is looked for has left
// another.
func TestSweepNamesWhoFollows(t *testing.T) {
	t.Parallel()
	const nobody = 1 << 30 // no system counts processes so far
	looks, self := 0, os.Getpid()
	s := sweep{
		gone: func() bool { return looks > 1 },
		list: func() []int {
			if looks++; looks == 1 {
				return []int{nobody}
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

// TestSweepIsPatient: those who die one by one are not given up, however long it takes
// for all of them.
func TestSweepIsPatient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const nobody = 1 << 30 // no system counts processes so far
		left := []int{nobody, nobody + 1, nobody + 2, nobody + 3}
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

// TestSweepStandsStill: who could not die because the whole machine stood still has the time
// for it afterwards.
func TestSweepStandsStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const nobody = 1 << 30 // no system counts processes so far
		looks := 0
		s := sweep{
			gone: func() bool {
				if looks++; looks == 5 { // by then they have been killed
					time.Sleep(2 * killLimit)
				}
				return looks > 10
			},
			list:  func() []int { return []int{nobody} },
			hurry: func() bool { return true },
		}
		if _, survivors := s.run(); survivors != nil {
			t.Errorf("survivors %v", survivors)
		}
	})
}
