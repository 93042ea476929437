//go:build unix

package proc

import (
	"reflect"
	"testing"
)

func TestSweepGivesUp(t *testing.T) {
	t.Parallel()
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
}
