//go:build unix

package scenarios

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the end of a command the end of its process group, so that a run that hangs leaves
// nothing behind.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
