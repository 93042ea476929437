package redact

// A matcher finds many patterns in one pass over a text. It is the automaton
// of Aho and Corasick, "Efficient string matching: an aid to bibliographic
// search", Communications of the ACM 18 (1975).
type matcher struct {
	nodes []node
	root  [256]int32 // the children of the root, which is node 0
}

// A node is a prefix of patterns. The number 0 means "none".
type node struct {
	label   byte
	child   int32 // first of its children
	sibling int32 // next child of its parent
	fail    int32 // the longest proper suffix of this prefix that is also a prefix
	depth   int32 // bytes
	longest int32 // bytes of the longest pattern that ends here; 0: none does
}

// A span is a part of a text, given by offsets.
type span struct{ start, end int64 }

func newMatcher(patterns map[string]bool) *matcher {
	m := &matcher{nodes: make([]node, 1)}
	for p := range patterns {
		m.insert(p)
	}
	m.link()
	return m
}

func (m *matcher) insert(pattern string) {
	at := int32(0)
	for i := range len(pattern) {
		next := m.childOf(at, pattern[i])
		if next == 0 {
			next = int32(len(m.nodes)) // the environment is far smaller than 2 GiB
			n := node{label: pattern[i], depth: m.nodes[at].depth + 1}
			if at == 0 {
				m.root[pattern[i]] = next
			} else {
				n.sibling = m.nodes[at].child
				m.nodes[at].child = next
			}
			m.nodes = append(m.nodes, n)
		}
		at = next
	}
	m.nodes[at].longest = m.nodes[at].depth
}

// link sets the fail links of all nodes, breadth first.
func (m *matcher) link() {
	var queue []int32
	for _, n := range m.root {
		if n != 0 {
			queue = append(queue, n)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for c := m.nodes[at].child; c != 0; c = m.nodes[c].sibling {
			n := &m.nodes[c]
			n.fail = m.next(m.nodes[at].fail, n.label)
			n.longest = max(n.longest, m.nodes[n.fail].longest)
			queue = append(queue, c)
		}
	}
}

func (m *matcher) childOf(at int32, b byte) int32 {
	if at == 0 {
		return m.root[b]
	}
	c := m.nodes[at].child
	for c != 0 && m.nodes[c].label != b {
		c = m.nodes[c].sibling
	}
	return c
}

// next returns the node that the byte b leads to.
func (m *matcher) next(at int32, b byte) int32 {
	for at != 0 {
		if c := m.childOf(at, b); c != 0 {
			return c
		}
		at = m.nodes[at].fail
	}
	return m.root[b]
}

// A finder searches a text that comes in pieces for a matcher's patterns.
type finder struct {
	*matcher
	at     int32  // the current node
	length int64  // of the text so far
	spans  []span // the patterns found, merged if they overlap or touch
}

// find searches the next piece.
func find[T string | []byte](f *finder, piece T) {
	for i := range len(piece) {
		f.at = f.next(f.at, piece[i])
		if n := int64(f.nodes[f.at].longest); n > 0 {
			end := f.length + int64(i) + 1
			f.add(span{end - n, end})
		}
	}
	f.length += int64(len(piece))
}

// add adds a span that ends after all others.
func (f *finder) add(s span) {
	last := len(f.spans) - 1
	for ; last >= 0 && f.spans[last].end >= s.start; last-- {
		s.start = min(s.start, f.spans[last].start)
	}
	f.spans = append(f.spans[:last+1], s)
}

// open returns the offset before which no further span can begin.
func (f *finder) open() int64 { return f.length - int64(f.nodes[f.at].depth) }
