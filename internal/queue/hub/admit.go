package hub

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"codeloops/internal/wording/hint"
)

// users lists the homes that the hub admits: its own, and those in the file.
func (b *Hub) users() ([]*server.NkeyUser, error) {
	own, err := b.home.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("read the key of the queue: %w", err)
	}
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
			return nil, hint.Errorf("codeloops hub key prints a machine's key, on that machine", "%s, line %d: that is no public key", b.options.Authorized, n)
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
