package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
)

// readExtensions decodes what follows the entries. Extensions whose name begins
// with a capital letter may be passed over.
func (d *decoder) readExtensions(rest []byte) error {
	for len(rest) > 0 {
		if len(rest) < 8 {
			return corrupt("extension cut short")
		}
		name, size := string(rest[:4]), binary.BigEndian.Uint32(rest[4:])
		rest = rest[8:]
		if uint64(size) > uint64(len(rest)) {
			return corrupt("extension %q cut short", name)
		}
		if err := d.readExtension(name, rest[:size]); err != nil {
			return err
		}
		rest = rest[size:]
	}
	return nil
}

func (d *decoder) readExtension(name string, data []byte) (err error) {
	switch {
	case name == "TREE":
		d.trees, err = readTrees(data)
	case name == "link":
		d.link, err = readLink(data)
	case name == "sdir":
		err = ErrSparse
	case name[0] < 'A' || name[0] > 'Z':
		err = fmt.Errorf("%w: %q", ErrExtension, name)
	}
	return err
}

// A level is a directory of the cache tree whose subdirectories are being read.
type level struct {
	prefix string // of the paths in it
	left   int    // subdirectories still to come
}

// readTrees decodes the cache tree, which lists directories depth first.
func readTrees(data []byte) ([]Tree, error) {
	var trees []Tree
	room := maxSpread * (len(data) + 1) // for paths, which a deep chain repeats
	levels := []level{{left: 1}}        // the root is the one directory of no directory
	for len(levels) > 0 {
		top := &levels[len(levels)-1]
		if top.left == 0 {
			levels = levels[:len(levels)-1]
			continue
		}
		top.left--
		tree, below, rest, err := readTree(data)
		if err != nil {
			return nil, err
		}
		tree.Path = top.prefix + tree.Path
		if room -= len(tree.Path); room < 0 {
			return nil, corrupt("cache tree too deep")
		}
		if tree.Entries >= 0 {
			trees = append(trees, tree)
		}
		prefix := tree.Path + "/"
		if tree.Path == "" {
			prefix = ""
		}
		levels, data = append(levels, level{prefix: prefix, left: below}), rest
	}
	return trees, nil
}

// readTree decodes one directory and how many it has below it. Entries is
// negative when it has changed since.
func readTree(data []byte) (tree Tree, below int, rest []byte, err error) {
	name, data, ok := bytes.Cut(data, []byte{0})
	count, data, okCount := bytes.Cut(data, []byte{' '})
	subtrees, data, okBelow := bytes.Cut(data, []byte{'\n'})
	if !ok || !okCount || !okBelow {
		return Tree{}, 0, nil, corrupt("cache tree cut short")
	}
	tree.Path = string(name)
	tree.Entries, err = strconv.Atoi(string(count))
	if err != nil {
		return Tree{}, 0, nil, corrupt("cache tree count %q", count)
	}
	below, err = strconv.Atoi(string(subtrees))
	if err != nil || below < 0 {
		return Tree{}, 0, nil, corrupt("cache tree count %q", subtrees)
	}
	if tree.Entries < 0 {
		return tree, below, data, nil
	}
	if len(data) < hashSize {
		return Tree{}, 0, nil, corrupt("cache tree cut short")
	}
	tree.ID = ID(data)
	return tree, below, data[hashSize:], nil
}
