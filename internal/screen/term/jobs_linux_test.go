package term_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"codeloops/internal/screen/term"
)

// playJob names the variable that makes the test binary a process that has held a terminal before.
const playJob = "PLAY_JOB"

func TestMain(m *testing.M) {
	if os.Getenv(playJob) == "" {
		os.Exit(m.Run())
	}
	var jobs term.Jobs
	jobs.Hold().Release()
	first, second := jobs.Hold(), jobs.Hold()
	fmt.Println("held")
	for s := range first.Signals() {
		fmt.Println(s)
		break
	}
	first.Release()
	second.Release()
	fmt.Println("released")
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// TestHold: a stop goes to the holder of the terminal first. Afterwards each request stops the
// process, unless nobody could continue it.
func TestHold(t *testing.T) {
	t.Parallel()
	for name, alone := range map[string]bool{"with a shell": false, "without": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), playJob+"=1")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !alone, Setsid: alone}
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			hangs := time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() })
			t.Cleanup(func() { hangs.Stop(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
			lines := bufio.NewScanner(out)
			says := func(want string) {
				t.Helper()
				if lines.Scan(); lines.Text() != want {
					t.Fatalf("it printed %q, want %q", lines.Text(), want)
				}
			}
			send := func(s unix.Signal) {
				t.Helper()
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
			}
			says("held")
			send(unix.SIGTSTP)
			says("stopped")
			says("released")
			for range 2 {
				send(unix.SIGTSTP)
				if alone {
					continue
				}
				var status unix.WaitStatus
				if _, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
					t.Fatalf("status %#x, %v: not stopped", status, err)
				}
				send(unix.SIGCONT)
			}
			if err := in.Close(); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
