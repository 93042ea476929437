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
	r, err := parcel.OpenRoom(filepath.Join(b.TempDir(), "room.git"), b.Starter, b.Environ, borrow...)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

const id = "2026-01-02T03-04-05Z_abcdef"

// The refs of a parcel.
const (
	sessionRef = "refs/codeloops/parcel/session"
	branchRef  = "refs/codeloops/parcel/branch"
)

// forge makes a hostile session: files are lines for git mktree, and so is what is in its folder, if anything.
func (b *bench) forge(folder string, files ...string) {
	b.Helper()
	do := func(stdin string, args ...string) string {
		b.Helper()
		out, err := b.room.Do(b.Context(), git.Call{Dir: b.room.Root, Stdin: []byte(stdin)}, args...)
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	do("", "mktree")
	blob := do("{}\n", "hash-object", "-w", "--stdin")
	if folder != "" {
		files = append(files, "040000 tree "+do(strings.ReplaceAll(folder, "BLOB", blob), "mktree", "-z")+"\t"+id+".d\x00")
	}
	tree := do(strings.ReplaceAll(strings.Join(files, ""), "BLOB", blob), "mktree", "-z")
	commit := do("", "-c", "user.name=x", "-c", "user.email=x@y", "commit-tree", tree, "-m", "session")
	if err := b.room.Set(b.Context(), map[string]string{sessionRef: commit}); err != nil {
		b.Fatal(err)
	}
}

// received sends the room's refs to another one.
func (b *bench) received() (*parcel.Room, error) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "parcel")
	if news, err := b.room.Bundle(b.Context(), file, []string{b.base}); err != nil || !news {
		b.Fatal(news, err)
	}
	to := b.openRoom(filepath.Join(b.CommonDir, "objects"))
	return to, to.Unbundle(b.Context(), file)
}

// unpack unpacks what was received, and returns the log files that are there then.
func (b *bench) unpack() (logs []string, err error) {
	b.Helper()
	store, err := session.NewStore(filepath.Join(b.TempDir(), "sessions"))
	if err != nil {
		b.Fatal(err)
	}
	to, err := b.received()
	if err != nil {
		b.Fatal(err)
	}
	p, err := to.Open(b.Context())
	if err == nil {
		err = to.Unpack(b.Context(), p.Session, "t", store, "/work")
	}
	logs, _ = filepath.Glob(filepath.Join(store.Dir(), "*.jsonl*"))
	return logs, err
}

// Malformed and hostile sessions are refused, and nothing of them stays, not even a log of another session.
func TestWrongParcels(t *testing.T) {
	t.Parallel()
	const log = "100644 blob BLOB\t" + id + ".jsonl\x00"
	for name, test := range map[string]struct {
		folder string
		files  []string
		want   error
	}{
		"a symbolic link":         {"", []string{"120000 blob BLOB\t" + id + ".jsonl\x00"}, parcel.ErrWrong},
		"a directory":             {"040000 tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\t0.a\x00", []string{log}, nil},
		"a name that begins dots": {"100644 blob BLOB\t..log\x00", []string{log}, parcel.ErrWrong},
		"a name with a backslash": {"100644 blob BLOB\t0.a\\b\x00", []string{log}, parcel.ErrWrong},
		"attributes":              {"100644 blob BLOB\t.gitattributes\x00", []string{log}, parcel.ErrWrong},
		"a file elsewhere":        {"", []string{log, "100644 blob BLOB\t.other\x00"}, parcel.ErrWrong},
		"a session of no time":    {"", []string{"100644 blob BLOB\tlatest.jsonl\x00"}, parcel.ErrWrong},
		"no session":              {"100644 blob BLOB\t0.a\x00", nil, parcel.ErrWrong},
		"another session's log":   {"", []string{log}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.forge(test.folder, test.files...)
			logs, err := b.unpack()
			if err == nil || test.want != nil && !errors.Is(err, test.want) || len(logs) > 0 {
				t.Errorf("%v, want %v; logs left: %v", err, test.want, logs)
			}
		})
	}
	t.Run("with another ref", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.forge("")
		commit, _, _ := b.room.Commit(t.Context(), sessionRef)
		if err := b.room.Set(t.Context(), map[string]string{"refs/heads/main": commit}); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "bundle")
		if _, err := b.room.Run(t.Context(), b.room.Root, "bundle", "create", "--quiet", file, sessionRef, "refs/heads/main"); err != nil {
			t.Fatal(err)
		}
		to := b.openRoom()
		if err := to.Unbundle(t.Context(), file); err != nil {
			t.Fatal(err)
		}
		if got, err := to.Refs("refs/"); err != nil || len(got) != 1 || got[sessionRef] != commit {
			t.Errorf("%v, %v", got, err)
		}
	})
}

// A branch that has nothing new is in no bundle.
func TestNothingNew(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := b.room.Set(t.Context(), map[string]string{branchRef: b.base}); err != nil {
		t.Fatal(err)
	}
	if news, err := b.room.Bundle(t.Context(), filepath.Join(t.TempDir(), "bundle"), []string{b.base}); news || err != nil {
		t.Errorf("%t, %v", news, err)
	}
	if p, err := b.room.Open(t.Context()); err != nil || p.Branch != b.base || p.Session != "" {
		t.Errorf("%+v, %v", p, err)
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
		if err := s.Get(t.Context(), name, file+".got"); !errors.Is(err, jetstream.ErrObjectNotFound) {
			t.Errorf("%s: %v, want %v", name, err, jetstream.ErrObjectNotFound)
		}
	}
	sweep := func(before time.Time) uint64 { return swept(t, s, js, before) }
	if n := sweep(time.Now().Add(-parcel.Sent)); n < 14 {
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
