package proc

import (
	"bytes"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// decode reads one frame from b as an endpoint does.
func decode(b []byte) (kind byte, fields []string, err error) {
	var header [headerSize]byte
	if n := copy(header[:], b); n < headerSize {
		return 0, nil, errFrame
	}
	return readFrame(header, bytes.NewReader(b[headerSize:]))
}

func TestStartFrame(t *testing.T) {
	t.Parallel()
	for _, want := range []spawn{
		{path: "/bin/sh", dir: "/", argv: []string{"sh"}, env: []string{}},
		{path: "/bin/\xff", dir: "/a b", argv: []string{"", "-c", "x\ny", ""}, env: []string{"A=", "B=\xfe"}},
		{path: "/bin/sh", dir: "/", argv: []string{strings.Repeat("x", 1<<20)}, env: []string{""}},
	} {
		kind, fields, err := decode(encodeStart(want))
		if err != nil || kind != frameStart {
			t.Fatalf("kind %c, %v", kind, err)
		}
		if got, err := decodeStart(fields); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestEndedFrame(t *testing.T) {
	t.Parallel()
	left := []Process{{PID: 7, Command: "sleep 300"}, {PID: 8}}
	stuck := []Process{{PID: 8, Command: "mount"}}
	for _, tt := range []struct {
		report    report
		survivors []Process
		err       error
	}{
		{report: report{}},
		{report: report{exitCode: -1, signal: "killed", stopped: true}},
		{report: report{exitCode: 3, leftovers: left}},
		{report: report{leftovers: left}, survivors: stuck, err: &SurvivorError{Processes: stuck}},
		{report: report{}, survivors: stuck, err: &SurvivorError{Processes: stuck}},
	} {
		kind, fields, err := decode(encodeEnded(tt.report, tt.survivors))
		if err != nil {
			t.Fatal(err)
		}
		want := tt.report
		want.err = tt.err
		got, err := decodeReport("/bin/sh", kind, fields)
		if len(got.leftovers) == 0 {
			got.leftovers = nil
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestFailedFrame(t *testing.T) {
	t.Parallel()
	kind, fields, err := decode(encodeFailed(syscall.E2BIG))
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeReport("/bin/sh", kind, fields)
	want := report{err: &StartError{Path: "/bin/sh", Err: ErrTooLong}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzFrames(f *testing.F) {
	f.Add(encodeStart(spawn{path: "/bin/sh", dir: "/", argv: []string{"sh", "-c"}, env: []string{"A=b"}}))
	f.Add(encodeEnded(report{exitCode: 3, leftovers: []Process{{PID: 1, Command: "x"}}}, []Process{{PID: 2}}))
	f.Add(encodeFailed(syscall.ENOENT))
	f.Add(appendFrame(frameKill))
	f.Add([]byte("E\xff\xff\xff\xff"))
	f.Add([]byte("S\x00\x00\x00\x0b/\x00/\x00-1\x00a\x00b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, fields, err := decode(b)
		if err != nil {
			return
		}
		if sp, err := decodeStart(fields); err == nil && kind == frameStart {
			if again := encodeStart(sp); !bytes.Equal(again, canonical(b, fields)) {
				t.Errorf("%q became %q", b, again)
			}
		}
		if _, err := decodeReport("/", kind, fields); err != nil && !errors.Is(err, errFrame) {
			t.Error(err)
		}
	})
}

// canonical is the frame that b begins with, with its count as it is written.
func canonical(b []byte, fields []string) []byte {
	sp, _ := decodeStart(fields)
	rest := strings.Join(fields[3:], "\x00")
	head := encodeStart(spawn{path: sp.path, dir: sp.dir, argv: sp.argv})
	if len(sp.env) == 0 {
		return head
	}
	return appendFrame(b[0], sp.path, sp.dir, strconv.Itoa(len(sp.argv)), rest)
}
