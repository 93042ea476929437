package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestNewest: a release is newer by its numbers alone, and what names no release is an error.
func TestNewest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		have, answer string
		newer, fails bool
	}{
		{"v1.2.3", `{"tag_name":"v1.10.0","html_url":"https://x"}`, true, false},
		{"v1.10.0", `{"tag_name":"v1.9.9"}`, false, false},
		{"v1.2.3", `{"tag_name":"v1.2.3"}`, false, false},
		{"(devel)", `{"tag_name":"v1.2.3"}`, false, false},
		{"v1.2.4-0.20260101-abc", `{"tag_name":"v9.9.9"}`, false, false},
		{"v1.2.3", `{"tag_name":"nightly"}`, false, true},
		{"v1.2.3", `{"tag_name":"v1.-2.3"}`, false, true},
		{"v1.2.3", `<html>`, false, true},
		{"v1.2.3", "", false, true},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.answer == "" {
				w.WriteHeader(http.StatusForbidden)
			}
			_, _ = w.Write([]byte(c.answer))
		}))
		n, err := newestAt(t.Context(), server.URL, c.have)
		server.Close()
		if (err != nil) != c.fails || err == nil && n.Newer != c.newer {
			t.Errorf("%+v: %+v, %v", c, n, err)
		}
	}
}
