// Package fence keeps what is served on this machine to the programs and pages of this machine.
//
// Who can reach a port is not who may use it: a web page of another site can have a browser send requests to it, also
// under a name of its own that it points here. So a server answers only under its own names, and only its own pages. A
// token has to say who asks, as programs of other users reach the port, too.
package fence

import (
	"context"
	"crypto/subtle"
	"net"
	"net/http"
	"slices"

	"codeloops/internal/wording/hint"
)

// Listen listens at HOST:PORT, where only this machine can ask; without a host, at 127.0.0.1.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, hint.Errorf("such as 127.0.0.1:8765", "%q is no address to listen on: %w", address, err)
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, hint.Errorf("listen on 127.0.0.1; from another machine, use ssh -L", "%s can be reached by others, who could have code run here", host)
	}
	return listen(ctx, net.JoinHostPort(host, port))
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, hint.Errorf("take another port; 0 is any that is free", "listen on %s: %w", address, err)
	}
	return l, nil
}

// Names are those by which a listener is asked: its address and, where only this machine can ask, localhost.
func Names(l net.Listener) []string {
	host, port, _ := net.SplitHostPort(l.Addr().String()) // it is an address
	if !net.ParseIP(host).IsLoopback() {
		return []string{net.JoinHostPort(host, port)}
	}
	return []string{net.JoinHostPort(host, port), net.JoinHostPort("localhost", port)}
}

// Around lets only requests to next that name the server as it is named, with at most so many bytes, and that come from no
// page of another site.
func Around(next http.Handler, names []string, maxBytes int64) http.Handler {
	sites := http.NewCrossOriginProtection().Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := "http://" + r.Host
		if r.TLS != nil {
			own = "https://" + r.Host
		}
		if origin := r.Header.Get("Origin"); !slices.Contains(names, r.Host) || origin != "" && origin != own {
			http.Error(w, "This server answers only under its own name, and no page of another site.", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBytes)
		sites.ServeHTTP(w, r)
	})
}

// Same reports whether two secrets are the same, and tells a guesser nothing by how long it takes.
func Same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
