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
	if h.key, err = nkeys.FromSeed(seed); err != nil {
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

// PublicKey is the key to add to a hub's authorized keys.
func (h *Home) PublicKey() (string, error) { return h.key.PublicKey() }

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

// A Link is a connection to a hub. Close also ends a hub that this process runs for it.
type Link struct {
	*nats.Conn

	end func() error // ends that hub; nil: there is none
	// standsIn reports whether this process takes over when the hub is gone; nil: it does not.
	standsIn func() bool
}

// Tell calls tell when the hub goes away, and when it comes back.
func (l *Link) Tell(tell func(sentence string)) {
	l.SetDisconnectErrHandler(func(_ *nats.Conn, err error) {
		if err != nil { // otherwise it was closed here
			advice := ""
			if l.standsIn != nil && !l.standsIn() { // otherwise this process takes over, or the hub is on another machine
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
	conn, lock, err := h.find(ctx)
	if err != nil {
		return nil, err
	}
	if conn != nil {
		return &Link{Conn: conn}, nil
	}
	return h.alone(lock)
}

// find connects to the home's hub. Where none runs, it returns the lock that allows one to run.
func (h *Home) find(ctx context.Context) (*nats.Conn, io.Closer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, hint.Errorf("is another command using it, or does one hang?",
		"the queue in %s could not be opened within %s", h.Dir, patience))
	defer cancel()
	for {
		if conn, err := h.dial(); err == nil {
			return conn, nil, nil
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

// alone starts a hub for one link.
func (h *Home) alone(lock io.Closer) (*Link, error) {
	hub, err := start(h, Options{private: true})
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return hub.serve(func() error {
		hub.shutdown()
		return lock.Close()
	})
}

// dial connects to the hub that the home's file names. The file is read again for each reconnect, so a hub with a
// new address is found.
func (h *Home) dial() (*nats.Conn, error) {
	at, err := h.address()
	if err != nil {
		return nil, err
	}
	options := []nats.Option{nats.SetCustomDialer(dialer(func(network string) (net.Conn, error) {
		at, err := h.address()
		if err != nil {
			return nil, err
		}
		to, err := url.Parse(at.URL)
		if err != nil {
			return nil, err
		}
		return (&net.Dialer{Timeout: reach}).Dial(network, to.Host)
	}))}
	if at.Cert != "" {
		options = append(options, nats.Secure(&tls.Config{
			MinVersion:         tls.VersionTLS12,
			InsecureSkipVerify: true, //nolint:gosec // VerifyConnection requires the certificate in the file
			VerifyConnection: func(s tls.ConnectionState) error {
				at, err := h.address()
				if err != nil {
					return err
				}
				return isCert(s, at.Cert)
			},
		}))
	}
	return h.Dial(at.URL, options...)
}

// address reads where the home's hub is.
func (h *Home) address() (at address, err error) {
	b, err := os.ReadFile(h.addressFile())
	if err == nil {
		err = json.Unmarshal(b, &at)
	}
	return at, err
}

// A dialer is a [nats.CustomDialer] that ignores the address.
type dialer func(network string) (net.Conn, error)

func (d dialer) Dial(network, _ string) (net.Conn, error) { return d(network) }

// reach is the timeout of connecting.
const reach = 5 * time.Second

// Dial connects to a hub as this home.
func (h *Home) Dial(server string, options ...nats.Option) (*nats.Conn, error) {
	key, err := h.asItself()
	if err != nil {
		return nil, err
	}
	return dial(server, append([]nats.Option{key}, options...)...)
}

// asItself authenticates with the home's key.
func (h *Home) asItself() (nats.Option, error) {
	public, err := h.key.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("read the key of the queue: %w", err)
	}
	return nats.Nkey(public, h.key.Sign), nil
}

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
