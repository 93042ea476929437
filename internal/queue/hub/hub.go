package hub

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// Options say how a hub is reached.
type Options struct {
	// Listen is host:port; "" is a free port of the loopback interface. Beyond that, it needs a
	// certificate.
	Listen string
	// Cert and Key are files in PEM.
	Cert, Key string
	// Authorized are the public keys of the homes that it lets in, beside its own.
	Authorized []string

	private bool // nobody else can reach it
}

// A Hub is a server in this process.
type Hub struct {
	home   *Home
	server *server.Server
	lock   io.Closer
}

// Serve starts the hub of this home, and tells the user's other processes where it is. The
// error says so if there is one already.
func (h *Home) Serve(o Options) (*Hub, error) {
	lock, free, err := h.take()
	if err != nil {
		return nil, err
	}
	if !free {
		return nil, hint.Errorf("there is one hub for each user: stop that one, or let it do the work",
			"%w in %s", ErrServed, h.Dir)
	}
	hub, err := start(h, o)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	hub.lock = lock
	if err := hub.tell(o); err != nil {
		return nil, errors.Join(err, hub.Close())
	}
	return hub, nil
}

// ErrServed says that a hub runs already.
var ErrServed = errors.New("a hub of the queue is running already")

// take takes the lock of the hub; a command that only looks something up has it for a moment.
func (h *Home) take() (lock io.Closer, free bool, err error) {
	for range int(patience / pause) {
		lock, free, err = session.LockFile(h.In("hub.lock"))
		if free || err != nil {
			return lock, free, err
		}
		if conn, err := h.dial(); err == nil {
			conn.Close()
			return nil, false, nil
		}
		time.Sleep(pause)
	}
	return nil, false, nil
}

// ready is how long a server may take to start.
const ready = 30 * time.Second

// start starts a server over the files of a home.
func start(h *Home, o Options) (*Hub, error) {
	options, err := o.server(h)
	if err != nil {
		return nil, err
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("start the hub: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(ready) || !s.JetStreamEnabled() {
		s.Shutdown()
		return nil, hint.Errorf("is the port taken, or is the disk full? codeloops hub tells more",
			"the hub in %s did not start", h.Dir)
	}
	return &Hub{home: h, server: s}, nil
}

// server are the options of the server itself.
func (o Options) server(h *Home) (*server.Options, error) {
	own, err := h.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("read the key of the queue: %w", err)
	}
	so := &server.Options{
		ServerName: "codeloops-" + h.ID(), Host: "127.0.0.1", Port: server.RANDOM_PORT,
		NoLog: true, NoSigs: true, DontListen: o.private,
		JetStream: true, StoreDir: h.In("store"), SyncAlways: true, DisableJetStreamBanner: true,
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 40, // the disk is the limit
		MaxPayload: 8 << 20, // a prompt is a text
		Nkeys:      []*server.NkeyUser{{Nkey: own}},
	}
	for _, key := range o.Authorized {
		so.Nkeys = append(so.Nkeys, &server.NkeyUser{Nkey: key})
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
	if o.Cert != "" || o.Key != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("read the certificate of the hub: %w", err)
		}
		so.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
		so.TLS = true
	} else if !loopback(so.Host) {
		return nil, hint.Errorf("--tls-cert FILE --tls-key FILE, or listen on 127.0.0.1",
			"a hub that listens on %s can be reached by others and needs a certificate", so.Host)
	}
	return so, nil
}

// loopback reports whether nobody from outside can reach that host.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// tell writes down where the hub is.
func (b *Hub) tell(o Options) error {
	at := address{URL: b.URL(), PID: os.Getpid()}
	if o.Cert != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return fmt.Errorf("read the certificate of the hub: %w", err)
		}
		at.Cert = certDigest(pair.Certificate[0])
	}
	text, err := json.Marshal(at)
	if err != nil {
		return err
	}
	file := b.home.addressFile()
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return fmt.Errorf("say where the hub is: %w", err)
	}
	return os.Rename(file+".new", file)
}

// URL is where clients find the hub.
func (b *Hub) URL() string { return b.server.ClientURL() }

// Connect leads to the hub without a network.
func (b *Hub) Connect() (*Link, error) {
	conn, err := b.connect()
	if err != nil {
		return nil, err
	}
	return &Link{Conn: conn}, nil
}

func (b *Hub) connect() (*nats.Conn, error) {
	conn, err := b.home.Dial("", nats.InProcessServer(b.server))
	if err != nil {
		return nil, fmt.Errorf("reach the hub: %w", err)
	}
	return conn, nil
}

// Close ends the hub: what it has acknowledged is on the disk.
func (b *Hub) Close() error {
	err := os.Remove(b.home.addressFile())
	b.server.Shutdown()
	b.server.WaitForShutdown()
	return errors.Join(err, b.lock.Close())
}

func certDigest(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// isCert accepts one certificate only.
func isCert(s tls.ConnectionState, want string) error {
	if len(s.PeerCertificates) == 0 || certDigest(s.PeerCertificates[0].Raw) != want {
		return errors.New("that is not the hub of this home: it shows another certificate")
	}
	return nil
}
