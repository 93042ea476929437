// Package hub is the server of a backlog, NATS with JetStream in this process, and the connection to one
// elsewhere.
//
// Every acknowledged write is synced to disk. This holds for a single hub; in a cluster it depends on the
// operator.
package hub

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"codeloops/internal/file"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Home holds the queue's files of one user on one machine. The zero value is none.
type Home struct {
	Dir string // private to the user; created on the first write
	id  string
	key nkeys.KeyPair
	// PublicKey is the key to add to a hub's authorized keys.
	PublicKey string
}

// Open creates the directory of a home, with its ID and key, if they are missing.
func Open(dir string) (*Home, error) {
	if dir == "" {
		return nil, hint.Errorf("set HOME or XDG_DATA_HOME", "there is no directory for the queue: the home directory is not known")
	}
	h := &Home{Dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the queue: %w", err)
	}
	id, err := h.once("home", func() ([]byte, error) {
		if _, err := os.Stat(h.In("store")); err == nil {
			return nil, hint.Errorf(fmt.Sprintf(`write it again: grep -rhao '"home":"[0-9a-f]*"' %s | sort | uniq -c shows what belongs there, sixteen digits and nothing else`, wording.Shell(h.In("store"))),
				"the tasks of the queue belong to the name in that file, and it is gone")
		}
		b := make([]byte, 8)
		_, _ = rand.Read(b) // never fails
		return []byte(hex.EncodeToString(b)), nil
	})
	if err != nil {
		return nil, err
	}
	seed, err := h.once("key", func() ([]byte, error) {
		pair, err := nkeys.CreateUser()
		if err != nil {
			return nil, err
		}
		return pair.Seed()
	})
	if err != nil {
		return nil, err
	}
	h.id = string(id)
	if h.key, err = nkeys.FromSeed(seed); err == nil {
		h.PublicKey, err = h.key.PublicKey()
	}
	if err != nil {
		return nil, hint.Errorf("remove it; a new one will be made", "the key in %s is invalid: %w", filepath.Join(dir, "key"), err)
	}
	return h, nil
}

// once reads a file that never changes, or creates it. If two processes create it at the same time one wins, and
// both get its contents.
func (h *Home) once(name string, create func() ([]byte, error)) ([]byte, error) {
	path := filepath.Join(h.Dir, name)
	if b, err := os.ReadFile(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	b, err := create()
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	err = file.Create(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	return os.ReadFile(path)
}

// ID is unique to this home.
func (h *Home) ID() string { return h.id }

// In is a path below the home's directory.
func (h *Home) In(names ...string) string {
	return filepath.Join(append([]string{h.Dir}, names...)...)
}

// An address tells other processes of the user where the home's hub is.
type address struct {
	URL  string `json:"url"`
	PID  int    `json:"pid"`
	Cert string `json:"cert,omitempty"` // hex digest of its certificate
	// Shared: it was started by a command that does other work; see [Home.Share].
	Shared bool `json:"shared,omitempty"`
}

func (h *Home) addressFile() string { return h.In("hub.json") }

// A finder finds the home's hub. It reads the file again for each connection, so a hub with a new address is found.
type finder struct {
	home *Home
	last atomic.Pointer[address] // a hub that ended properly has no address any more
}

// look reads the file.
func (f *finder) look() (*address, error) {
	text, err := os.ReadFile(f.home.addressFile())
	if err != nil {
		return nil, err
	}
	at := &address{}
	err = json.Unmarshal(text, at)
	f.last.Store(at)
	return at, err
}

// Dial connects to where the file says.
func (f *finder) Dial(network, _ string) (net.Conn, error) {
	at, err := f.look()
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(at.URL)
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{Timeout: reach}).Dial(network, to.Host)
}

// A Link is a connection to a hub. Close also ends a hub that this process runs for it.
type Link struct {
	*nats.Conn

	end func() error // ends that hub; nil: there is none
	to  *finder      // nil: it leads to a hub in this process, or on another machine
}

// Tell calls tell when the hub goes away, and when it comes back.
func (l *Link) Tell(tell func(sentence string)) {
	l.SetDisconnectErrHandler(func(_ *nats.Conn, err error) {
		if err != nil { // otherwise it was closed here
			advice := ""
			if l.to != nil && !l.to.last.Load().Shared { // otherwise this process takes over, or the hub is on another machine
				advice = ": if it was stopped, start it: codeloops queue serve"
			}
			tell("the hub is away; tasks go on, and report to it when it is back" + advice)
		}
	})
	l.SetReconnectHandler(func(*nats.Conn) { tell("the hub is back") })
}

// Close waits until everything is sent, unless the hub is away.
func (l *Link) Close() (err error) {
	if l.IsConnected() {
		err = l.Flush()
	}
	l.Conn.Close()
	if l.end != nil {
		err = errors.Join(err, l.end())
	}
	return err
}

// Abandon stops waiting for a hub that does not answer. One that does gets a moment to receive what is left.
func (l *Link) Abandon() {
	if l.FlushTimeout(hurry) != nil {
		l.Conn.Close()
		return
	}
	time.AfterFunc(last, l.Conn.Close)
}

// hurry is how long an abandoned hub has to answer, and last how long it then has to receive.
const (
	hurry = 500 * time.Millisecond
	last  = 3 * time.Second
)

// patience is how long a command waits for the home's hub, pause how often it looks.
const (
	patience = 10 * time.Second
	pause    = 5 * time.Millisecond
)

// Connect connects to the home's hub, or else starts one in this process, without a network, until the link is
// closed.
func (h *Home) Connect(ctx context.Context) (*Link, error) {
	return h.link(ctx, Options{private: true})
}

// Share connects to the home's hub, or else serves the queue until the link is closed. If the hub was also shared by a
// command and goes away, this process takes over. A hub that was started by codeloops queue serve is waited for.
func (h *Home) Share(ctx context.Context) (*Link, error) { return h.link(ctx, Options{shared: true}) }

// link connects to the home's hub, or else to one that it starts until the link is closed.
func (h *Home) link(ctx context.Context, o Options) (*Link, error) {
	link, lock, err := h.find(ctx)
	if err != nil {
		return nil, err
	}
	if link != nil {
		if o.shared {
			link.standIn(ctx)
		}
		return link, nil
	}
	served, err := h.serve(lock, o)
	if err != nil {
		return nil, err
	}
	if link, err = served.Connect(); err != nil {
		return nil, errors.Join(err, served.Close())
	}
	link.end = served.Close
	return link, nil
}

// standIn serves the queue once the hub behind a link is gone, unless that will come back. The link reconnects to
// the new one.
func (l *Link) standIn(ctx context.Context) {
	var served *Hub
	var watching sync.WaitGroup
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // a command that is ending still has work to do
	watching.Go(func() {
		for served == nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(look):
			}
			if l.to.last.Load().Shared && !l.IsConnected() {
				served, _ = l.to.home.Serve(ctx, Options{shared: true}) // another process may win; other errors will show up again
			}
		}
	})
	l.end = func() error {
		stop()
		watching.Wait()
		if served == nil {
			return nil
		}
		return served.Close()
	}
}

// find connects to the home's hub. Where none runs, it returns the lock that allows one to run.
func (h *Home) find(ctx context.Context) (*Link, io.Closer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, hint.Errorf("is another command using it, or does one hang?",
		"the queue in %s could not be opened within %s", h.Dir, patience))
	defer cancel()
	for {
		if link, err := h.dial(); err == nil {
			return link, nil, nil
		}
		if lock, free, err := file.TryLock(h.In("hub.lock"), false); free || err != nil {
			return nil, lock, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// dial connects to the hub that the home's file names.
func (h *Home) dial() (*Link, error) {
	f := &finder{home: h}
	at, err := f.look()
	if err != nil {
		return nil, err
	}
	options := []nats.Option{nats.SetCustomDialer(f)}
	if at.Cert != "" {
		options = append(options, nats.Secure(&tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, //nolint:gosec // VerifyConnection requires the certificate in the file
			VerifyConnection:   func(s tls.ConnectionState) error { return isCert(s, f.last.Load().Cert) },
		}))
	}
	conn, err := h.Dial(at.URL, options...)
	return &Link{Conn: conn, to: f}, err
}

// reach is the timeout of connecting.
const reach = 5 * time.Second

// Dial connects to a hub as this home.
func (h *Home) Dial(server string, options ...nats.Option) (*nats.Conn, error) {
	return dial(server, append([]nats.Option{h.asItself()}, options...)...)
}

// asItself authenticates with the home's key.
func (h *Home) asItself() nats.Option { return nats.Nkey(h.PublicKey, h.key.Sign) }

// dial connects to a hub, and reconnects for as long as it takes.
func dial(server string, options ...nats.Option) (*nats.Conn, error) {
	all := append([]nats.Option{
		nats.Name("codeloops"), nats.MaxReconnects(-1),
		nats.ReconnectWait(100 * time.Millisecond), nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond),
		nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2), nats.Timeout(reach),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the default prints
	}, options...)
	return nats.Connect(server, all...)
}
