package logpatch

import (
	"bytes"
	"fmt"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// MaxContent bounds the bytes that applying a binary patch may produce.
const MaxContent = 64 << 20

// Apply returns the content of the new side, made from that of the old one. It accepts only
// the old side that the patch was made from, and returns only what was recorded; otherwise it
// returns an error.
func (p Part) Apply(old []byte) ([]byte, error) {
	if p.missing {
		return nil, fmt.Errorf("%s: %w", p.Path, ErrNoContent)
	}
	if p.Old.Exists() && !p.Old.Has(old) {
		return nil, fmt.Errorf("%s: %w", p.Path, ErrOtherOrigin)
	}
	content, err := p.apply(old)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Path, err)
	}
	if p.New.Exists() && !p.New.Has(content) {
		return nil, fmt.Errorf("%s: %w", p.Path, ErrNotRecorded)
	}
	return content, nil
}

// apply applies the patch without these checks.
func (p Part) apply(old []byte) ([]byte, error) {
	f := &gitdiff.File{TextFragments: p.text, IsBinary: p.forward != nil, BinaryFragment: p.forward}
	if p.forward == nil && len(p.text) == 0 {
		return old, nil
	}
	return applied(f, old)
}

// back returns the content of the old side of a binary patch.
func (p Part) back(now []byte) ([]byte, error) {
	return applied(&gitdiff.File{IsBinary: true, BinaryFragment: p.reverse}, now)
}

func applied(f *gitdiff.File, old []byte) ([]byte, error) {
	b := bytes.NewBuffer([]byte{}) // so that empty content is not nil
	if err := gitdiff.Apply(b, bytes.NewReader(old), f, gitdiff.WithMaxBinaryFragmentBytes(MaxContent)); err != nil {
		return nil, fmt.Errorf("apply the diff: %w", err)
	}
	return b.Bytes(), nil
}
