package proc

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

// decode reads one message from b as an endpoint does.
func decode(b []byte) (message, error) {
	var header [headerSize]byte
	if n := copy(header[:], b); n < headerSize {
		return message{}, errFrame
	}
	return readMessage(header, bytes.NewReader(b[headerSize:]))
}

func TestStartMessage(t *testing.T) {
	t.Parallel()
	for _, want := range []spawn{
		{path: "/bin/sh", Invocation: Invocation{Dir: "/", Argv: []string{"sh"}}},
		{path: "/bin/\xff", Invocation: Invocation{Dir: "/a b", Argv: []string{"", "-c", "x\ny", ""}, Env: []string{"A=", "B=\xfe"}}},
		{path: "/bin/sh", Invocation: Invocation{Dir: "/", Argv: []string{strings.Repeat("x", 1<<20)}, Env: []string{""}}},
		{
			path: "/bin/sh", Invocation: Invocation{Dir: "/", Argv: []string{"sh"}},
			View: View{Binds: []Bind{{Dir: "/f", Of: "/g"}}, Overlays: []Overlay{{Dir: "/a", Upper: "/b", Work: "/c"}}, Hidden: []string{"/d", "/e"}},
		},
	} {
		m, err := decode(startOf(want).frame())
		if err != nil || m.Kind != msgStart {
			t.Fatalf("kind %c, %v", m.Kind, err)
		}
		if got := m.Start.spawn(); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestEndedMessage(t *testing.T) {
	t.Parallel()
	left := []Process{{PID: 7, Command: "sleep 300"}, {PID: 8}}
	stuck := []Process{{PID: 8, Command: "mount"}}
	for _, tt := range []struct {
		ended ended
		want  report
	}{
		{ended{}, report{}},
		{ended{ExitCode: -1, Signal: "killed", Stopped: true}, report{exitCode: -1, signal: "killed", stopped: true}},
		{ended{ExitCode: 3, Leftovers: left}, report{exitCode: 3, leftovers: left}},
		{ended{Leftovers: left, Survivors: stuck}, report{leftovers: left, err: &SurvivorError{Processes: stuck}}},
		{ended{Survivors: stuck}, report{err: &SurvivorError{Processes: stuck}}},
	} {
		m, err := decode(message{Kind: msgEnded, Ended: &tt.ended}.frame())
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.report("/bin/sh"); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
		}
	}
}

func TestFailedMessage(t *testing.T) {
	t.Parallel()
	m, err := decode(message{Kind: msgFailed, Errno: syscall.E2BIG}.frame())
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.report("/bin/sh")
	want := report{err: &StartError{Path: "/bin/sh", Err: ErrTooLong}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add(startOf(spawn{path: "/bin/sh", Invocation: Invocation{Dir: "/", Argv: []string{"sh", "-c"}, Env: []string{"A=b"}}}).frame())
	f.Add(message{Kind: msgEnded, Ended: &ended{ExitCode: 3, Leftovers: []Process{{PID: 1, Command: "x"}}, Survivors: []Process{{PID: 2}}}}.frame())
	f.Add(message{Kind: msgFailed, Errno: syscall.ENOENT}.frame())
	f.Add(message{Kind: msgExited, PIDs: []int{1, 2}}.frame())
	f.Add(message{Kind: msgStart}.frame())
	f.Add(message{Kind: msgEnded}.frame())
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Add([]byte("\x00\x00\x00\x02ab"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decode(b)
		if err != nil {
			return
		}
		if m.Kind == msgStart {
			if again, err := decode(startOf(m.Start.spawn()).frame()); err != nil || !reflect.DeepEqual(again.Start.spawn(), m.Start.spawn()) {
				t.Errorf("%+v became %+v, %v", m, again, err)
			}
		}
		if _, err := m.report("/"); err != nil && !errors.Is(err, errFrame) {
			t.Error(err)
		}
	})
}
