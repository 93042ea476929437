package hub

import (
	"cmp"
	"context"
	"crypto/sha256"
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
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"codeloops/internal/file"
	"codeloops/internal/wording/hint"
)

// Options say how a hub can be reached.
type Options struct {
	// Listen is host:port; "" is a free port of the loopback interface. Any other interface needs a certificate.
	Listen string
	// Cert and Key are PEM files.
	Cert, Key string
	// SelfSigned makes the hub create a certificate, which clients know by its digest.
	SelfSigned bool
	// Authorized is a file with the public keys of further homes to admit: one a line, followed by a name. It is
	// read again when it changes.
	Authorized string
	// Tell reports events of the hub as sentences; may be nil.
	Tell func(sentence string)

	private bool // not reachable for other processes
	shared  bool // started by a command that does other work
}

// A Hub is a server in this process.
type Hub struct {
	home    *Home
	options Options
	pin     string // digest of its certificate; "" without one
	faults  chan string
	lock    io.Closer
	done    chan struct{} // closed by Close
	tending sync.WaitGroup

	server atomic.Pointer[server.Server]
}

// Serve starts the home's hub, and tells the user's other processes where it is. The error is [ErrServed] if one
// runs already. It waits for a command that uses the queue alone for a moment, until ctx is done.
func (h *Home) Serve(ctx context.Context, o Options) (*Hub, error) {
	link, lock, err := h.find(ctx)
	if err != nil {
		return nil, err
	}
	if link != nil {
		link.Conn.Close()
		return nil, hint.Errorf("there is one hub for each user: stop that one, or let it do the work",
			"%w in %s", ErrServed, h.Dir)
	}
	return h.serve(lock, o)
}

// ErrServed says that a hub runs already.
var ErrServed = errors.New("a hub of the queue is running already")

// serve starts a hub that owns the lock.
func (h *Home) serve(lock io.Closer, o Options) (*Hub, error) {
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	b := &Hub{home: h, options: o, lock: lock, faults: make(chan string, 1), done: make(chan struct{})}
	known, _ := os.ReadFile(o.Authorized) // before the server reads it, so that no later change is missed
	so, err := b.settings()
	if err == nil {
		err = b.run(so)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if so.TLS {
		b.pin = certDigest(so.TLSConfig.Certificates[0].Certificate[0])
	}
	b.tending.Go(func() { b.tend(string(known)) })
	if err := b.tell(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// ready is the timeout for a server's start.
const ready = 30 * time.Second

// run starts a server, which replaces any earlier one.
func (b *Hub) run(so *server.Options) error {
	s, err := server.NewServer(so)
	if err != nil {
		return fmt.Errorf("start the hub: %w", err)
	}
	log := &faults{tell: b.faults, fatal: make(chan string, 1), damage: make(chan string, 1)}
	s.SetLoggerV2(log, false, false, false)
	s.Start()
	listens := make(chan bool, 1)
	go func() { listens <- s.ReadyForConnections(ready) }()
	select {
	case why := <-log.fatal:
		err = hint.Errorf("is another server there? --listen takes another port", "the hub cannot listen on %s: %s", net.JoinHostPort(so.Host, strconv.Itoa(so.Port)), why)
	case in := <-listens:
		if !in {
			err = hint.Errorf("is the machine very busy?", "the hub in %s did not start within %s", b.home.Dir, ready)
		} else if !s.JetStreamEnabled() {
			err = hint.Errorf("is the disk full?", "the hub in %s cannot write there", b.home.Dir)
		}
	}
	select {
	case what := <-log.damage: // the server would go on without
		err = hint.Errorf("put it back from a backup, or move it away: then a new queue begins, results are on the branches codeloops/ID of their repositories, and unfinished work in "+b.home.In("trees"),
			"the store of the queue in %s is damaged: %s", b.home.In("store"), what)
	default:
	}
	if err != nil {
		s.Shutdown()
		return err
	}
	b.server.Store(s)
	return nil
}

// settings returns the options of the NATS server.
func (b *Hub) settings() (*server.Options, error) {
	h, o := b.home, b.options
	so := &server.Options{
		ServerName: "codeloops-" + h.ID(), Host: "127.0.0.1", Port: server.RANDOM_PORT,
		NoSigs: true, DontListen: o.private,
		JetStream: true, StoreDir: h.In("store"), SyncAlways: true, DisableJetStreamBanner: true,
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 40, // only the disk is the limit
		MaxPayload: 8 << 20, // prompts may be long
	}
	var err error
	if so.Nkeys, err = b.users(); err != nil {
		return nil, err
	}
	if o.Listen != "" {
		host, port, err := net.SplitHostPort(o.Listen)
		if err == nil {
			so.Port, err = strconv.Atoi(port)
		}
		if err != nil {
			return nil, hint.Errorf("such as 127.0.0.1:4222", "%q is no address to listen on: %w", o.Listen, err)
		}
		if so.Host = host; so.Port == 0 {
			so.Port = server.RANDOM_PORT
		}
	}
	cert, err := b.certificate()
	if err != nil {
		return nil, err
	}
	if cert == nil && !loopback(so.Host) {
		return nil, hint.Errorf("--tls-cert FILE --tls-key FILE; --self-signed, with which it makes one; or listen on 127.0.0.1",
			"a hub that listens on %s can be reached by others and needs a certificate", cmp.Or(so.Host, o.Listen))
	}
	if cert != nil {
		so.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*cert}}
		so.TLS = true
	}
	return so, nil
}

// loopback reports whether only this machine can reach a host.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// tell writes the hub's address to a file, for other processes of the user.
func (b *Hub) tell() error {
	if b.options.private {
		return nil
	}
	u, err := b.url("localhost")
	if err != nil {
		return fmt.Errorf("say where the hub is: %w", err)
	}
	text, err := json.Marshal(address{URL: u.String(), PID: os.Getpid(), Cert: b.pin, Shared: b.options.shared})
	if err != nil {
		return err
	}
	if err = file.Write(b.home.addressFile(), text, 0o600); err != nil {
		return hint.Errorf("check its free space and permissions", "the hub cannot store its address: %w", err)
	}
	return nil
}

// URL is where the hub listens.
func (b *Hub) URL() string { return b.server.Load().ClientURL() }

// url is its URL, with the name of this machine if it listens on all addresses.
func (b *Hub) url(name string) (*url.URL, error) {
	u, err := url.Parse(b.URL())
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
		u.Host = net.JoinHostPort(name, u.Port())
	}
	return u, nil
}

// Address is the URL for clients on other machines, with the digest of a certificate.
func (b *Hub) Address() string {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	u, err := b.url(name)
	if err != nil {
		return b.URL()
	}
	if b.pin != "" {
		u.Scheme, u.Fragment = "tls", pinned+b.pin
	}
	return u.String()
}

// Connect connects to the hub without a network.
func (b *Hub) Connect() (*Link, error) {
	conn, err := b.home.Dial("", nats.InProcessServer(b))
	if err != nil {
		return nil, fmt.Errorf("reach the hub: %w", err)
	}
	return &Link{Conn: conn}, nil
}

// InProcessConn connects to the current server.
func (b *Hub) InProcessConn() (net.Conn, error) { return b.server.Load().InProcessConn() }

// Close ends the hub.
func (b *Hub) Close() error {
	close(b.done)
	b.tending.Wait()
	var err error
	if !b.options.private {
		err = os.Remove(b.home.addressFile())
	}
	if errors.Is(err, fs.ErrNotExist) { // for example, it could not be written
		err = nil
	}
	b.shutdown()
	return errors.Join(err, b.lock.Close())
}

func (b *Hub) shutdown() {
	s := b.server.Load()
	s.Shutdown()
	s.WaitForShutdown()
}

func certDigest(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// isCert accepts only one certificate.
func isCert(s tls.ConnectionState, want string) error {
	if len(s.PeerCertificates) == 0 || certDigest(s.PeerCertificates[0].Raw) != want {
		return errOtherCert
	}
	return nil
}
