package proc

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// An endpoint is the keeper's end of the socket.
type endpoint struct {
	net.Conn
	files []int // received for the next start message
}

func openEndpoint() (*endpoint, error) {
	f := os.NewFile(keeperSocket, "host")
	defer func() { _ = f.Close() }()
	conn, err := net.FileConn(f)
	return &endpoint{Conn: conn}, err
}

// Read implements [io.Reader].
func (e *endpoint) Read(b []byte) (int, error) {
	control := make([]byte, unix.CmsgSpace(3*4))
	n, controlLen, _, _, err := e.Conn.(*net.UnixConn).ReadMsgUnix(b, control)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:controlLen])
	for i := 0; err == nil && i < len(messages); i++ {
		var files []int
		files, err = unix.ParseUnixRights(&messages[i])
		e.files = append(e.files, files...)
	}
	return n, err
}

// take returns the files received. The caller must close them.
func (e *endpoint) take() (files []int) {
	files, e.files = e.files, nil
	return files
}
