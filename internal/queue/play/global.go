package play

import (
	"crypto/sha256"
	"fmt"
	"os"

	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/file"
	"codeloops/internal/queue"
	"codeloops/internal/queue/hub"
	"codeloops/internal/wording/hint"
)

// KeepGlobal keeps a copy of the user's configuration file as it is, and returns its digest: the agent of one task could
// rewrite what judges the next one. It may hold secrets, so it stays in the home.
func KeepGlobal(home *hub.Home, h *host.Host) (digest string, err error) {
	paths, err := config.Locate(config.Options{Env: h.Environ, Home: h.Home()})
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(paths.Global)
	if err != nil && !file.Missing(err) {
		return "", err
	}
	digest = digestOf(text)
	err = os.MkdirAll(home.In("configs"), 0o700)
	if err == nil {
		err = file.Write(globalFile(home, digest), text, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("keep a copy of %s for the task: %w", paths.Global, err)
	}
	return digest, nil
}

func globalFile(home *hub.Home, digest string) string { return home.In("configs", digest+".toml") }

// global returns the copy for a task; "" is none, as on other machines, where the configuration of their user applies.
func (p *Player) global(t *queue.Task) (string, error) {
	if t.Global == "" || !t.Repository.At(p.Home.ID()) {
		return "", nil
	}
	name := globalFile(p.Home, t.Global)
	text, err := os.ReadFile(name)
	if err != nil || digestOf(text) != t.Global {
		return "", hint.Errorf("codeloops queue rm "+t.ID+", then add it again", "%s no longer holds the configuration that the task was added with: was it an agent?", name)
	}
	return name, nil
}

func digestOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }
