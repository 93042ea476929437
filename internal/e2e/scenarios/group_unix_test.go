//go:build unix

package scenarios

import (
	"os/exec"
	"syscall"
)

// ownGroup lets the end of a command be the end of all that it has started and
// that is still in its group: a run that hangs leaves no other one behind.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
