package proc_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Processes that have not inherited a sealed output cannot write to it, and nobody can
// read it: neither through the command's own descriptors in /proc, nor through those of
// the programs at its other end.
func TestSealedOutputIsOutOfReach(t *testing.T) {
	t.Parallel()
	cmd := script(t, `echo before
out=$(readlink /proc/$$/fd/1) up=$(sed -n 's/^PPid:.//p' /proc/$PPID/status)
find /proc/$$/fd /proc/$PPID/fd /proc/$up/fd -printf '%p %l\n' 2>/dev/null | grep -F " $out" | cut -d ' ' -f 1 | tee /dev/stderr >fds
echo "/proc/$PPID/fd/1" >>fds
while read -r fd; do
  case $(readlink "$fd") in "$out" | /dev/null) ;; *) continue ;; esac # another test's by now
  (echo forged >"$fd") 2>/dev/null
  (cat <"$fd") 2>/dev/null
done <fds
echo after`)
	cmd.Sealed = true
	res := run(t, cmd)
	if string(res.Stdout.Text) != "before\nafter\n" {
		t.Errorf("stdout %q", res.Stdout.Text)
	}
	if !strings.Contains(string(res.Stderr.Text), "/fd/1\n") {
		t.Errorf("the script found no descriptors: %q", res.Stderr.Text)
	}
}

// An heir inherits the command's output, waits until the command's own process ends, and
// prints. That is never part of the output, even if it is printed before any process was
// signalled.
func TestHeirPrintsTooLate(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	tooLate := 0
	end := time.Now().Add(within)
	for i := 0; i < 20 || tooLate == 0 && time.Now().Before(end); i++ { // a busy machine may kill many of them before they print
		for _, how := range []string{"stays", "goes"} {
			last := []string{"", "last words\n"}[i%2]
			cmd := script(t, fmt.Sprintf(`%s %s & until [ -e up ]; do sleep 0.001; done; printf '%s'`, self(t), how, last))
			cmd.Env = append(cmd.Env, part+"=heir", "GORACE=atexit_sleep_ms=0")
			cmd.Sealed, cmd.Late = true, filepath.Join(cmd.Dir, "late")
			res, err := r.Run(t.Context(), cmd)
			if err != nil || string(res.Stdout.Text) != last {
				t.Fatalf("the heir %s: stdout %q, %v", how, res.Stdout.Text, err)
			}
			switch late, err := os.ReadFile(cmd.Late); {
			case string(late) == "I inherit\n":
				tooLate++
			case !errors.Is(err, os.ErrNotExist): // killed before it could print
				t.Fatalf("late %q, %v", late, err)
			}
		}
	}
	if tooLate == 0 {
		t.Error("no heir has printed anything")
	}
}

// Neither does the output include what an heir prints while the process is still ending:
// a process closes its files before it counts as ended. Here that takes long, because
// memory must be freed, and Linux closes the last file first.
func TestHeirOfAProcessThatEndsSlowly(t *testing.T) {
	t.Parallel()
	tooLate := 0
	end := time.Now().Add(within)
	for i := 0; i < 10 || tooLate == 0 && time.Now().Before(end); i++ {
		cmd := script(t, `mkfifo alive; (cat <alive >/dev/null; echo I inherit) &
exec 4>alive; slow=$(mktemp /dev/shm/codeloops-XXXXXX); exec 3>"$slow"; rm "$slow"
fallocate -l 16M /proc/self/fd/3; echo last words`)
		cmd.Sealed, cmd.Late = true, filepath.Join(cmd.Dir, "late")
		res := run(t, cmd)
		if string(res.Stdout.Text) != "last words\n" {
			t.Errorf("stdout %q, stderr %q", res.Stdout.Text, res.Stderr.Text)
		}
		if res.Late.Total > 0 {
			tooLate++
		}
	}
	if tooLate == 0 {
		t.Error("no heir has printed anything")
	}
}

// Output of other processes that was read while the command's own process ran is part of
// the output, even if a leftover process shares it.
func TestOthersBelongToTheOutput(t *testing.T) {
	t.Parallel()
	for range 10 {
		cmd := script(t, `sleep 300 & sh -c 'echo from a worker'; sh -c 'printf "and another"'`)
		cmd.Sealed = true
		if res := run(t, cmd); string(res.Stdout.Text) != "from a worker\nand another" || res.Late.Total != 0 {
			t.Errorf("stdout %q, late %d", res.Stdout.Text, res.Late.Total)
		}
	}
}
