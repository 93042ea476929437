package work

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"codeloops/internal/wording/hint"
)

// Trouble is reported once until it is over, and all errors of an unreachable hub count as one.
func TestTroubleIsToldOnce(t *testing.T) {
	t.Parallel()
	var told []string
	w := &Worker{Tell: func(s string) { told = append(told, s) }}
	full, gone := hint.Errorf("make room", "no room"), fmt.Errorf("look for work: %w", nats.ErrTimeout)
	for _, err := range []error{full, full, gone, fmt.Errorf("read the backlog: %w", nats.ErrTimeout), nil, gone, errors.New("other")} {
		w.trouble(err)
	}
	away := "the hub does not answer; tasks go on, and report to it when it does (is its disk full, or is it gone? Its own output says so)"
	if want := []string{"no room (make room)", away, away, "other"}; !slices.Equal(told, want) {
		t.Errorf("reported %q", told)
	}
}
