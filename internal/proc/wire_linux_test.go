package proc

import (
	"bytes"
	"encoding/gob"
	"errors"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

func encode(m message) []byte {
	var b bytes.Buffer
	_ = gob.NewEncoder(&b).Encode(m) // cannot fail
	return b.Bytes()
}

func decode(b []byte) (m message, err error) {
	err = gob.NewDecoder(bytes.NewReader(b)).Decode(&m)
	return m, err
}

func TestStartMessage(t *testing.T) {
	t.Parallel()
	for _, want := range []spawn{
		{Path: "/bin/sh", Invocation: Invocation{Dir: "/", Argv: []string{"sh"}}},
		{Path: "/bin/\xff", Invocation: Invocation{Dir: "/a b", Argv: []string{"", "-c", "x\ny", ""}, Env: []string{"A=", "B=\xfe"}}},
		{Path: "/bin/sh", Invocation: Invocation{Dir: "/", Argv: []string{strings.Repeat("x", 1<<20)}, Env: []string{""}}},
		{
			Path: "/bin/sh", Invocation: Invocation{Dir: "/", Argv: []string{"sh"}},
			View: View{Binds: []Bind{{Dir: "/f", Of: "/g"}}, Overlays: []Overlay{{Dir: "/a", Upper: "/b", Work: "/c"}}, Hidden: []string{"/d", "/e"}},
		},
	} {
		m, err := decode(encode(message{Kind: msgStart, Start: &want}))
		if err != nil || m.Kind != msgStart {
			t.Fatalf("kind %c, %v", m.Kind, err)
		}
		if got := *m.Start; !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestEndedMessage(t *testing.T) {
	t.Parallel()
	left := []Process{{PID: 7, Command: "sleep 300"}, {PID: 8}}
	stuck := []Process{{PID: 8, Command: "mount"}}
	for _, want := range []report{
		{},
		{Result: Result{ExitCode: -1, Signal: "killed"}, Stopped: true},
		{Result: Result{ExitCode: 3, Leftovers: left}},
		{Result: Result{Leftovers: left}, Survivors: stuck},
		{Survivors: stuck},
	} {
		m, err := decode(encode(message{Kind: msgEnded, Ended: &want}))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.report("/bin/sh"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestFailedMessage(t *testing.T) {
	t.Parallel()
	m, err := decode(encode(message{Kind: msgFailed, Errno: syscall.E2BIG}))
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
	f.Add(encode(message{Kind: msgStart, Start: &spawn{Path: "/bin/sh", Invocation: Invocation{Dir: "/", Argv: []string{"sh", "-c"}, Env: []string{"A=b"}}}}))
	f.Add(encode(message{Kind: msgEnded, Ended: &report{Result: Result{ExitCode: 3, Leftovers: []Process{{PID: 1, Command: "x"}}}, Survivors: []Process{{PID: 2}}}}))
	f.Add(encode(message{Kind: msgFailed, Errno: syscall.ENOENT}))
	f.Add(encode(message{Kind: msgExited, PIDs: []int{1, 2}}))
	f.Add(encode(message{Kind: msgStart}))
	f.Add(encode(message{Kind: msgEnded}))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decode(b)
		if err != nil {
			return
		}
		if m.Start != nil {
			if again, err := decode(encode(message{Kind: msgStart, Start: m.Start})); err != nil || !reflect.DeepEqual(again.Start, m.Start) {
				t.Errorf("%+v became %+v, %v", m, again, err)
			}
		}
		if _, err := m.report("/"); err != nil && !errors.Is(err, errMessage) {
			t.Error(err)
		}
	})
}
