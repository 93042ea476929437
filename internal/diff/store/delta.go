package store

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxVarint is how many bytes a number takes at most.
const maxVarint = 8

// entryHeader reads the type and the size that an entry of a pack begins with,
// and returns how many bytes they take; 0 when they are not whole.
func entryHeader(b []byte) (kind plumbing.ObjectType, size int64, used int) {
	shift := 4
	for i, c := range b {
		if i == 0 {
			kind, size = plumbing.ObjectType(c>>4&7), int64(c&15)
		} else {
			size |= int64(c&0x7f) << shift
			shift += 7
		}
		if c&0x80 == 0 {
			return kind, size, i + 1
		}
		if shift > 56 {
			break
		}
	}
	return 0, 0, 0
}

// offsetVarint reads how far back the base of a delta is, and returns how many
// bytes that takes; 0 when it is not whole.
func offsetVarint(b []byte) (value int64, used int) {
	for i, c := range b[:min(len(b), maxVarint)] {
		if i > 0 {
			value++
		}
		value = value<<7 | int64(c&0x7f)
		if c&0x80 == 0 {
			return value, i + 1
		}
	}
	return 0, 0
}

// deltaSizes reads what a delta begins with: the sizes of its base and its result.
func deltaSizes(delta io.ByteReader) (base, result int64, err error) {
	var sizes [2]uint64
	for i := range sizes {
		if sizes[i], err = binary.ReadUvarint(delta); err != nil {
			return 0, 0, err
		}
	}
	base, result = int64(sizes[0]), int64(sizes[1])
	if base < 0 || result < 0 {
		return 0, 0, errDamaged
	}
	return base, result, nil
}

// maxInstruction is the longest that an instruction is, without what it inserts.
const maxInstruction = 8

// An instruction of a delta is to copy bytes of the base, or to insert as many as
// follow it.
type instruction struct {
	copies       bool
	offset, size int64 // in the base, if it copies; otherwise offset is 0
}

// parseInstruction reads an instruction, and returns how many bytes it takes; 0
// when it is not whole. If it copies, the bits of its first byte say which of four
// bytes of the offset and three of the size follow.
func parseInstruction(b []byte) (in instruction, used int) {
	op := b[0]
	if op&0x80 == 0 {
		if op == 0 { // reserved
			return in, 0
		}
		return instruction{size: int64(op)}, 1
	}
	in.copies, used = true, 1
	for bit := range 7 {
		if op>>bit&1 == 0 {
			continue
		}
		if used == len(b) {
			return in, 0
		}
		if bit < 4 {
			in.offset |= int64(b[used]) << (8 * bit)
		} else {
			in.size |= int64(b[used]) << (8 * (bit - 4))
		}
		used++
	}
	if in.size == 0 {
		in.size = 0x10000
	}
	return in, used
}

// patch writes what a delta makes of its base, by the section "Deltified
// representation" of gitformat-pack(5). The sizes have been read.
func patch(ctx context.Context, to, base *piece, delta *bufio.Reader) error {
	for to.left > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		head, err := delta.Peek(maxInstruction)
		if len(head) == 0 {
			return fmt.Errorf("a delta without end: %w", err)
		}
		in, used := parseInstruction(head)
		if used == 0 {
			return errDamaged
		}
		_, _ = delta.Discard(used) // it was seen
		if in.copies {
			err = to.copyAt(base, in.offset, in.size)
		} else {
			err = to.copyFrom(delta, in.size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
