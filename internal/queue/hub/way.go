package hub

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"codeloops/internal/wording/hint"
)

// An Address is how to reach a hub elsewhere: codeloops' own, or any NATS server with JetStream.
type Address struct {
	// URL is nats://HOST:PORT or tls://HOST:PORT; those of a cluster are separated by commas. A user and password,
	// or a token, may precede the host. A suffix "#sha256=DIGEST" pins the certificate, as SSH does with host
	// keys: then the hub needs no authority, and no certificate signed by one is accepted instead.
	URL string
	// CA is a file with certificate authorities; "": the system's.
	CA string
	// Cert and Key are files with a client certificate; "": none.
	Cert, Key string
	// Creds is a NATS credentials file; "": the home's key.
	Creds string
}

const pinned = "sha256="

// servers parses the URLs, and splits off the digest.
func (w Address) servers() (all []*url.URL, pin string, err error) {
	bad := func(what string) error { // the address itself may contain a password
		return hint.Errorf("write it like tls://host:4222, as codeloops queue serve prints it", "the address of the hub %s", what)
	}
	for _, u := range parsed(w.URL) {
		switch {
		case u == nil || u.Hostname() == "":
			return nil, "", bad("is no URL of a server")
		case u.Scheme != "nats" && u.Scheme != "tls":
			return nil, "", bad(fmt.Sprintf("begins with %s://, and only nats:// and tls:// are known", u.Scheme))
		case u.Fragment != "" && (!strings.HasPrefix(u.Fragment, pinned) || len(u.Fragment) != len(pinned)+64):
			return nil, "", bad("ends with something that is no digest of a certificate: #sha256= and 64 digits")
		case u.Port() == "":
			u.Host = net.JoinHostPort(u.Hostname(), "4222")
		}
		pin = cmp.Or(pin, strings.ToLower(strings.TrimPrefix(u.Fragment, pinned)))
		u.Fragment, u.Path = "", ""
		all = append(all, u)
	}
	return all, pin, nil
}

// parsed returns the URLs in an address; nil for an invalid one.
func parsed(address string) (all []*url.URL) {
	for one := range strings.SplitSeq(address, ",") {
		if one = strings.TrimSpace(one); !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		u, err := url.Parse(one)
		if err != nil {
			u = nil
		}
		all = append(all, u)
	}
	return all
}

// Secrets lists the passwords and tokens in an address.
func Secrets(address string) (all []string) {
	for _, u := range parsed(address) {
		if u == nil || u.User == nil {
			continue
		}
		secret, has := u.User.Password()
		if !has {
			secret = u.User.Username() // a token
		}
		all = append(all, secret)
	}
	return all
}

// Shown is an address without passwords, tokens and digests.
func Shown(address string) string {
	var all []string
	for _, u := range parsed(address) {
		if u != nil {
			all = append(all, u.Scheme+"://"+u.Host)
		}
	}
	return strings.Join(all, ",")
}

// Reach connects to a hub elsewhere as this home, and reconnects for as long as it takes.
func (h *Home) Reach(w Address) (*Link, error) {
	servers, pin, err := w.servers()
	if err != nil {
		return nil, err
	}
	secure, err := w.tls(pin)
	if err != nil {
		return nil, err
	}
	var urls []string
	var options []nats.Option
	for _, u := range servers {
		urls = append(urls, u.String())
		// Whoever can change the traffic could make the workers run commands, so it is encrypted beyond this
		// machine.
		if pin != "" || u.Scheme == "tls" || !loopback(u.Hostname()) {
			options = append(options, nats.Secure(secure))
		}
	}
	if len(options) == 0 {
		options = append(options, func(o *nats.Options) error { o.TLSConfig = secure; return nil }) // the server may require it
	}
	options = append(options, nats.IgnoreAuthErrorAbort()) // a rejected client may be admitted later
	at := strings.Join(urls, ",")
	var conn *nats.Conn
	switch {
	case w.Creds != "":
		conn, err = dial(at, append(options, nats.UserCredentials(w.Creds))...)
	case slices.ContainsFunc(servers, func(u *url.URL) bool { return u.User != nil }):
		conn, err = dial(at, options...)
	default:
		if conn, err = dial(at, append(slices.Clip(options), h.asItself())...); errors.Is(err, nats.ErrNkeysNotSupported) {
			conn, err = dial(at, options...) // the server needs no authentication
		}
	}
	if err != nil {
		return nil, h.refused(w, err)
	}
	return &Link{Conn: conn}, nil
}

// tls configures how the hub's certificate is checked, and which one is shown to it.
func (w Address) tls(pin string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if pin != "" {
		c.InsecureSkipVerify = true // replaced by the check of the digest
		c.VerifyConnection = func(s tls.ConnectionState) error { return isCert(s, pin) }
	}
	if w.CA != "" {
		text, err := os.ReadFile(w.CA)
		if err != nil {
			return nil, fmt.Errorf("read the certificate authorities of the hub: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, hint.Errorf("it must hold certificates in PEM", "%s contains no certificate", w.CA)
		}
	}
	if w.Cert != "" || w.Key != "" {
		own, err := tls.LoadX509KeyPair(w.Cert, w.Key)
		if err != nil {
			return nil, fmt.Errorf("read the client certificate for the hub: %w", err)
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}

// errOtherCert says that a server has another certificate than expected.
var errOtherCert = errors.New("its certificate does not have the expected digest")

// refused explains why there is no connection.
func (h *Home) refused(w Address, err error) error {
	at := Shown(w.URL)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case errors.Is(err, nats.ErrAuthorization) && w.Creds == "" && len(Secrets(w.URL)) == 0:
		return hint.Errorf("add this line to the hub's --authorized file: "+h.Introduction(), "the hub at %s does not know the key of this home", at)
	case errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrNkeysNotSupported):
		return hint.Errorf("check the user and password, or the file in queue.creds", "the hub at %s refuses the credentials: %w", at, err)
	case errors.Is(err, nats.ErrSecureConnWanted) || noTLS:
		return hint.Errorf("give it a certificate, or use a tunnel: ssh -L 4222:127.0.0.1:4222 HOST",
			"the hub at %s does not use TLS, so others could read and change the traffic", at)
	case errors.Is(err, errOtherCert):
		return hint.Errorf("if its certificate is new, use the address that it prints when it starts; otherwise somebody else answers there",
			"the hub at %s is not the one in the address: %w", at, err)
	case untrusted:
		return hint.Errorf("take the whole address that the hub prints at its start, with #sha256=…, or name the authority in queue.ca; is the clock of this machine right?",
			"the certificate of the hub at %s is not one that this machine trusts: %w", at, err)
	}
	return hint.Errorf("is a hub running there, and can this machine connect to it? One that asks for a certificate gets that in queue.cert",
		"the hub at %s cannot be reached: %w", at, err)
}

// Introduction is the line that admits this home to a hub: its public key and a name.
func (h *Home) Introduction() string {
	host, _ := os.Hostname() // "" will do
	return strings.TrimSpace(h.PublicKey + " " + host)
}
