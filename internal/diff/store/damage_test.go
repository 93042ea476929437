package store

import (
	"bytes"
	"compress/zlib"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

func deflated(content []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(content)
	_ = w.Close()
	return b.Bytes()
}

// TestLooseDamaged: a loose object is returned only if its content matches its name.
func TestLooseDamaged(t *testing.T) {
	t.Parallel()
	content := []byte(strings.Repeat("some content\n", 100))
	o := packed{kind: plumbing.BlobObject, id: Sum(plumbing.BlobObject, content), content: content}
	whole := append([]byte("blob 1300\x00"), content...)
	tooLong := append([]byte("blob 99999999999999999999999999999999999999"), whole...)
	loose := map[string][]byte{
		"empty":        nil,
		"no header":    deflated(content),
		"no end":       deflated(bytes.Repeat([]byte{'b'}, 1<<20)),
		"no size":      deflated([]byte("blob \x00")),
		"no type":      deflated([]byte("blub 3\x00abc")),
		"negative":     deflated([]byte("blob -1\x00abc")),
		"shorter":      deflated(whole[:len(whole)-1]),
		"longer":       deflated(append(whole, 'x')),
		"another":      deflated(append([]byte("blob 3\x00"), "abc"...)),
		"another type": deflated(append([]byte("tree 1300\x00"), content...)),
		"too large":    deflated([]byte("blob 1152921504606846976\x00abc")),
		"no number":    deflated(tooLong),
		"not whole":    deflated(whole)[:20],
	}
	random := rand.New(rand.NewPCG(5, 6))
	for i := range 100 {
		b := deflated(whole)
		b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
		loose["random "+strconv.Itoa(i)] = b
	}
	checkDamaged(t, o, loose)
}

// checkDamaged checks how an object is read from damaged files.
func checkDamaged(t *testing.T, o packed, loose map[string][]byte) {
	t.Helper()
	d := &directory{path: filepath.Join(t.TempDir(), "objects")}
	path := filepath.Join(d.path, o.id.String()[:2], o.id.String()[2:])
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, b := range loose {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		d := &directory{path: d.path} // without any cache
		got, err := d.content(t.Context(), o.kind, o.id)
		stream, streamErr := streamed(t.Context(), d, o)
		if random := strings.HasPrefix(name, "random "); err == nil && !random || streamErr == nil && !random {
			t.Errorf("%q: %d bytes, and %d as a stream", name, len(got), len(stream))
		}
		if err == nil && !bytes.Equal(got, o.content) || streamErr == nil && !bytes.Equal(stream, o.content) {
			t.Errorf("%q: %d wrong bytes, %d as a stream", name, len(got), len(stream))
		}
		_, _ = d.size(o.id)
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.content(t.Context(), o.kind, o.id); err == nil || errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("a directory: %v", err)
	}
}
