package fence

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/wording/hint"
)

// LAN listens where other machines of the local network can ask, over TLS, with a certificate of this machine's own that is
// kept in dir. Nobody else vouches for it: digest is its SHA-256, by which a person can tell that it is this one.
func LAN(ctx context.Context, port int, dir string, now time.Time) (l net.Listener, digest string, err error) {
	ip, err := address(ctx)
	if err != nil {
		return nil, "", err
	}
	own, err := certificate(filepath.Join(dir, "lan.pem"), ip, now)
	if err != nil {
		return nil, "", fmt.Errorf("make the certificate of this machine: %w", err)
	}
	plain, err := listen(ctx, net.JoinHostPort(ip.String(), strconv.Itoa(port)))
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(own.Certificate[0])
	return tls.NewListener(plain, &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS13}), hex.EncodeToString(sum[:]), nil
}

// address is the one under which other machines know this one.
func address(ctx context.Context) (net.IP, error) {
	c, err := new(net.Dialer).DialContext(ctx, "udp", "192.0.2.1:9") // of nobody (RFC 5737): it says which way leads out, and sends nothing
	if err != nil {
		return nil, hint.Errorf("connect it, or leave --lan out", "this machine is in no network: %w", err)
	}
	defer c.Close() //nolint:errcheck // nothing was sent
	at, is := c.LocalAddr().(*net.UDPAddr)
	if !is {
		return nil, errors.New("the address of this machine is not known")
	}
	return at.IP, nil
}

// certificate returns the one in a file, if it is for an address and still holds, or else makes it anew.
func certificate(path string, ip net.IP, now time.Time) (tls.Certificate, error) {
	if own, err := tls.LoadX509KeyPair(path, path); err == nil && own.Leaf.VerifyHostname(ip.String()) == nil && now.Before(own.Leaf.NotAfter) {
		return own, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	const days = 365 // browsers refuse those that hold for long
	as := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "codeloops"}, IPAddresses: []net.IP{ip},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(0, 0, days),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	body, err := x509.CreateCertificate(rand.Reader, as, as, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	var text strings.Builder
	err = errors.Join(pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: body}), pem.Encode(&text, &pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = file.Write(path, []byte(text.String()), 0o600)
	}
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.LoadX509KeyPair(path, path)
}
