package store

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
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

// TestLooseDamaged: a loose object is as its name says or it is not returned,
// whatever it says itself.
func TestLooseDamaged(t *testing.T) {
	t.Parallel()
	content := []byte(strings.Repeat("some content\n", 100))
	o := object{kind: plumbing.BlobObject, id: Sum(plumbing.BlobObject, content), content: content}
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

// checkDamaged checks what an object is read as from damaged files.
func checkDamaged(t *testing.T, o object, loose map[string][]byte) {
	t.Helper()
	d := newDatabase(place{objects: t.TempDir()})
	path := loosePath(d.objects, o.id)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, b := range loose {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := d.content(t.Context(), o.kind, o.id)
		stream, streamErr := streamed(t.Context(), d, o)
		if random := strings.HasPrefix(name, "random "); err == nil && !random || streamErr == nil && !random {
			t.Errorf("%q: %d bytes, and %d as a stream", name, len(got), len(stream))
		}
		if err == nil && !bytes.Equal(got, o.content) || streamErr == nil && !bytes.Equal(stream, o.content) {
			t.Errorf("%q: %d other bytes, %d as a stream", name, len(got), len(stream))
		}
		_, _ = d.size(t.Context(), o.id)
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.content(t.Context(), o.kind, o.id); err == nil || errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("a directory: %v", err)
	}
}

// rawPack writes a pack of entries as they are, of which the first is said to be
// o.
func rawPack(t *testing.T, o object, entries ...[]byte) *database {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "pack"), 0o700); err != nil {
		t.Fatal(err)
	}
	pack := binary.BigEndian.AppendUint32([]byte(packHeader), uint32(len(entries)))
	p := packing{sum: make([]byte, sha1.Size)}
	for i, e := range entries {
		id := plumbing.Hash{byte(i)}
		if i == 0 {
			id = o.id
		}
		p.entries = append(p.entries, packEntry{id: id, offset: uint32(len(pack))})
		pack = append(pack, e...)
	}
	var index bytes.Buffer
	if err := p.writeIndex(&index); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"pack-x.pack": pack, "pack-x.idx": index.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, "pack", name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return newDatabase(place{objects: dir})
}

// TestPackHostile reads what no git writes.
func TestPackHostile(t *testing.T) {
	t.Parallel()
	o := object{kind: plumbing.BlobObject, id: Sum(plumbing.BlobObject, []byte("content"))}
	entry := func(kind plumbing.ObjectType, size int, rest ...[]byte) []byte {
		return append(makeEntryHeader(kind, size), bytes.Join(rest, nil)...)
	}
	name := func(i byte) []byte { id := plumbing.Hash{i}; return id[:] }
	blob := entry(plumbing.BlobObject, 7, deflated([]byte("another")))
	delta := func(d ...byte) []byte { return entry(plumbing.REFDeltaObject, len(d), name(1), deflated(d)) }
	for what, entries := range map[string][][]byte{
		"nothing":                 {nil},
		"another":                 {blob},
		"no type":                 {entry(0, 7, deflated([]byte("content")))},
		"an unknown type":         {entry(5, 7, deflated([]byte("content")))},
		"larger than it says":     {entry(plumbing.BlobObject, 3, deflated([]byte("content")))},
		"smaller than it says":    {entry(plumbing.BlobObject, 1<<40, deflated([]byte("content")))},
		"a size without end":      {bytes.Repeat([]byte{0xff}, 40)},
		"a delta on itself":       {entry(plumbing.REFDeltaObject, 2, o.id[:], deflated([]byte{7, 7}))},
		"deltas on each other":    {delta(7, 7), entry(plumbing.REFDeltaObject, 2, o.id[:], deflated([]byte{7, 7}))},
		"a delta on nothing":      {entry(plumbing.REFDeltaObject, 2, name(9), deflated([]byte{7, 7}))},
		"a delta from before":     {entry(plumbing.OFSDeltaObject, 2, []byte{0x7f}, deflated([]byte{7, 7}))},
		"a delta on its offset":   {entry(plumbing.OFSDeltaObject, 2, []byte{0}, deflated([]byte{7, 7}))},
		"an empty delta":          {delta(), blob},
		"a delta without sizes":   {delta(0x87), blob},
		"a delta of another size": {delta(6, 7, 0x90, 7), blob},
		"a huge result":           {delta(7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x90, 7), blob},
		"a size of 65 bits":       {delta(7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f), blob},
		"a reserved instruction":  {delta(7, 7, 0), blob},
		"a copy from beyond":      {delta(7, 7, 0x91, 1, 7), blob},
		"a copy of too much":      {delta(7, 7, 0x90, 7, 0x90, 7), blob},
		"a copy cut short":        {delta(7, 7, 0x91), blob},
		"an insertion cut short":  {delta(7, 7, 7, 'c'), blob},
		"too little":              {delta(7, 7, 1, 'c'), blob},
	} {
		d := rawPack(t, o, entries...)
		if content, err := d.content(t.Context(), o.kind, o.id); err == nil || errors.Is(err, plumbing.ErrObjectNotFound) || errors.Is(err, ErrLarge) {
			t.Errorf("%s: %q, %v", what, content, err)
		}
		if content, err := streamed(t.Context(), d, o); err == nil {
			t.Errorf("%s: the stream %q", what, content)
		}
		_, _ = d.size(t.Context(), o.id)
		if left, _ := filepath.Glob(filepath.Join(d.objects, "tmp_*")); len(left) > 0 {
			t.Errorf("%s: left behind: %s", what, left)
		}
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}
	good := rawPack(t, o, delta(7, 7, 7, 'c', 'o', 'n', 't', 'e', 'n', 't'), blob)
	if content, err := good.content(t.Context(), o.kind, o.id); string(content) != "content" || err != nil {
		t.Errorf("a delta that is right: %q, %v", content, err)
	}
	if err := good.close(); err != nil {
		t.Error(err)
	}
}

// TestPackBeside: an object that is damaged in one place is read from another.
func TestPackBeside(t *testing.T) {
	t.Parallel()
	content := []byte("content")
	o := object{kind: plumbing.BlobObject, id: Sum(plumbing.BlobObject, content), content: content}
	d := rawPack(t, o, append(makeEntryHeader(o.kind, 7), deflated([]byte("another"))...))
	if err := os.WriteFile(filepath.Join(d.objects, "pack", "x.idx"), []byte("no index"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.objects, "pack", "x.pack"), []byte("no pack"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.write(o.kind, o.id, o.content); err != nil {
		t.Fatal(err)
	}
	if got, err := d.content(t.Context(), o.kind, o.id); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%q, %v", got, err)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}
