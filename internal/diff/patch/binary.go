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
		var b bytes.Buffer
		w, _ := zlib.NewWriterLevel(&b, zlib.BestSpeed) // a capture waits for it
		_, _ = w.Write(content)
		_ = w.Close() // into memory
		literal := gitdiff.BinaryFragment{Method: gitdiff.BinaryPatchLiteral, Size: int64(len(content)), RawData: b.Bytes()}
		dst = append(dst, literal.String()...)
	}
	return dst
}
