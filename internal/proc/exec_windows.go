package proc

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// ownSession is the nearest thing to a session: a console and a group of its own.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

func ownGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}

// LeaveNoCore does nothing: a crash leaves nothing behind here.
func LeaveNoCore() {}
