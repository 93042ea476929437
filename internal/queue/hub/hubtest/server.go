// Package hubtest runs NATS servers for tests, as operators do: nats-server in a separate process, with JetStream,
// TLS and keys.
package hubtest

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
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

	dir, at, monitor string
	process          *exec.Cmd
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
	routes, err := free(n)
	if err != nil {
		tb.Fatal(err)
	}
	var urls []string
	for i, at := range routes {
		one := o
		one.Config += fmt.Sprintf("server_name: n%d\ncluster { name: tests, listen: %q, routes: [nats://%s] }\n", i, at, strings.Join(routes, ", nats://"))
		s := Start(tb, one)
		all, urls = append(all, s), append(urls, s.URL)
	}
	for _, one := range all {
		one.Await(tb)
	}
	way = all[0].Way() // all have the same certificate
	way.URL = strings.Join(urls, ",")
	return all, way
}

// free returns addresses where nobody listens.
func free(n int) (all []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // on this machine
		if err != nil {
			return nil, err
		}
		defer l.Close() //nolint:errcheck // nobody connects
		all = append(all, l.Addr().String())
	}
	return all, nil
}

// Await waits until a server of a cluster is up to date.
func (s *Server) Await(tb testing.TB) {
	tb.Helper()
	if !within(func() bool {
		answer, err := http.Get("http://" + s.monitor + "/healthz") //nolint:noctx // on this machine
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
	at, err := free(2)
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "tls://" + at[0], CA: filepath.Join(dir, "ca.pem"), dir: dir, at: at[0], monitor: at[1]}
	build := exec.Command("go", "build", "-o", s.file("nats-server"), "github.com/nats-io/nats-server/v2") //nolint:noctx // it ends by itself
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build nats-server: %w\n%s", err, out)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "listen: %q\nhttp: %q\nlog_file: %q\njetstream { store_dir: %q, sync_interval: always }\n", s.at, s.monitor, s.file("log"), s.file("store"))
	if o.Plain {
		s.URL, s.CA = "nats://"+s.at, ""
	} else {
		fmt.Fprintf(&b, "tls { cert_file: %q, key_file: %q }\n", s.CA, s.file("key.pem"))
		if err := s.certify(); err != nil {
			return nil, err
		}
	}
	if len(o.Homes) > 0 {
		b.WriteString("authorization { users: [\n")
		for _, key := range o.Homes {
			fmt.Fprintf(&b, "  { nkey: %s, permissions: { publish: [%s], subscribe: [%s] } }\n", key, publish, subscribe)
		}
		b.WriteString("] }\n")
	}
	b.WriteString(o.Config)
	if err := os.WriteFile(s.file("nats.conf"), []byte(b.String()), 0o600); err != nil {
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

// Start starts a killed server again: at the same address, with the same files.
func (s *Server) Start() error {
	s.process = exec.Command(s.file("nats-server"), "-c", s.file("nats.conf")) //nolint:noctx // see Kill
	if err := s.process.Start(); err != nil {
		return err
	}
	if !within(func() bool {
		c, err := net.Dial("tcp", s.at) //nolint:noctx // on this machine
		return err == nil && c.Close() == nil
	}) {
		log, _ := os.ReadFile(s.file("log"))
		s.Kill()
		return fmt.Errorf("nats-server does not start:\n%s", log)
	}
	return nil
}

// Kill kills the server with SIGKILL.
func (s *Server) Kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// Way is the way to the server.
func (s *Server) Way() hub.Address { return hub.Address{URL: s.URL, CA: s.CA} }
