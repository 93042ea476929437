package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"codeloops/internal/diff/index"
	"codeloops/internal/diff/shown"
)

// marks are the entries of an index that have something in common.
type marks struct {
	count  int
	first  []string // paths, some of them
	digest string   // of all; "" where there are none
}

// String names some of them.
func (m marks) String() string {
	names := make([]string, 0, len(m.first))
	for _, path := range m.first {
		names = append(names, shown.Name(path))
	}
	if more := m.count - len(m.first); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// marked are the entries of an index by what git does not treat them as others for.
type marked struct {
	assumed marks // taken for unchanged, whatever their files are
	skipped marks // left out of a sparse checkout, or said to be
	open    marks // in conflict, or with a content that is still to come
}

// A marking finds them as the entries come.
type marking struct {
	marked
	sums map[*marks]hash.Hash
}

const someMarks = 5

func (m *marking) take(e *index.Entry) {
	if e.Flags&index.AssumeValid != 0 {
		m.add(&m.assumed, e)
	}
	if e.Flags&index.SkipWorktree != 0 {
		m.add(&m.skipped, e)
	}
	if e.Stage != 0 || e.Flags&index.IntentToAdd != 0 {
		m.add(&m.open, e)
	}
}

func (m *marking) add(to *marks, e *index.Entry) {
	if to.count++; to.count <= someMarks {
		to.first = append(to.first, strings.Clone(e.Path))
	}
	if m.sums == nil {
		m.sums = make(map[*marks]hash.Hash)
	}
	if m.sums[to] == nil {
		m.sums[to] = sha256.New()
	}
	_, _ = fmt.Fprintf(m.sums[to], "%q %x %o %d\n", e.Path, e.ID, e.Mode, e.Stage)
}

// end returns what was found.
func (m *marking) end() marked {
	for to, sum := range m.sums {
		to.digest = hex.EncodeToString(sum.Sum(nil))
	}
	return m.marked
}

// digest is equal for indexes of equal entries, whatever git has noted of their files.
func (t *tracked) digest() string {
	sum := sha256.New()
	if t.root != nil {
		_, _ = fmt.Fprintln(sum, t.root.ID())
	}
	_, _ = fmt.Fprintln(sum, t.marked.assumed.digest, t.marked.skipped.digest, t.marked.open.digest)
	return hex.EncodeToString(sum.Sum(nil))
}
