package diff

import (
	"encoding/binary"

	"codeloops/internal/diff/ignore"
	"codeloops/internal/diff/repo/file"
)

// A packer writes a header or reads one, so that its form stands in one place: the
// first use of encoding/json takes a process as long as some hundred files do.
// Numbers are varints, and texts have their length before them.
type packer struct {
	b       []byte // what has been written, or is left to read
	reading bool
	bad     bool // it is no header; what is read then is zero
}

func (h *savedHeader) pack(p *packer) {
	p.stamp(&h.Index.Stamp)
	p.array(h.Index.Trailer[:])
	number(p, &h.Index.Entries)
	p.flag(&h.Index.Partial)
	list(p, &h.Index.Ignores, func(i *savedIgnore) {
		text(p, &i.Path)
		p.array(i.ID[:])
	})
	for _, m := range []*marks{&h.Index.Marked.assumed, &h.Index.Marked.skipped, &h.Index.Marked.open} {
		number(p, &m.count)
		list(p, &m.first, func(path *string) { text(p, path) })
		text(p, &m.digest)
	}
	text(p, &h.Context)
	text(p, &h.Session)
	list(p, &h.Rules, func(r *ignore.Saved) {
		text(p, &r.Path)
		p.stamp(&r.Stamp)
		p.flag(&r.Follow)
		text(p, &r.Sum)
	})
	list(p, &h.Converted, func(name *string) { text(p, name) })
}

func (p *packer) stamp(s *file.Stamp) {
	number(p, &s.Size)
	number(p, &s.Mtime)
	number(p, &s.Ctime)
	number(p, &s.Dev)
	number(p, &s.Ino)
}

func number[T int | int64 | uint64](p *packer, n *T) {
	if !p.reading {
		p.b = binary.AppendVarint(p.b, int64(*n))
		return
	}
	value, size := binary.Varint(p.b)
	if size <= 0 {
		p.b, p.bad = nil, true
		return
	}
	*n, p.b = T(value), p.b[size:]
}

func (p *packer) flag(b *bool) {
	n := 0
	if *b {
		n = 1
	}
	number(p, &n)
	*b = n != 0
}

// length packs how many bytes or more follow.
func (p *packer) length(n int) int {
	if number(p, &n); n < 0 || p.reading && n > len(p.b) {
		p.b, p.bad, n = nil, true, 0
	}
	return n
}

// array packs bytes of which the number is known.
func (p *packer) array(b []byte) {
	switch {
	case !p.reading:
		p.b = append(p.b, b...)
	case len(p.b) < len(b):
		p.b, p.bad = nil, true
	default:
		p.b = p.b[copy(b, p.b):]
	}
}

func text[T string | []byte](p *packer, s *T) {
	n := p.length(len(*s))
	if !p.reading {
		p.b = append(p.b, *s...)
		return
	}
	*s, p.b = T(p.b[:n]), p.b[n:]
}

// list packs a list of things that take a byte at least.
func list[T any](p *packer, all *[]T, one func(*T)) {
	n := p.length(len(*all))
	for i := 0; i < n && !p.bad; i++ {
		if p.reading {
			*all = append(*all, *new(T))
		}
		one(&(*all)[i])
	}
}
