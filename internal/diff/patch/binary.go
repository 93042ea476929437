package patch

import (
	"bytes"
	"compress/zlib"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
)

// appendBinary appends a "GIT binary patch" with both contents in full, so that
// it applies in both directions. The format is that of `git diff --binary`; the
// deflated bytes differ from git's.
func appendBinary(dst, before, after []byte) []byte {
	dst = append(dst, "GIT binary patch\n"...)
	for _, content := range [][]byte{after, before} {
		literal := gitdiff.BinaryFragment{Method: gitdiff.BinaryPatchLiteral, Size: int64(len(content)), RawData: deflate(content)}
		dst = append(dst, literal.String()...)
	}
	return dst
}

// deflate trades size for speed: a capture waits for it.
func deflate(content []byte) []byte {
	var b bytes.Buffer
	// The level is a valid one, so there is a writer; a buffer takes every write.
	w, _ := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	_, _ = w.Write(content)
	_ = w.Close()
	return b.Bytes()
}
