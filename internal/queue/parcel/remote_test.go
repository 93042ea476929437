package parcel_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"codeloops/internal/queue/parcel"
)

// Credentials are removed from a remote's address, and addresses that run commands are refused.
func TestRemoteAt(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://me:secret@example.com/p.git":   "https://example.com/p.git",
		"https://secret@example.com/p.git":      "https://example.com/p.git",
		"ssh://git:secret@example.com:22/p.git": "ssh://git@example.com:22/p.git",
		"git@example.com:p.git":                 "git@example.com:p.git",
		"file:///srv/p.git":                     "file:///srv/p.git",
		"/srv/p.git":                            "/srv/p.git",
		"../p.git":                              "",
		"ext::sh -c 'echo secret'":              "",
		"ext::secret://":                        "",
		"--upload-pack=secret":                  "",
		"-oProxyCommand=secret:p":               "",
		"-u@example.com:p":                      "",
		"ftp://secret@example.com/p":            "",
		"https://secret:%zz@example.com/p":      "",
		"":                                      "",
		"https://example.com/\nsecret":          "",
	} {
		r, err := parcel.RemoteAt(address)
		if err != nil && (want != "" || strings.Contains(err.Error(), "secret")) || err == nil && r.URL != want {
			t.Errorf("%q: %+v, %v, want %q", address, r, err, want)
		}
	}
}

// Errors about a remote that denies access do not show the credentials in its address.
func TestSecretAddress(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(s.Close)
	b := newBench(t)
	for _, who := range []string{"secret", "me:secret", "s%65cret:secret"} {
		r, err := parcel.RemoteAt(strings.Replace(s.URL, "://", "://"+who+"@", 1) + "/p.git")
		if err != nil {
			t.Fatal(err)
		}
		err = b.room.Push(t.Context(), r, "t", 1)
		if err == nil || strings.Contains(err.Error(), "cret") || !strings.Contains(err.Error(), r.URL) {
			t.Errorf("%s: %v", who, err)
		} else {
			t.Log(err)
		}
		if _, away := errors.AsType[*parcel.AwayError](err); away {
			t.Errorf("%s: a remote that denies access was taken for one that is away: %v", who, err)
		}
	}
}
