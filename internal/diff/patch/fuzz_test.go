package patch_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"codeloops/internal/diff/patch"
	"codeloops/internal/loop"
)

// FuzzFile: parsing a patch yields its names and counts again, and applying it both
// contents.
func FuzzFile(f *testing.F) {
	f.Add("plain", []byte("a\n"), []byte("b\n"), uint8(0), uint8(0))
	f.Add("a b\t\"\\\n\xff é", []byte("\x00"), []byte("a"), uint8(0), uint8(1))
	f.Add("link", []byte("target"), []byte("other"), uint8(2), uint8(2))
	f.Add("new", []byte(nil), []byte("text"), uint8(3), uint8(0))
	f.Add("gone", []byte(strings.Repeat("\x00\x01", 5000)), []byte(nil), uint8(1), uint8(3))
	f.Add("kind", []byte("x\r\n"), []byte("y"), uint8(0), uint8(2))
	f.Fuzz(func(t *testing.T, path string, before, after []byte, beforeMode, afterMode uint8) {
		a, b := fuzzedSide(before, beforeMode), fuzzedSide(after, afterMode)
		content := a.Content
		for _, c := range patch.File(path, a, b) {
			got, err := rebuild(c, content)
			if err != nil {
				t.Fatalf("%v:\n%s%s", err, c.Patch, c.BinaryPatch)
			}
			content = got
		}
		if !bytes.Equal(content, b.Content) {
			t.Fatalf("the patch makes %q, want %q", content, b.Content)
		}
	})
}

func fuzzedSide(content []byte, mode uint8) patch.Side {
	switch modes := []uint32{patch.Regular, patch.Executable, patch.Symlink, patch.Absent}; modes[mode%4] {
	case patch.Absent:
		return patch.Side{}
	default:
		return side(modes[mode%4], string(content))
	}
}

// rebuild applies a change to content.
func rebuild(c loop.FileChange, before []byte) ([]byte, error) {
	head, body, ok := strings.Cut(c.Patch, "\n")
	if names, err := gitNames(head); !ok || err != nil || names != [2]string{"a/" + c.Path, "b/" + c.Path} {
		return nil, fmt.Errorf("names %q: %w", names, err)
	}
	if c.Binary {
		return rebuildBinary(c.BinaryPatch, before)
	}
	if c.BinaryPatch != "" {
		return nil, errors.New("a text has a binary patch")
	}
	// Lines such as "index" and "---" come before the first hunk.
	at := strings.Index("\n"+body, "\n@@ -")
	if at < 0 {
		return before, nil
	}
	files, _, err := gitdiff.Parse(strings.NewReader("--- a/x\n+++ b/x\n" + body[at:]))
	if err != nil || len(files) != 1 {
		return nil, fmt.Errorf("%d files: %w", len(files), err)
	}
	var after bytes.Buffer
	err = gitdiff.Apply(&after, bytes.NewReader(before), files[0])
	return after.Bytes(), err
}

// gitNames parses the names in a "diff --git" line.
func gitNames(line string) (names [2]string, err error) {
	line, ok := strings.CutPrefix(line, "diff --git ")
	if !ok {
		return names, errors.New("no header")
	}
	if !strings.HasPrefix(line, `"`) {
		// The two names differ only in their first letters.
		middle := len(line) / 2
		return [2]string{line[:middle], line[middle+1:]}, nil
	}
	for i := range names {
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			return names, err
		}
		if names[i], err = strconv.Unquote(quoted); err != nil {
			return names, err
		}
		line = strings.TrimPrefix(line[len(quoted):], " ")
	}
	return names, nil
}

// rebuildBinary returns the first content of a binary patch, and checks that the second
// is the content it replaces.
func rebuildBinary(text string, before []byte) ([]byte, error) {
	_, body, ok := strings.Cut(text, "\nGIT binary patch\n")
	parts := strings.Split(body, "\n\n")
	if !ok || len(parts) != 3 || parts[2] != "" {
		return nil, errors.New("not a binary patch of two parts")
	}
	after, err := literal(parts[0])
	if err != nil {
		return nil, err
	}
	was, err := literal(parts[1])
	if err == nil && !bytes.Equal(was, before) {
		err = fmt.Errorf("the reverse binary patch has %q, want %q", was, before)
	}
	return after, err
}

func literal(text string) ([]byte, error) {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	head, body, _ := strings.Cut(text, "\n")
	var deflated []byte
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		length := strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", line[0]) + 1
		var data []byte
		for group := line[1:]; len(group) >= 5; group = group[5:] {
			value := 0
			for _, c := range []byte(group[:5]) {
				value = value*85 + strings.IndexByte(digits, c)
			}
			data = append(data, byte(value>>24), byte(value>>16), byte(value>>8), byte(value))
		}
		if length < len(data)-3 || length > len(data) {
			return nil, fmt.Errorf("%q has %d bytes", line, len(data))
		}
		deflated = append(deflated, data[:length]...)
	}
	r, err := zlib.NewReader(bytes.NewReader(deflated))
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(r)
	if want := fmt.Sprintf("literal %d", len(content)); head != want {
		return nil, fmt.Errorf("%q, want %q", head, want)
	}
	return content, err
}
