package proc

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// The nearest thing to a session: no console and no group in common with us.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}
