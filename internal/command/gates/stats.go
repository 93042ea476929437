package gates

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"

	"codeloops/internal/file"
	"codeloops/internal/git"
)

// stats digests what the file system says of all files in a work tree that are part of the work, their times among it. Two
// that are equal are of the same content, and a look at it costs a fraction of one that reads what has changed. "" is not
// known: repositories inside keep their files to themselves.
func stats(ctx context.Context, environ []string, dir string) string {
	out, err := git.Git{Environ: environ}.In(ctx, dir, "ls-files", "-z", "-t", "--cached", "--stage", "--others", "--exclude-standard", "--", ":/")
	if err != nil {
		return ""
	}
	sum := sha256.New()
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		path, untracked := bytes.CutPrefix(entry, []byte("? "))
		if !untracked {
			_, path, _ = bytes.Cut(entry, []byte{'\t'})
		}
		if bytes.Contains(entry[:len(entry)-len(path)], []byte(" 160000 ")) || bytes.HasSuffix(path, []byte{'/'}) {
			return ""
		}
		var stamp file.Stamp
		if fi, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(string(path)))); err == nil {
			stamp = file.StampOf(fi)
		}
		sum.Write(entry)
		_ = binary.Write(sum, binary.NativeEndian, stamp) // a hash takes everything
	}
	return hex.EncodeToString(sum.Sum(nil))
}
