package hub

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// look is the interval for checking the authorized keys, and a full disk.
const look = time.Second

// tend admits the homes that are added to the file, of which last is the known text, and restarts the server
// when a full disk has space again.
func (b *Hub) tend(last string) {
	t := time.NewTicker(look)
	defer t.Stop()
	broken := ""
	for {
		select {
		case <-b.done:
			return
		case why := <-b.faults:
			if broken == "" {
				b.options.Tell("the hub cannot write to its disk: " + why + "; until it can, it accepts nothing new, and what it has accepted is kept")
			}
			broken = why
		case <-t.C:
			if now, _ := os.ReadFile(b.options.Authorized); string(now) != last {
				last = string(now)
				b.admit()
			}
			if broken != "" && b.room() == nil && b.again() == nil {
				broken = ""
				b.options.Tell("the hub can write to its disk again, and goes on")
			}
		}
	}
}

// admit admits the homes that the file lists now. If it cannot be read, nothing changes.
func (b *Hub) admit() {
	so, err := b.settings()
	if err == nil {
		err = b.server.Load().ReloadOptions(so)
	}
	if err != nil {
		b.options.Tell(err.Error() + "; the homes admitted before still are")
		return
	}
	b.options.Tell(wording.Count(len(so.Nkeys)-1, "home") + " may connect besides this one")
}

// room reports whether the disk has space. JetStream reserves some when it starts.
func (b *Hub) room() error {
	f, err := os.CreateTemp(b.home.Dir, "room.*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // there is nothing in it
	_, err = f.Write(make([]byte, 1<<20))
	return errors.Join(err, f.Sync(), f.Close())
}

// again restarts the server at the same address: it does not retry a stream that it could not write.
func (b *Hub) again() error {
	so, err := b.settings()
	if err != nil {
		return err
	}
	if at, ok := b.server.Load().Addr().(*net.TCPAddr); ok {
		so.Port = at.Port
	}
	b.shutdown()
	for err = b.run(so); err != nil; err = b.run(so) {
		select {
		case <-b.done:
			return err
		case <-time.After(look):
		}
	}
	select {
	case <-b.faults: // from the old server
	default:
	}
	return nil
}

// faults is a server's log. It passes on write errors, the reason of a failed start, and damage that the server has found in
// its store, which it leaves out.
type faults struct {
	tell, fatal, damage chan string
}

// Errorf passes on a write error.
func (f *faults) Errorf(format string, v ...any) {
	if text := fmt.Sprintf(format, v...); strings.Contains(text, "write error") || strings.Contains(text, "out of ") {
		put(f.tell, text[strings.LastIndex(text, ": ")+1:])
	}
}

// Fatalf passes on why a server cannot start.
func (f *faults) Fatalf(format string, v ...any) { put(f.fatal, fmt.Sprintf(format, v...)) }

func put(to chan string, text string) {
	select {
	case to <- strings.TrimSpace(text):
	default:
	}
}

// Warnf passes on what the server says of a stream that it cannot read. The state of a stream is an index, which it makes again.
func (f *faults) Warnf(format string, v ...any) {
	text := fmt.Sprintf(format, v...)
	if damaged := strings.Contains(text, "checksum") || strings.Contains(text, "corrupt"); damaged && !strings.Contains(strings.ToLower(text), "stream state") {
		put(f.damage, text)
	}
}

// Noticef and the methods below do nothing.
func (f *faults) Noticef(string, ...any) {}

// Debugf is as Noticef.
func (f *faults) Debugf(string, ...any) {}

// Tracef is as Noticef.
func (f *faults) Tracef(string, ...any) {}

// users lists the homes that the hub admits: its own, and those in the file.
func (b *Hub) users() ([]*server.NkeyUser, error) {
	own := b.home.PublicKey
	all := []*server.NkeyUser{{Nkey: own}}
	if b.options.Authorized == "" {
		return all, nil
	}
	text, err := os.ReadFile(b.options.Authorized)
	if err != nil {
		return nil, fmt.Errorf("read the hub's authorized keys: %w", err)
	}
	seen, n := map[string]bool{own: true}, 0
	for line := range strings.Lines(string(text)) {
		n++
		key, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == "" || key[0] == '#' || seen[key] {
			continue
		}
		if !nkeys.IsValidPublicUserKey(key) {
			return nil, hint.Errorf("codeloops queue serve key prints a machine's key, on that machine", "%s, line %d: that is no public key", b.options.Authorized, n)
		}
		seen[key] = true
		all = append(all, &server.NkeyUser{Nkey: key})
	}
	return all, nil
}

// certificate returns the hub's certificate; nil is none.
func (b *Hub) certificate() (*tls.Certificate, error) {
	cert, key := b.options.Cert, b.options.Key
	if b.options.SelfSigned {
		if _, err := b.home.once("tls.pem", selfSigned); err != nil {
			return nil, err
		}
		cert, key = b.home.In("tls.pem"), b.home.In("tls.pem")
	}
	if cert == "" && key == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of the hub: %w", err)
	}
	return &pair, nil
}

// selfSigned makes a certificate with its key. Clients know it by its digest, so it names no host and practically
// never expires.
func selfSigned() ([]byte, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "codeloops hub"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return nil, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...), nil
}
