package run

import (
	"context"
	"errors"
	"testing"

	"codeloops/internal/redact"
)

// TestHurryEarly: a request made after a wait was announced ends it, even before the wait begins;
// an earlier one does not.
func TestHurryEarly(t *testing.T) {
	t.Parallel()
	c := newControl(&redact.Redactor{})
	for range 2 {
		c.Hurry()
		c.Hurry()
		c.Ready()
		hurry := c.Early()
		if len(hurry) > 0 {
			t.Error("an earlier request counts")
		}
		c.Hurry()
		if len(hurry) != 1 {
			t.Error("a request is lost while nobody receives it")
		}
	}
}

// TestStopBeforeItBegins: a stop requested before the run begins takes effect when it does.
func TestStopBeforeItBegins(t *testing.T) {
	t.Parallel()
	c := newControl(&redact.Redactor{})
	c.Stop()
	ctx, end := c.begin(t.Context(), func() {})
	defer end()
	if err := context.Cause(ctx); !errors.Is(err, errStopped) || !errors.Is(err, context.Canceled) {
		t.Errorf("the run goes on: %v", err)
	}
}
