//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// ownGroup keeps the terminal's signals away from a call and lets us end it
// with its children. It stays in our session.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
