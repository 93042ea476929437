package parcel_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"codeloops/internal/proc"
	"codeloops/internal/queue/git"
	"codeloops/internal/queue/git/gittest"
	"codeloops/internal/queue/hub"
	"codeloops/internal/queue/parcel"
)

func TestMain(m *testing.M) {
	if proc.Keep() {
		return
	}
	os.Exit(m.Run())
}

// BenchmarkBundle sends 50 MB of incompressible data from a repository to a mirror, over TCP and through a hub that
// stores them on disk. Sender, hub and receiver are this process.
func BenchmarkBundle(b *testing.B) {
	const size = 50 << 20
	repo := gittest.New(b)
	noise := make([]byte, 1<<20)
	for i := range size / len(noise) {
		_, _ = rand.Read(noise)
		repo.Write(fmt.Sprintf("noise/%02d", i), string(noise))
	}
	base := repo.Save("noise")
	repo.Git("gc", "--quiet")
	home, err := hub.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	served, err := home.Serve(b.Context(), hub.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = served.Close() })
	open := func() *parcel.Store {
		conn, err := home.Dial(served.URL())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(conn.Close)
		store, err := parcel.OpenStore(b.Context(), conn, 1)
		if err != nil {
			b.Fatal(err)
		}
		return store
	}
	from, to := open(), open()
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // resets the peak
	b.SetBytes(size)
	for b.Loop() {
		dir := b.TempDir()
		travel(b, repo.Repo, dir, base, from, to)
	}
	if peak := peak(); peak > 0 {
		b.ReportMetric(peak, "peak-MB")
	}
}

func travel(b *testing.B, repo *git.Repo, dir, base string, from, to *parcel.Store) {
	b.Helper()
	ctx, name := b.Context(), filepath.Base(dir)
	var took [4]time.Duration
	step := func(n int, do func() error) {
		b.Helper()
		began := time.Now()
		if err := do(); err != nil {
			b.Fatal(err)
		}
		took[n] = time.Since(began)
	}
	step(0, func() error {
		room, err := parcel.OpenRoom(filepath.Join(dir, "room.git"), repo.Starter, repo.Environ, filepath.Join(repo.CommonDir, "objects"))
		if err == nil {
			err = room.Set(ctx, map[string]string{parcel.Branch: base})
		}
		if err == nil {
			_, err = room.Bundle(ctx, filepath.Join(dir, "sent"), nil)
		}
		return err
	})
	step(1, func() error { return from.Put(ctx, name, filepath.Join(dir, "sent")) })
	step(2, func() error { return to.Get(ctx, name, filepath.Join(dir, "got")) })
	step(3, func() error {
		mirror, err := parcel.OpenRoom(filepath.Join(dir, "mirror.git"), repo.Starter, repo.Environ)
		if err == nil {
			err = mirror.Unbundle(ctx, filepath.Join(dir, "got"))
		}
		return err
	})
	b.StopTimer()
	b.Logf("bundle %v, send %v, fetch %v, take in %v", took[0], took[1], took[2], took[3])
	if err := from.Delete(ctx, name); err != nil {
		b.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
}

// peak returns the peak memory use of this process, in MB; 0 if it is unknown.
func peak() float64 {
	text, _ := os.ReadFile("/proc/self/status")
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		return 0
	}
	kb, _ := strconv.ParseFloat(string(m[1]), 64)
	return kb / 1024
}
