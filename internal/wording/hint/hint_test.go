package hint

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	cause := Errorf("look there", "%s is not here: %w", "x", fs.ErrNotExist)
	for name, test := range map[string]struct {
		err        error
		text, hint string
		ok         bool
	}{
		"none":      {errors.New("x"), "x", "", false},
		"formatted": {cause, "x is not here: file does not exist", "look there", true},
		"wrapped":   {fmt.Errorf("open: %w", cause), "open: x is not here: file does not exist", "look there", true},
		"outermost": {Add(cause, "look elsewhere"), "x is not here: file does not exist", "look elsewhere", true},
		"joined":    {errors.Join(errors.New("first"), cause), "first\nx is not here: file does not exist", "look there", true},
	} {
		if text, ok := Of(test.err); text != test.hint || ok != test.ok || test.err.Error() != test.text {
			t.Errorf("%s: %v, hint %q, %v", name, test.err, text, ok)
		}
	}
	if !errors.Is(Add(cause, "x"), fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
}
