package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"codeloops/internal/e2e/model"
)

// A server serves the models of all runs, identified by their keys.
type server struct {
	once sync.Once
	url  string

	mu      sync.Mutex
	scripts map[string]model.Script
	asked   map[string]int
}

func newServer() *server {
	return &server{scripts: map[string]model.Script{}, asked: map[string]int{}}
}

// serve returns the address of a script.
func (s *server) serve(key string, script model.Script) string {
	s.once.Do(s.listen)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[key] = script
	return s.url + "/k/" + key
}

func (s *server) listen() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err) // there is no loopback
	}
	s.url = "http://" + l.Addr().String()
	go http.Serve(l, s.traced(model.Handler(s.answer)))
}

func (s *server) answer(r model.Request) model.Answer {
	s.mu.Lock()
	script := s.scripts[r.Key]
	s.asked[r.Key]++
	s.mu.Unlock()
	if script == nil {
		return model.Answer{Text: "nobody answers to this key"}
	}
	return script(r)
}

// traced saves requests if E2E_TRACE names a directory.
func (s *server) traced(h http.Handler) http.Handler {
	dir := os.Getenv(traceVar)
	if dir == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		key, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/k/"), "/")
		s.mu.Lock()
		f, err := os.OpenFile(filepath.Join(dir, key+".jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			if !json.Valid(body) {
				body = []byte("null")
			}
			fmt.Fprintf(f, "{\"method\":%q,\"path\":%q,\"body\":%s}\n", r.Method, r.URL.Path, body)
			f.Close()
		}
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	})
}
