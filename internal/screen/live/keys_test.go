package live

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"codeloops/internal/loop"
)

// TestPaste: pasted text is inserted while words are typed, and otherwise ignored, even if it
// contains keys with a meaning.
func TestPaste(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out, to := &fakeTerminal{}, &keptWords{}
		r := newTold(t, out, 100, &steers{})
		r.atWork()
		shows := func(want string) {
			t.Helper()
			time.Sleep(time.Second)
			synctest.Wait()
			if text := out.text(); !strings.Contains(text, want) {
				t.Errorf("no %q in %q", want, text)
			}
		}
		r.Paste("s\ni\nnot so\n")
		shows("pasted text is not read as keys; press f first")
		r.Press("f", to, nil)
		r.Paste("use B\n\tand stop\ni")
		shows("use B  and stop i▏   (Enter sends")
		for _, key := range []string{"\x17", "\x17", "o", "k", "\r"} {
			r.Press(key, to, nil)
		}
		r.Press("f", to, nil)
		r.Paste(strings.Repeat("x", mostTyped+1))
		shows("(no more fits): …xxx")
		r.Press("\x7f", to, nil)
		shows("next turn: …xxx")
		r.Press("\x1b", to, nil)
		if got := strings.Join(to.all, "|"); got != "say use B\n\tand ok" {
			t.Errorf("the requests are %q", got)
		}
		_ = r.Close()
	})
}

// keptWords records the requests.
type keptWords struct{ all []string }

func (k *keptWords) Steer(kind loop.SteerKind, text string) error {
	k.all = append(k.all, string(kind)+" "+text)
	return nil
}

func (*keptWords) Hurry() {}
