// Package hubtest runs NATS servers for tests, as operators do: nats-server in a separate process, with JetStream,
// TLS and keys.
package hubtest

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeloops/internal/queue/hub"
)

// Options configure a server.
type Options struct {
	Homes  []string // public keys of the admitted homes
	Plain  bool     // without TLS
	Bare   bool     // without JetStream
	Verify bool     // clients must show a certificate
	Config string   // additional configuration
}

// The permissions that a home's account needs, as in docs/queue.md.
const (
	publish   = `"codeloops.>", "$KV.>", "$O.>", "$JS.API.>", "$JS.ACK.>", "$JS.FC.>", "_INBOX.>"`
	subscribe = `"codeloops.>", "_INBOX.>"`
)

// A Server is a process.
type Server struct {
	URL string // without credentials
	CA  string // certificate of its authority

	dir     string
	options Options
	port    string // set once it is known
	monitor string // monitoring URL, in a cluster
	process *exec.Cmd
}

// Start starts a server for a test.
func Start(tb testing.TB, o Options) *Server {
	tb.Helper()
	s, err := New(tb.TempDir(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Kill)
	return s
}

// Cluster starts a cluster, and returns its servers and a way that reaches any of them.
func Cluster(tb testing.TB, n int, o Options) (all []*Server, way hub.Address) {
	tb.Helper()
	var routes, urls []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // on this machine
		if err != nil {
			tb.Fatal(err)
		}
		routes = append(routes, l.Addr().String())
		if err := l.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	way.CA = filepath.Join(tb.TempDir(), "authorities.pem")
	var authorities []byte
	for i, at := range routes {
		one := o
		one.Config += fmt.Sprintf("server_name: n%d\nhttp: \"127.0.0.1:-1\"\ncluster { name: tests, listen: %q, routes: [nats://%s] }\n", i, at, strings.Join(routes, ", nats://"))
		s := Start(tb, one)
		text, err := os.ReadFile(s.CA)
		if err != nil {
			tb.Fatal(err)
		}
		all, urls, authorities = append(all, s), append(urls, s.URL), append(authorities, text...)
	}
	if err := os.WriteFile(way.CA, authorities, 0o600); err != nil {
		tb.Fatal(err)
	}
	way.URL = strings.Join(urls, ",")
	for _, one := range all {
		one.Await(tb)
	}
	return all, way
}

// Await waits until a server of a cluster is up to date.
func (s *Server) Await(tb testing.TB) {
	tb.Helper()
	if !within(func() bool {
		answer, err := http.Get(s.monitor + "/healthz") //nolint:noctx // on this machine
		return err == nil && answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
	}) {
		tb.Fatal("a server of the cluster is not ready")
	}
}

// within waits for a condition, longer than any server takes.
func within(there func() bool) bool {
	for range 3_000 {
		if there() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// New makes a server with its files in a directory.
func New(dir string, o Options) (*Server, error) {
	s := &Server{dir: dir, options: o, port: "-1", CA: filepath.Join(dir, "ca.pem")}
	build := exec.Command("go", "build", "-o", s.file("nats-server"), "github.com/nats-io/nats-server/v2") //nolint:noctx // it ends by itself
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build nats-server: %w\n%s", err, out)
	}
	authority, err := NewAuthority()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(authority.Write(s.CA), authority.Issue(s.file("cert.pem"), s.file("key.pem"), Leaf{})); err != nil {
		return nil, err
	}
	return s, s.Start()
}

func (s *Server) file(name string) string { return filepath.Join(s.dir, name) }

// config is the server's configuration.
func (s *Server) config() string {
	var b strings.Builder
	fmt.Fprintf(&b, "listen: \"127.0.0.1:%s\"\nports_file_dir: %q\nlog_file: %q\n", s.port, s.dir, s.file("log"))
	if !s.options.Bare {
		fmt.Fprintf(&b, "jetstream { store_dir: %q, sync_interval: always }\n", s.file("store"))
	}
	if !s.options.Plain {
		fmt.Fprintf(&b, "tls { cert_file: %q, key_file: %q, ca_file: %q, verify: %v }\n", s.file("cert.pem"), s.file("key.pem"), s.CA, s.options.Verify)
	}
	if len(s.options.Homes) > 0 {
		b.WriteString("authorization { users: [\n")
		for _, key := range s.options.Homes {
			fmt.Fprintf(&b, "  { nkey: %s, permissions: { publish: [%s], subscribe: [%s] } }\n", key, publish, subscribe)
		}
		b.WriteString("] }\n")
	}
	return b.String() + s.options.Config + "\n"
}

// Start starts a killed server again: at the same address, with the same files.
func (s *Server) Start() error {
	if err := os.WriteFile(s.file("nats.conf"), []byte(s.config()), 0o600); err != nil {
		return err
	}
	s.process = exec.Command(s.file("nats-server"), "-c", s.file("nats.conf")) //nolint:noctx // see Kill
	if err := s.process.Start(); err != nil {
		return err
	}
	at, err := s.listens()
	if err != nil {
		log, _ := os.ReadFile(s.file("log"))
		s.Kill()
		return fmt.Errorf("start nats-server: %w\n%s", err, log)
	}
	s.URL = "tls://" + at
	if s.options.Plain {
		s.URL = "nats://" + at
	}
	_, s.port, err = net.SplitHostPort(at)
	return err
}

// listens waits until the server prints its address.
func (s *Server) listens() (string, error) {
	name := s.file(fmt.Sprintf("nats-server_%d.ports", s.process.Process.Pid))
	var at string
	if !within(func() bool {
		var ports struct {
			Nats       []string `json:"nats"`
			Monitoring []string `json:"monitoring"`
		}
		text, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(text, &ports) != nil || len(ports.Nats) == 0 {
			return false
		}
		u, err := url.Parse(ports.Nats[0])
		if err != nil {
			return false
		}
		c, err := net.Dial("tcp", u.Host) //nolint:noctx // on this machine
		if err != nil {
			return false
		}
		at, s.monitor = u.Host, strings.Join(ports.Monitoring, "")
		return c.Close() == nil
	}) {
		return "", errors.New("it does not say where it listens")
	}
	return at, nil
}

// Kill kills the server with SIGKILL.
func (s *Server) Kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// ClientCert returns a client certificate that the server accepts.
func (s *Server) ClientCert() (cert, key string) { return s.file("cert.pem"), s.file("key.pem") }

// Way is the way to the server.
func (s *Server) Way() hub.Address {
	w := hub.Address{URL: s.URL}
	if !s.options.Plain {
		w.CA = s.CA
	}
	return w
}

// An Authority signs certificates.
type Authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

// A Leaf is a server certificate. The zero value is valid, for 127.0.0.1.
type Leaf struct {
	Name string // of the host
	End  time.Time
}

// NewAuthority makes an authority.
func NewAuthority() (*Authority, error) {
	a := &Authority{}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	now := time.Now() //nolint:forbidigo // tests use the real time
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
	}
	a.cert.Raw, err = x509.CreateCertificate(rand.Reader, a.cert, a.cert, &a.key.PublicKey, a.key)
	return a, err
}

// Write writes the authority's certificate.
func (a *Authority) Write(file string) error { return write(file, "CERTIFICATE", a.cert.Raw) }

// Issue writes a certificate and its key.
func (a *Authority) Issue(cert, key string, leaf Leaf) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now() //nolint:forbidigo // tests use the real time
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: now.Add(-2 * time.Hour), NotAfter: now.Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if !leaf.End.IsZero() {
		template.NotAfter = leaf.End
	}
	if ip := net.ParseIP(cmp.Or(leaf.Name, "127.0.0.1")); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{leaf.Name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &private.PublicKey, a.key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	if err := write(cert, "CERTIFICATE", der); err != nil {
		return err
	}
	return write(key, "PRIVATE KEY", secret)
}

func write(file, kind string, b []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600)
}
