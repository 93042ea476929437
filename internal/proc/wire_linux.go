package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
)

// Between a host and its keeper there is a stream socket with frames on it: a
// kind, the length of the payload as 32 bits in network order, the payload. A
// payload is strings joined by NUL, which no argument, variable or path holds.
// The start frame carries the child's stdin, stdout and stderr (SCM_RIGHTS,
// unix(7)).
const (
	frameStart     = 'S' // host: path, dir, len(argv), argv…, env…
	frameTerminate = 'T' // host
	frameKill      = 'K' // host
	frameSweep     = 'W' // host, after frameExited: the outputs are cut, what is left may be told to end
	frameFailed    = 'F' // keeper: errno
	frameStarted   = 'P' // keeper: pid
	frameExited    = 'X' // keeper: the pids that outlive the command's own process
	frameEnded     = 'E' // keeper: exit code, signal, stopped, len(leftovers), leftovers…, survivors…
)

const (
	headerSize = 5
	maxPayload = 64 << 20
)

var errFrame = errors.New("malformed message between host and keeper")

func appendFrame(kind byte, fields ...string) []byte {
	payload := strings.Join(fields, "\x00")
	b := make([]byte, 0, headerSize+len(payload))
	b = append(b, kind)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	return append(b, payload...)
}

// readFrame reads a frame of which the header has been read.
func readFrame(header [headerSize]byte, r io.Reader) (kind byte, fields []string, err error) {
	n := binary.BigEndian.Uint32(header[1:])
	if n > maxPayload {
		return 0, nil, errFrame
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, fmt.Errorf("read a message: %w", err)
	}
	return header[0], strings.Split(string(payload), "\x00"), nil
}

func encodeStart(s spawn) []byte {
	fields := append([]string{s.path, s.dir, strconv.Itoa(len(s.argv))}, s.argv...)
	return appendFrame(frameStart, append(fields, s.env...)...)
}

func decodeStart(fields []string) (spawn, error) {
	if len(fields) < 3 {
		return spawn{}, errFrame
	}
	n, err := strconv.Atoi(fields[2])
	rest := fields[3:]
	if err != nil || n < 1 || n > len(rest) {
		return spawn{}, errFrame
	}
	return spawn{path: fields[0], dir: fields[1], argv: rest[:n], env: rest[n:]}, nil
}

func encodeFailed(errno syscall.Errno) []byte {
	return appendFrame(frameFailed, strconv.Itoa(int(errno)))
}

func encodeEnded(r report, survivors []Process) []byte {
	fields := []string{
		strconv.Itoa(r.exitCode), r.signal, strconv.FormatBool(r.stopped),
		strconv.Itoa(len(r.leftovers)),
	}
	for _, p := range append(r.leftovers, survivors...) {
		fields = append(fields, strconv.Itoa(p.PID), p.Command)
	}
	return appendFrame(frameEnded, fields...)
}

// encodePIDs makes a frame of process numbers.
func encodePIDs(kind byte, pids ...int) []byte {
	fields := make([]string, len(pids))
	for i, pid := range pids {
		fields[i] = strconv.Itoa(pid)
	}
	return appendFrame(kind, fields...)
}

func decodePIDs(fields []string) (pids []int, err error) {
	for _, field := range fields {
		if field == "" && len(fields) == 1 {
			return nil, nil // there are none
		}
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, errFrame
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// decodeReport turns a keeper's frame into a report on the program at path.
func decodeReport(path string, kind byte, fields []string) (report, error) {
	switch {
	case kind == frameFailed && len(fields) == 1:
		errno, err := strconv.Atoi(fields[0])
		if err != nil {
			return report{}, errFrame
		}
		return report{err: startError(path, syscall.Errno(errno))}, nil
	case kind == frameEnded && len(fields) >= 4:
		return decodeEnded(fields)
	}
	return report{}, errFrame
}

func decodeEnded(fields []string) (report, error) {
	code, err1 := strconv.Atoi(fields[0])
	stopped, err2 := strconv.ParseBool(fields[2])
	n, err3 := strconv.Atoi(fields[3])
	all, err4 := decodeProcesses(fields[4:])
	if err := errors.Join(err1, err2, err3, err4); err != nil || n < 0 || n > len(all) {
		return report{}, errFrame
	}
	r := report{exitCode: code, signal: fields[1], stopped: stopped, leftovers: all[:n:n]}
	if survivors := all[n:]; len(survivors) > 0 {
		r.err = &SurvivorError{Processes: survivors}
	}
	return r, nil
}

func decodeProcesses(fields []string) ([]Process, error) {
	var all []Process
	for i := 0; i+1 < len(fields); i += 2 {
		pid, err := strconv.Atoi(fields[i])
		if err != nil {
			return nil, errFrame
		}
		all = append(all, Process{PID: pid, Command: fields[i+1]})
	}
	if len(fields)%2 != 0 {
		return nil, errFrame
	}
	return all, nil
}
