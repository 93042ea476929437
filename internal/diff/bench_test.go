package diff_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeloops/internal/diff"
)

// bigRepo returns a repository of n committed files, ten in each directory.
func bigRepo(b *testing.B, n int) *sandbox {
	b.Helper()
	s := newRepo(b)
	for i := range n {
		name := fmt.Sprintf("d%02d/e%03d/file%d.go", i/1000, i/10, i)
		s.write(name, strings.Repeat(fmt.Sprintf("line of file %d\n", i), 40))
	}
	s.write(".gitignore", "*.log\nbuild/\n/dist\n")
	s.commit("first")
	return s
}

// touch changes 20 files.
func (s *sandbox) touch(n int) {
	s.t.Helper()
	for i := range 20 {
		name := fmt.Sprintf("d%02d/e%03d/file%d.go", i*n/20/1000, i*n/20/10, i*n/20)
		switch i % 5 {
		case 0:
			s.must(os.Remove(s.path(name)))
		case 1:
			s.write(filepath.Dir(name)+"/new.go", "new\n")
		default:
			s.append(name, "more\n")
		}
	}
}

// BenchmarkCapture measures the first capture of a session, with its baseline, and a
// later capture.
func BenchmarkCapture(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		s := bigRepo(b, n)
		session := func(b *testing.B) *diff.Tree {
			b.Helper()
			tree, err := diff.Open(b.Context(), s.root, s.options())
			s.must(err)
			s.must(tree.Baseline(b.Context()))
			return tree
		}
		capture := func(b *testing.B, tree *diff.Tree) {
			b.Helper()
			_, err := tree.Capture(b.Context())
			s.must(err)
		}
		tree := session(b)
		b.Run(fmt.Sprintf("first/%d", n), func(b *testing.B) {
			for b.Loop() {
				tree := session(b)
				capture(b, tree)
				s.must(tree.Close())
			}
		})
		b.Run(fmt.Sprintf("clean/%d", n), func(b *testing.B) {
			for b.Loop() {
				capture(b, tree)
			}
		})
		if n < 100 {
			continue
		}
		s.touch(n)
		b.Run(fmt.Sprintf("changed/%d", n), func(b *testing.B) {
			for b.Loop() {
				capture(b, tree)
			}
		})
	}
}
