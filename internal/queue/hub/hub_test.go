package hub_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"codeloops/internal/queue/hub"
	"codeloops/internal/wording/hint"
)

func home(t *testing.T) *hub.Home {
	t.Helper()
	h, err := hub.Open(filepath.Join(t.TempDir(), "queue"))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Only the user can read the files of a home, and its ID does not change.
func TestHomeIsPrivateAndStays(t *testing.T) {
	t.Parallel()
	h := home(t)
	again, err := hub.Open(h.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if again.ID() != h.ID() || h.ID() == "" {
		t.Errorf("the ID was %q and is %q", h.ID(), again.ID())
	}
	for _, name := range []string{".", "home", "key"} {
		info, err := os.Stat(h.In(name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
	}
}

// A command that finds no hub runs its own, and what it wrote is there for the next command.
func TestCommandsWithoutAHub(t *testing.T) {
	t.Parallel()
	h := home(t)
	put := func(value string) {
		link, err := h.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := link.Close(); err != nil {
				t.Error(err)
			}
		}()
		js, err := jetstream.New(link.Conn)
		if err != nil {
			t.Fatal(err)
		}
		kv, err := js.CreateOrUpdateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b"})
		if err != nil {
			t.Fatal(err)
		}
		if value == "" {
			e, err := kv.Get(t.Context(), "key")
			if err != nil || string(e.Value()) != "kept" {
				t.Errorf("%v, %v", e, err)
			}
			return
		}
		if _, err := kv.PutString(t.Context(), "key", value); err != nil {
			t.Fatal(err)
		}
	}
	put("kept")
	put("")
}

// A home has one hub, and only the home's key opens it.
func TestOneHubAndItsKey(t *testing.T) {
	t.Parallel()
	h := home(t)
	served, err := h.Serve(t.Context(), hub.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	if _, err := h.Serve(t.Context(), hub.Options{}); !errors.Is(err, hub.ErrServed) {
		t.Errorf("a second hub: %v", err)
	}
	stranger := home(t)
	if _, err := stranger.Dial(served.URL()); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("with another home's key: %v", err)
	}
	if _, err := nats.Connect(served.URL()); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without a key: %v", err)
	}
	conn, err := h.Dial(served.URL())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

// A hub that listens beyond the loopback interface needs a certificate.
func TestListeningBeyondLoopback(t *testing.T) {
	t.Parallel()
	h := home(t)
	for listen, want := range map[string]string{
		"0.0.0.0:0":   "can be reached by others and needs a certificate",
		"[::]:0":      "can be reached by others and needs a certificate",
		":0":          "can be reached by others and needs a certificate",
		"nonsense":    "is no address to listen on",
		"127.0.0.1:x": "is no address to listen on",
	} {
		if _, err := h.Serve(t.Context(), hub.Options{Listen: listen}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("listening on %s: %v", listen, err)
		}
	}
	signer, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	cert, key := filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key")
	if err := signer.issue(cert, key, certificate{}); err != nil {
		t.Fatal(err)
	}
	served, err := h.Serve(t.Context(), hub.Options{Listen: "127.0.0.1:0", Cert: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	link, err := h.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := link.TLSConnectionState(); err != nil {
		t.Error("the connection is not encrypted")
	}
	if err := link.Close(); err != nil {
		t.Error(err)
	}
}

// A hub waits until a command that has the queue to itself has ended, or until its context is cancelled.
func TestServeWaitsForACommand(t *testing.T) {
	t.Parallel()
	h := home(t)
	link, err := h.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := h.Serve(stopped, hub.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled hub: %v", err)
	}
	var waiting sync.WaitGroup
	waiting.Go(func() {
		served, err := h.Serve(t.Context(), hub.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		if err := served.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := link.Close(); err != nil {
		t.Error(err)
	}
	waiting.Wait()
}

// A command that shares the hub of another command becomes the hub when that command ends.
func TestShareTakesThePlace(t *testing.T) {
	t.Parallel()
	h := home(t)
	first, err := h.Share(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := h.Share(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	for tries := 1; second.FlushTimeout(time.Second) != nil; tries++ { // a request fails if the first command ends meanwhile
		if tries == 15 {
			t.Fatal("nobody serves the queue")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
}

// A hub that cannot store its address says so in one sentence, with a hint.
func TestAddressThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	h := home(t)
	if err := os.Mkdir(h.In("hub.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := h.Serve(t.Context(), hub.Options{})
	if advice, ok := hint.Of(err); err == nil || !ok || !strings.HasPrefix(err.Error(), "the hub cannot store its address: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v (%s)", err, advice)
	}
}

// If a hub started with `codeloops queue serve` is gone, workers are told to start it again. If it was another command's,
// they are not, as this process becomes the hub.
func TestHubThatWasKilled(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		h := home(t)
		var end func() error
		if shared {
			link, err := h.Share(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			end = link.Close
		} else {
			served, err := h.Serve(t.Context(), hub.Options{})
			if err != nil {
				t.Fatal(err)
			}
			end = served.Close
		}
		link, err := h.Share(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		told := make(chan string, 10)
		link.Tell(func(sentence string) { told <- sentence })
		if err := end(); err != nil {
			t.Error(err)
		}
		if said := <-told; !strings.HasPrefix(said, "the hub is away; ") || strings.HasSuffix(said, "start it: codeloops queue serve") == shared {
			t.Errorf("shared %t: %s", shared, said)
		}
		if err := link.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A command that shares the queue just when a hub ends can be reached by others.
func TestShareAsAHubEnds(t *testing.T) {
	t.Parallel()
	h := home(t)
	for n := range 30 {
		served, err := h.Serve(t.Context(), hub.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var ending sync.WaitGroup
		ending.Go(func() {
			time.Sleep(time.Duration(n) * 300 * time.Microsecond)
			if err := served.Close(); err != nil {
				t.Error(err)
			}
		})
		link, err := h.Share(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ending.Wait()
		other, err := h.Connect(t.Context())
		if err != nil {
			t.Fatalf("round %d: %v", n, err)
		}
		_, _ = other.Close(), link.Close() // one may lead to the hub that has ended
	}
}
