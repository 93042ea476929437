package index

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A link is the half of a split index that says what to make of the other.
type link struct {
	base    ID     // checksum of the shared index; zero for none
	deleted bitmap // positions of shared entries that are gone
	updated bitmap // positions of shared entries that stand here instead
}

// readLink decodes the extension.
func readLink(data []byte) (*link, error) {
	if len(data) < hashSize {
		return nil, corrupt("split index cut short")
	}
	l := &link{base: ID(data)}
	data = data[hashSize:]
	if len(data) == 0 {
		return l, nil
	}
	var err error
	if l.deleted, data, err = readBitmap(data); err != nil {
		return nil, err
	}
	l.updated, _, err = readBitmap(data)
	return l, err
}

// merge returns the shared entries as changed by those of the split index: the
// first of these, without a path, stand in for the updated ones in turn, and
// the others are new.
func (l *link) merge(shared, split []Entry) ([]Entry, error) {
	if l.deleted.size > len(shared) || l.updated.size > len(shared) {
		return nil, corrupt("split index marks entries beyond the shared index")
	}
	merged := make([]Entry, 0, len(shared)+len(split))
	for i, e := range shared {
		if l.updated.has(i) {
			if len(split) == 0 || split[0].Path != "" {
				return nil, corrupt("split index lacks an updated entry")
			}
			path := e.Path
			e, split = split[0], split[1:]
			e.Path = path
		}
		if !l.deleted.has(i) {
			merged = append(merged, e)
		}
	}
	for _, e := range split {
		if e.Path == "" {
			return nil, corrupt("split index has a new entry without a path")
		}
	}
	merged = append(merged, split...)
	slices.SortStableFunc(merged, func(a, b Entry) int { return a.compare(&b) })
	// A new entry takes the place of a shared one.
	kept := merged[:0]
	for i := range merged {
		if i+1 == len(merged) || merged[i].compare(&merged[i+1]) != 0 {
			kept = append(kept, merged[i])
		}
	}
	return kept, nil
}

// compare orders entries as the index does.
func (e *Entry) compare(other *Entry) int {
	if c := cmp.Compare(e.Path, other.Path); c != 0 {
		return c
	}
	return cmp.Compare(e.Stage, other.Stage)
}

// A bitmap is a set of positions.
type bitmap struct {
	words []uint64
	size  int // one more than the highest position
}

func (b bitmap) has(i int) bool {
	return i/64 < len(b.words) && b.words[i/64]>>(i%64)&1 != 0
}

// maxBits bounds a bitmap: more entries than an index of maxIndex bytes holds.
const maxBits = 1 << 26

// readBitmap decodes a bitmap in the EWAH format, by the appendix "Serialization
// format for an EWAH bitmap" of gitformat-bitmap(5), and returns what follows
// it. A marker word tells of a run of equal words and of how many literal words
// come after it.
func readBitmap(data []byte) (bitmap, []byte, error) {
	if len(data) < 8 {
		return bitmap{}, nil, corrupt("bitmap cut short")
	}
	bits, count := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
	data = data[8:]
	if bits > maxBits || uint64(count)*8+4 > uint64(len(data)) {
		return bitmap{}, nil, corrupt("bitmap of %d bits in %d words", bits, count)
	}
	words, rest := data[:count*8], data[count*8+4:]
	b := bitmap{size: int(bits)}
	most := uint64(bits+63) / 64
	for len(words) > 0 {
		marker := binary.BigEndian.Uint64(words)
		words = words[8:]
		run, literals := marker>>1&0xffffffff, marker>>33
		if uint64(len(b.words))+run+literals > most || literals*8 > uint64(len(words)) {
			return bitmap{}, nil, corrupt("bitmap runs over its end")
		}
		for range run {
			b.words = append(b.words, -(marker & 1))
		}
		for range literals {
			b.words = append(b.words, binary.BigEndian.Uint64(words))
			words = words[8:]
		}
	}
	return b, rest, nil
}
