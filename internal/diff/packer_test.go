package diff

import (
	"bytes"
	"reflect"
	"testing"

	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/index"
	"codeloops/internal/diff/repo/file"
)

func FuzzHeader(f *testing.F) {
	whole := savedHeader{
		Index: savedIndex{
			Stamp: file.Stamp{Size: 1, Mtime: -2, Ctime: 3, Dev: 1 << 63, Ino: 5}, Trailer: index.ID{6}, Entries: 7,
			Ignores: []savedIgnore{{Path: []byte("a/.gitignore\xff"), ID: index.ID{8}}},
			Marked:  marked{assumed: marks{count: 10, first: []string{"a\xff", ""}, digest: "d"}, open: marks{count: 1}},
		},
		savedIn: savedIn{Context: "c", Session: "s"},
		Rules:   []ignore.Saved{{Path: []byte("/x"), Stamp: file.Stamp{Size: 9}, Follow: true, Sum: []byte("sum")}, {Path: []byte("/y"), Sum: []byte{}}},
	}
	var p packer
	whole.pack(&p)
	if h, ok := reread(p.b); !ok || !reflect.DeepEqual(h, whole) {
		f.Fatalf("%+v comes back as %+v, %v", whole, h, ok)
	}
	f.Add(p.b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		h, ok := reread(data)
		if !ok {
			return
		}
		var p, again packer
		h.pack(&p)
		h, ok = reread(p.b)
		if h.pack(&again); !ok || !bytes.Equal(p.b, again.b) {
			t.Errorf("%q comes back as %q", data, again.b)
		}
	})
}

func reread(b []byte) (h savedHeader, ok bool) {
	p := packer{b: bytes.Clone(b), reading: true}
	h.pack(&p)
	return h, !p.bad && len(p.b) == 0
}
