package parcel_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue/board"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/git/gittest"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/parcel"
	"codeloops/internal/session"
)

// A bench is a repository, and a room that borrows its objects.
type bench struct {
	*gittest.Repo

	room *parcel.Room
	base string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{Repo: gittest.New(t)}
	b.base = b.Git("rev-parse", "HEAD")
	b.room = b.openRoom(filepath.Join(b.CommonDir, "objects"))
	return b
}

func (b *bench) openRoom(borrow ...string) *parcel.Room {
	b.Helper()
	r, err := parcel.OpenRoom(b.Context(), filepath.Join(b.TempDir(), "room.git"), b.Starter, b.Environ, borrow...)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

const id = "2026-01-02T03-04-05Z_abcdef"

// forge makes a hostile parcel: files are lines for git mktree.
func (b *bench) forge(message string, files ...string) string {
	b.Helper()
	do := func(stdin string, args ...string) string {
		b.Helper()
		out, err := b.room.Do(b.Context(), git.Call{Dir: b.room.Root, Stdin: []byte(stdin)}, args...)
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	blob := do("{}\n", "hash-object", "-w", "--stdin")
	listing := strings.ReplaceAll(strings.Join(files, ""), "BLOB", blob)
	tree := do(listing, "mktree", "-z")
	commit := do(message, "-c", "user.name=x", "-c", "user.email=x@y", "commit-tree", tree, "-F", "-")
	if err := b.room.Set(b.Context(), map[string]string{parcel.Ref: commit}); err != nil {
		b.Fatal(err)
	}
	return b.bundle(parcel.Ref)
}

func (b *bench) bundle(refs ...string) string {
	b.Helper()
	file := filepath.Join(b.TempDir(), "parcel")
	if ok, err := b.room.Bundle(b.Context(), file, refs, []string{b.base}); err != nil || !ok {
		b.Fatal(ok, err)
	}
	return file
}

// Malformed and hostile parcels are refused.
func TestWrongParcels(t *testing.T) {
	t.Parallel()
	good := `{"task":"t","attempt":1,"session":"` + id + `"}`
	for name, test := range map[string]struct {
		message string
		files   []string
	}{
		"of another task":         {`{"task":"other"}`, nil},
		"not told of":             {"hello", nil},
		"a symbolic link":         {good, []string{"120000 blob BLOB\tlog.000001\x00"}},
		"a command":               {good, []string{"100755 blob BLOB\tlog.000001\x00"}},
		"a directory":             {good, []string{"040000 tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\tlog.000001\x00"}},
		"a name that begins dots": {good, []string{"100644 blob BLOB\t..log\x00"}},
		"a name with a backslash": {good, []string{"100644 blob BLOB\tfile.a\\b\x00"}},
		"a session elsewhere":     {`{"task":"t","session":"../../` + id + `"}`, nil},
		"a session of no time":    {`{"task":"t","session":"latest"}`, nil},
		"a checkpoint elsewhere":  {`{"task":"t","session":"` + id + `","checkpoints":{"../../heads/main":"` + strings.Repeat("a", 40) + `"}}`, nil},
		"a commit that is not":    {`{"task":"t","branch":"` + strings.Repeat("a", 40) + `"}`, nil},
		"a commit that is none":   {`{"task":"t","branch":"--help"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if len(test.files) > 0 && strings.Contains(test.files[0], "tree") {
				if _, err := b.room.Do(t.Context(), git.Call{Dir: b.room.Root}, "mktree"); err != nil {
					t.Fatal(err)
				}
			}
			file := b.forge(test.message, test.files...)
			_, err := b.openRoom(filepath.Join(b.CommonDir, "objects")).Open(t.Context(), file, "t")
			if !errors.Is(err, parcel.ErrWrong) {
				t.Errorf("%v, want %v", err, parcel.ErrWrong)
			}
		})
	}
	t.Run("with another ref", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.forge(good)
		commit, _, _ := b.room.Commit(t.Context(), parcel.Ref)
		if err := b.room.Set(t.Context(), map[string]string{"refs/heads/main": commit}); err != nil {
			t.Fatal(err)
		}
		_, err := b.openRoom().Open(t.Context(), b.bundle(parcel.Ref, "refs/heads/main"), "t")
		if !errors.Is(err, parcel.ErrWrong) {
			t.Errorf("%v, want %v", err, parcel.ErrWrong)
		}
	})
}

// A session with another session's log is not unpacked, not even in part.
func TestForeignLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	file := b.forge(`{"task":"t","session":"`+id+`"}`, "100644 blob BLOB\tfile.a\x00", "100644 blob BLOB\tlog.000001\x00")
	p, err := b.openRoom().Open(t.Context(), file, "t")
	if err != nil {
		t.Fatal(err)
	}
	store, err := session.NewStore(filepath.Join(t.TempDir(), "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Unpack(t.Context(), store, "/work"); err == nil {
		t.Error("it was unpacked")
	}
	if logs, _ := filepath.Glob(filepath.Join(store.Dir(), "*.jsonl*")); len(logs) > 0 {
		t.Errorf("logs left: %v", logs)
	}
}

// A parcel that was sent in part cannot be read, and its rest is swept.
func TestHalfSent(t *testing.T) {
	t.Parallel()
	s, js := openStore(t)
	dir := t.TempDir()
	text := bytes.Repeat([]byte("0123456789"), 300_000)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"wanted", "idle"} {
		if err := s.Put(t.Context(), name, file); err != nil {
			t.Fatal(err)
		}
	}
	// One sender was killed while sending, another one is cancelled.
	if _, err := js.Publish(t.Context(), "$O.codeloops-parcels.C.half", text[:1000]); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Put(over, "cut", file); err == nil {
		t.Error("no error from a cancelled Put")
	}
	for _, name := range []string{"cut", "half"} {
		if err := s.Get(t.Context(), name, file+".got"); !errors.Is(err, parcel.ErrNone) {
			t.Errorf("%s: %v, want %v", name, err, parcel.ErrNone)
		}
	}
	sweep := func(before time.Time) uint64 { return swept(t, s, js, before) }
	if n := sweep(parcel.Idle(time.Now())); n < 14 {
		t.Errorf("%d messages are left: parcels that may still be in transit were swept", n)
	}
	if n := sweep(time.Now().Add(time.Minute)); n != 7 { // six chunks and their description
		t.Errorf("%d messages are left", n)
	}
	if err := s.Get(t.Context(), "wanted", file+".got"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file + ".got"); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := s.Delete(t.Context(), "wanted", "wanted"); err != nil {
		t.Error(err)
	}
	if n := sweep(time.Now().Add(time.Minute)); n != 0 {
		t.Errorf("%d messages are left after the last parcel was deleted", n)
	}
}

// A valve is a dialer whose connections receive no more than so many bytes.
type valve struct {
	net.Dialer

	left atomic.Int64
}

func (v *valve) Dial(network, address string) (net.Conn, error) {
	conn, err := v.Dialer.Dial(network, address)
	return &narrow{conn, v}, err
}

type narrow struct {
	net.Conn

	valve *valve
}

func (n *narrow) Read(p []byte) (int, error) {
	for {
		count, err := n.Conn.Read(p)
		if err != nil || n.valve.left.Add(-int64(count)) >= 0 {
			return count, err
		}
	}
}

// A hub that falls silent while it sends a parcel was away, so the download can be tried again. Several timeouts of the
// client expire at that moment, in any order.
func TestSilentHub(t *testing.T) {
	t.Parallel()
	v := &valve{}
	v.left.Store(math.MaxInt64)
	s, _ := openStore(t, nats.SetCustomDialer(v))
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "parcel", file); err != nil {
		t.Fatal(err)
	}
	v.left.Store(1 << 20)
	var gets sync.WaitGroup
	for n := range 10 {
		gets.Go(func() {
			if err := s.Get(t.Context(), "parcel", file+strconv.Itoa(n)); !board.Unreachable(err) {
				t.Error(err)
			}
		})
	}
	gets.Wait()
}

// openStore starts a hub and opens a store on it.
func openStore(t *testing.T, options ...nats.Option) (*parcel.Store, jetstream.JetStream) {
	t.Helper()
	home, err := hub.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	served, err := home.Serve(t.Context(), hub.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = served.Close() })
	conn, err := home.Dial(served.URL(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	s, err := parcel.OpenStore(t.Context(), conn, 1)
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return s, js
}

// swept sweeps a store and returns how many messages are left.
func swept(t *testing.T, s *parcel.Store, js jetstream.JetStream, before time.Time) uint64 {
	t.Helper()
	if err := s.Sweep(t.Context(), func(name string) bool { return name == "wanted" }, before); err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "OBJ_codeloops-parcels")
	if err != nil {
		t.Fatal(err)
	}
	return stream.CachedInfo().State.Msgs
}
