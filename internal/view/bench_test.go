package view_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"codeloops/internal/proc"
	"codeloops/internal/view"
)

// BenchmarkOverlay measures the cost of a view compared to a command without one: opening
// and closing it (set-up), and finding what was written (look).
func BenchmarkOverlay(b *testing.B) {
	for _, files := range []int{10, 10_000, 100_000} {
		root := filepath.Join(b.TempDir(), "tree")
		for i := range files {
			dir := filepath.Join(root, strconv.Itoa(i/100))
			if i%100 == 0 {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					b.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), []byte("x"), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		runner := proc.NewRunner(time.Now)
		place := &view.Place{
			Root: root, GitDir: root, CommonDir: root, Home: b.TempDir(), Starter: runner,
			Ignored: func(string) bool { return false },
		}
		if _, err := place.Use(b.Context(), view.Overlay); err != nil {
			b.Skip(err)
		}
		command := proc.Command{Invocation: proc.Invocation{Argv: []string{"/bin/sh", "-c", ":"}, Dir: root}}
		b.Run(fmt.Sprintf("%d files", files), func(b *testing.B) {
			var plain, with, look time.Duration
			for b.Loop() {
				at := time.Now()
				if _, err := runner.Run(b.Context(), command); err != nil {
					b.Fatal(err)
				}
				plain += time.Since(at)
				at = time.Now()
				v, err := place.Open(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				c := command
				c.Argv = []string{"/bin/sh", "-c", "for i in 0 1 2 3 4 5 6 7 8 9; do echo y >0/$i; done"}
				if _, err := v.Run(b.Context(), c); err != nil {
					b.Fatal(err)
				}
				looked := time.Now()
				if w, err := v.Written(b.Context()); err != nil || len(w.Changed) != 10 {
					b.Fatal(w, err)
				}
				look += time.Since(looked)
				if err := v.Close(); err != nil {
					b.Fatal(err)
				}
				with += time.Since(at) - time.Since(looked)
			}
			ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
			b.ReportMetric(ms(plain), "plain-ms")
			b.ReportMetric(ms(with-plain), "set-up-ms")
			b.ReportMetric(ms(look), "look-ms")
		})
		_ = runner.Close()
	}
}
