//go:build unix

package proc_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/proc"
)

// What a command's leftover processes print after the command's own process has ended is
// not part of its output, however soon it is printed.
func TestOutputEndsWithTheCommand(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		left []string // the server's arguments; without any there is no server
		how  string
		late string
	}{
		"told to end":             {left: []string{"1", "late\n"}, late: "late\n"},
		"told to end, on stderr":  {left: []string{"2", "late\n"}, late: "late\n"},
		"without a line end":      {left: []string{"1", "late"}, late: "late"},
		"in another session":      {how: "setsid", left: []string{"1", "late\n"}, late: "late\n"},
		"in nobody's sight":       {how: "nohup setsid", left: []string{"1", "late\n"}, late: "late\n"},
		"more than fits anywhere": {left: []string{"1", strings.Repeat("late\n", 1000)}, late: strings.Repeat("late\n", 1000)},
		"nothing":                 {left: []string{"1", ""}},
		"nobody":                  {},
	} {
		for _, sealed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				cmd := script(t, `echo up; if [ $# -gt 0 ]; then `+tt.how+` "$SELF" "$@" & until [ -e up ]; do sleep 0.01; done; fi; echo over`)
				cmd.Argv = append(append(cmd.Argv, "sh"), tt.left...)
				cmd.Env = append(cmd.Env, "SELF="+self(t), part+"=server", "GORACE=atexit_sleep_ms=0")
				cmd.Sealed, cmd.Late = sealed, filepath.Join(cmd.Dir, "late")
				watched := ""
				cmd.Watch = func(_ string, chunk []byte) { watched += string(chunk) }
				res := run(t, cmd)
				if string(res.Stdout.Text) != "up\nover\n" || len(res.Stderr.Text) > 0 || watched != "up\nover\n" {
					t.Errorf("sealed %v: stdout %q, stderr %q, watched %q", sealed, res.Stdout.Text, res.Stderr.Text, watched)
				}
				assertLate(t, res.Late, cmd.Late, tt.late)
				record, err := os.ReadFile(cmd.Stdout)
				if err != nil || string(record) != "up\nover\n" {
					t.Errorf("the record is %q, %v", record, err)
				}
			})
		}
	}
}

func assertLate(t *testing.T, late proc.Late, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if want == "" {
		if late != (proc.Late{}) || !os.IsNotExist(err) {
			t.Errorf("late: %+v, %q, %v", late, text, err)
		}
		return
	}
	if err != nil || string(text) != want || late != (proc.Late{Total: int64(len(want)), File: path}) {
		t.Errorf("late: %+v, %q, %v", late, text, err)
	}
}

// The record is only for people: changing it does not change the result.
func TestRecordIsNotReadAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]string{
		"in place":  `printf 'forged\n' | dd of=stdout conv=notrunc 2>/dev/null`,
		"emptied":   `: >stdout`,
		"written":   `echo forged >stdout`,
		"added":     `echo forged >>stdout`,
		"replaced":  `echo forged >other; mv other stdout`,
		"removed":   `rm stdout`,
		"a link":    `echo forged >other; ln -sf other stdout`,
		"closed":    `chmod 0 stdout`,
		"afterward": `(trap '' HUP; until ! kill -0 $$; do :; done; echo forged >stdout) >/dev/null 2>&1 &`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := script(t, "echo honest; until [ -s stdout ]; do sleep 0.01; done\n"+change+"\necho and more")
			cmd.Keep = 8 // so little that more must be read from elsewhere
			res := run(t, cmd)
			if string(res.Stdout.End) != "honest\nand more\n" || res.Stdout.Total != 16 {
				t.Errorf("%d bytes, the end %q", res.Stdout.Total, res.Stdout.End)
			}
		})
	}
}

// A slow watch delays only the command, not the killing of its leftovers.
func TestSlowWatch(t *testing.T) {
	t.Parallel()
	cmd := script(t, `sleep 300 & echo $! >>pids; until ps -o args= -p $! | grep -q '^sleep'; do sleep 0.01; done; yes | head -c 3000000`)
	seen, first := 0, true
	cmd.Watch = func(_ string, chunk []byte) {
		if seen += len(chunk); first {
			first = false
			pid := filepath.Join(cmd.Dir, "pids")
			await(t, "the end of what is left", func() bool { return !runs(pids(t, pid)[0]) })
		}
	}
	if res := run(t, cmd); seen != 3000000 || res.Stdout.Total != 3000000 || len(res.Leftovers) != 1 {
		t.Errorf("seen %d bytes of %d, leftovers %v", seen, res.Stdout.Total, res.Leftovers)
	}
}

// A command that prints faster than the watch reads has to wait, so that memory is
// bounded.
func TestFloodForASlowWatch(t *testing.T) {
	t.Parallel()
	cmd := script(t, `echo $$ >>pids; exec "$SELF" stdout`)
	cmd.Env = append(cmd.Env, "SELF="+self(t), part+"=flood", "GORACE=atexit_sleep_ms=0")
	cmd.Grace = 10 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := int64(0)
	cmd.Watch = func(_ string, chunk []byte) {
		if seen == 0 {
			time.Sleep(300 * time.Millisecond) // let the command print as much as it can
			cancel()
			flood := pids(t, filepath.Join(cmd.Dir, "pids"))[0]
			await(t, "the end of the flood", func() bool { return !runs(flood) })
		}
		seen += int64(len(chunk))
	}
	res, err := newRunner(t).Run(ctx, cmd)
	if err != nil || res.Stop != proc.StopCancelled || seen != res.Stdout.Total || seen > 8<<20 {
		t.Errorf("%d bytes, %d seen, %s, %v", res.Stdout.Total, seen, res.Stop, err)
	}
}

// A command may close its output before it ends.
func TestOutputIsClosed(t *testing.T) {
	t.Parallel()
	for _, sealed := range []bool{false, true} {
		cmd := script(t, `echo out; echo err >&2; exec >&- 2>&-; sleep 0.05; exit 3`)
		cmd.Sealed = sealed
		res := run(t, cmd)
		if res.ExitCode != 3 || string(res.Stdout.Text) != "out\n" || string(res.Stderr.Text) != "err\n" {
			t.Errorf("sealed %v: %+v", sealed, res)
		}
	}
}

// What a program prints without waiting right before it exits is not lost.
func TestLastWordsOfManySizes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 4 << 10, 64 << 10, 200_000} {
		for _, sealed := range []bool{false, true} {
			cmd := playing(t, "burst", strconv.Itoa(size))
			cmd.Sealed, cmd.Keep = sealed, 1<<20
			if res := run(t, cmd); res.Stdout.Total != int64(size) || res.ExitCode != 0 {
				t.Errorf("sealed %v: %d bytes of %d, exit code %d", sealed, res.Stdout.Total, size, res.ExitCode)
			}
		}
	}
}
