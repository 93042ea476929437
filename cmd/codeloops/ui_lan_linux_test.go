package main

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestPageLAN: with --lan the page is served over TLS, with a certificate that stays the same, to whoever has the token and asks by
// its address.
func TestPageLAN(t *testing.T) {
	t.Parallel()
	home, work := scriptedHome(t, uiScenario)
	b := &lanBrowser{T: t}
	b.client = http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, // a person compares the certificate
		VerifyConnection: func(s tls.ConnectionState) error {
			b.certificates = append(b.certificates, s.PeerCertificates[0].Raw)
			return nil
		},
	}}}
	for range 2 {
		address, stop := page(t, home, work, "--lan")
		b.visit(address)
		stop()
		b.client.CloseIdleConnections()
	}
	for _, one := range b.certificates {
		if !bytes.Equal(one, b.certificates[0]) {
			t.Error("the certificate has changed")
		}
	}
}

// A lanBrowser is a browser on another machine, as far as certificates and cookies go.
type lanBrowser struct {
	*testing.T

	client       http.Client
	certificates [][]byte // that it was shown
}

// visit signs in at an address that the page has printed.
func (b *lanBrowser) visit(address string) {
	b.Helper()
	base, token, _ := strings.Cut(address, "#")
	at, err := url.Parse(base)
	if err != nil || at.Scheme != "https" || strings.HasPrefix(at.Host, "127.") {
		b.Fatalf("its address is %s, %v", address, err)
	}
	bought := b.ask("POST", base+"session", "token="+token, "").Cookies()
	if len(bought) != 1 || !bought[0].Secure || !bought[0].HttpOnly {
		b.Fatalf("the token buys %v", bought)
	}
	for _, c := range []struct {
		what, address, host string
		cookies             []*http.Cookie
		want                int
	}{
		{"to a stranger", base + "list", "", nil, http.StatusUnauthorized},
		{"with the cookie", base + "list", "", bought, http.StatusOK},
		{"under another name", base + "list", "evil.example", bought, http.StatusForbidden},
		{"without TLS", "http://" + at.Host + "/", "", bought, http.StatusBadRequest},
	} {
		if res := b.ask("GET", c.address, "", c.host, c.cookies...); res.StatusCode != c.want {
			b.Errorf("%s it answers %s", c.what, res.Status)
		}
	}
}

func (b *lanBrowser) ask(method, address, body, host string, cookies ...*http.Cookie) *http.Response {
	b.Helper()
	q, err := http.NewRequestWithContext(b.Context(), method, address, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	q.Host = cmp.Or(host, q.Host)
	for _, c := range cookies {
		q.AddCookie(c)
	}
	res, err := b.client.Do(q)
	if err != nil {
		b.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res
}
