package hub_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/hub/hubtest"
	"codeloops/internal/wording/hint"
)

// reaches expects that a way reaches a hub.
func reaches(t *testing.T, h *hub.Home, w hub.Address) {
	t.Helper()
	link, err := h.Reach(w)
	if err != nil {
		text, _ := hint.Of(err)
		t.Errorf("%v\nhint: %s", err, text)
		return
	}
	if err := link.Close(); err != nil {
		t.Error(err)
	}
}

// refuses expects an error and a hint with these texts, which must not show passwords.
func refuses(t *testing.T, h *hub.Home, w hub.Address, problem, advice string) {
	t.Helper()
	link, err := h.Reach(w)
	if err == nil {
		_ = link.Close()
		t.Errorf("no error, want %q", problem)
		return
	}
	text, _ := hint.Of(err)
	if !strings.Contains(err.Error(), problem) || !strings.Contains(text, advice) {
		t.Errorf("got\n%v\nhint: %s\nwant %q, %q", err, text, problem, advice)
	}
	if strings.Contains(err.Error()+text, "secret") {
		t.Errorf("a password is shown: %v, %s", err, text)
	}
}

func TestServersOfOperators(t *testing.T) {
	t.Parallel()
	h, stranger := home(t), home(t)
	s := hubtest.Start(t, hubtest.Options{Homes: []string{h.PublicKey}})
	t.Run("TLS and keys", func(t *testing.T) {
		t.Parallel()
		reaches(t, h, s.Way())
		refuses(t, stranger, s.Way(), "does not know the key of this home", "add this line to the hub's --authorized file: "+stranger.PublicKey)
		refuses(t, h, hub.Address{URL: s.URL}, "the certificate of the hub at "+s.URL+" is not one that this machine trusts", "#sha256=")
		refuses(t, h, hub.Address{URL: s.URL + "#sha256=" + strings.Repeat("0", 64)}, "is not the one in the address", "somebody else answers")
	})
	plain := hubtest.Start(t, hubtest.Options{Plain: true})
	t.Run("neither", func(t *testing.T) {
		t.Parallel()
		reaches(t, h, plain.Way())
		reaches(t, h, hub.Address{URL: strings.TrimPrefix(plain.URL, "nats://")})
		refuses(t, h, hub.Address{URL: strings.Replace(plain.URL, "nats:", "tls:", 1)}, "does not use TLS", "give it a certificate")
	})
	named := hubtest.Start(t, hubtest.Options{Config: "authorization { user: me, password: secret }"})
	t.Run("name and password", func(t *testing.T) {
		t.Parallel()
		w := named.Way()
		w.URL = strings.Replace(w.URL, "//", "//me:secret@", 1)
		reaches(t, h, w)
		w.URL = strings.Replace(w.URL, "secret@", "secretive@", 1)
		refuses(t, h, w, "refuses the credentials", "check the user and password")
	})
	token := hubtest.Start(t, hubtest.Options{Plain: true, Config: "authorization { token: secrettoken }"})
	t.Run("token", func(t *testing.T) {
		t.Parallel()
		w := token.Way()
		w.URL = strings.Replace(w.URL, "//", "//secrettoken@", 1)
		reaches(t, h, w)
	})
	dir := t.TempDir()
	ca, cert, key := filepath.Join(dir, "ca"), filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	signer, err := newAuthority()
	if err := errors.Join(err, signer.write(ca), signer.issue(cert, key, certificate{})); err != nil {
		t.Fatal(err)
	}
	shown := hubtest.Start(t, hubtest.Options{Plain: true, Config: fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }", cert, key, ca)})
	t.Run("a certificate of one's own", func(t *testing.T) {
		t.Parallel()
		w := hub.Address{URL: shown.URL, CA: ca}
		refuses(t, h, w, "cannot be reached", "queue.cert")
		w.Cert, w.Key = cert, key
		reaches(t, h, w)
	})
}

// A hub that cannot be reached and a wrong address are errors with a hint and without the password.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	h := home(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	refuses(t, h, hub.Address{URL: "nats://me:secret@" + at}, "the hub at nats://"+at+" cannot be reached", "is a hub running there")
	refuses(t, h, hub.Address{URL: "tls://hub.invalid"}, "the hub at tls://hub.invalid cannot be reached", "is a hub running there")
	for address, problem := range map[string]string{
		"http://me:secret@host":       "begins with http://, and only nats:// and tls:// are known",
		"nats://me:secret@host:port":  "is no URL of a server",
		"tls://me:secret@":            "is no URL of a server",
		"tls://host#sha256=12":        "is no digest of a certificate",
		"tls://host, http://secret@x": "begins with http://",
	} {
		refuses(t, h, hub.Address{URL: address}, problem, "tls://host:4222")
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	signer, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	if err := signer.write(in("ca")); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		leaf            certificate
		problem, advice string
	}{
		"good":    {},
		"expired": {certificate{End: time.Now().Add(-time.Hour)}, "certificate has expired", "is the clock of this machine right?"},
		"another": {certificate{Name: "other.example"}, "is not one that this machine trusts", "queue.ca"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cert, key := in(name+".cert"), in(name+".key")
			if err := signer.issue(cert, key, test.leaf); err != nil {
				t.Fatal(err)
			}
			h := home(t)
			served, err := h.Serve(t.Context(), hub.Options{Listen: "127.0.0.1:0", Cert: cert, Key: key})
			if err != nil {
				t.Fatal(err)
			}
			defer served.Close()
			address, pin, _ := strings.Cut(served.Address(), "#")
			w := hub.Address{URL: address, CA: in("ca")}
			if test.problem == "" {
				reaches(t, h, w)
			} else {
				refuses(t, h, w, test.problem, test.advice)
			}
			text, err := os.ReadFile(cert)
			if err != nil {
				t.Fatal(err)
			}
			block, _ := pem.Decode(text)
			sum := sha256.Sum256(block.Bytes)
			if want := "sha256=" + hex.EncodeToString(sum[:]); pin != want {
				t.Errorf("the address ends with %q, want %q", pin, want)
			}
			reaches(t, h, hub.Address{URL: served.Address()}) // the certificate is pinned, so its names do not matter
		})
	}
	bad := in("nothing")
	if err := os.WriteFile(bad, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := home(t)
	refuses(t, h, hub.Address{URL: "tls://127.0.0.1:1", CA: bad}, bad+" contains no certificate", "PEM")
}

// A self-signed hub keeps its certificate.
func TestSelfSigned(t *testing.T) {
	t.Parallel()
	h, friend := home(t), home(t)
	list := filepath.Join(t.TempDir(), "authorized")
	if err := os.WriteFile(list, []byte("# who may come\n\n"+friend.Introduction()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var address string
	for range 2 {
		served, err := h.Serve(t.Context(), hub.Options{Listen: "0.0.0.0:0", SelfSigned: true, Authorized: list})
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(strings.TrimPrefix(hub.Shown(served.Address()), "tls://"))
		if err != nil {
			t.Fatal(err)
		}
		_, pin, _ := strings.Cut(served.Address(), "#")
		reaches(t, friend, hub.Address{URL: "tls://127.0.0.1:" + port + "#" + pin})
		refuses(t, home(t), hub.Address{URL: "tls://127.0.0.1:" + port + "#" + pin}, "does not know the key", "--authorized")
		link, err := h.Connect(t.Context()) // like the user's other processes
		if err != nil {
			t.Fatal(err)
		}
		if err := link.Close(); err != nil {
			t.Error(err)
		}
		if err := served.Close(); err != nil {
			t.Error(err)
		}
		if address != "" && pin != address {
			t.Errorf("the certificate was %s and is %s", address, pin)
		}
		address = pin
	}
}

// Changes to the list of authorized keys apply while the hub runs.
func TestAuthorizedChanges(t *testing.T) {
	t.Parallel()
	h, friend := home(t), home(t)
	list := filepath.Join(t.TempDir(), "authorized")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(list+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(list+".new", list); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	said := make(chan string, 10)
	served, err := h.Serve(t.Context(), hub.Options{Authorized: list, Tell: func(s string) { said <- s }})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	own, err := h.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	refuses(t, friend, hub.Address{URL: served.Address()}, "does not know the key", "--authorized")
	write(friend.Introduction())
	if got := <-said; !strings.Contains(got, "1 home may connect besides this one") {
		t.Errorf("said %q", got)
	}
	reaches(t, friend, hub.Address{URL: served.Address()})
	write("nonsense\n")
	if got := <-said; !strings.Contains(got, list+", line 1: that is no public key") {
		t.Errorf("said %q", got)
	}
	reaches(t, friend, hub.Address{URL: served.Address()}) // a wrong list is ignored
	link, err := friend.Reach(hub.Address{URL: served.Address()})
	if err != nil {
		t.Fatal(err)
	}
	defer link.Conn.Close()
	write("# nobody\n")
	if got := <-said; !strings.Contains(got, "0 homes may connect besides this one") {
		t.Errorf("said %q", got)
	}
	for link.IsConnected() {
		time.Sleep(10 * time.Millisecond)
	}
	if err := own.Flush(); err != nil {
		t.Errorf("the hub's own home was disconnected: %v", err)
	}
	if err := own.Close(); err != nil {
		t.Error(err)
	}
}
