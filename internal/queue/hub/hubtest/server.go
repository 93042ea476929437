// Package hubtest runs NATS servers for tests, as operators do: nats-server in a separate process, with JetStream,
// TLS and keys.
package hubtest

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
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
	if err := s.certify(); err != nil {
		return nil, err
	}
	return s, s.Start()
}

// certify gives the server the certificate of Go's own tests, which has signed itself.
func (s *Server) certify() error {
	of := httptest.NewTLSServer(nil)
	defer of.Close()
	cert := of.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	for file, block := range map[string]*pem.Block{s.CA: {Type: "CERTIFICATE", Bytes: cert.Certificate[0]}, s.file("key.pem"): {Type: "PRIVATE KEY", Bytes: key}} {
		err = errors.Join(err, os.WriteFile(file, pem.EncodeToMemory(block), 0o600))
	}
	return err
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
		fmt.Fprintf(&b, "tls { cert_file: %q, key_file: %q }\n", s.CA, s.file("key.pem"))
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

// Way is the way to the server.
func (s *Server) Way() hub.Address {
	w := hub.Address{URL: s.URL}
	if !s.options.Plain {
		w.CA = s.CA
	}
	return w
}
