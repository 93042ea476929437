package door

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"codeloops/internal/proc"
)

// known refuses other users, and every process that a run of codeloops has started.
func known(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	var asked error
	if err := raw.Control(func(fd uintptr) { peer, asked = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return err
	}
	switch {
	case asked != nil:
		return asked
	case int(peer.Uid) != os.Geteuid():
		return errors.New("the run is another user's")
	case proc.HasKeeper(int(peer.Pid)):
		return errors.New("what an agent or a check starts cannot steer a run")
	}
	return nil
}
