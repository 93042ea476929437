package checkpoint

import (
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// TestDisk: what a checkpoint's message records about the disk can be read back, and the
// caller's part of the message cannot forge it.
func TestDisk(t *testing.T) {
	t.Parallel()
	id := plumbing.NewHash(strings.Repeat("ab", 20))
	for name, want := range map[string]*Disk{
		"nothing said": nil,
		"nothing odd":  {Umask: 0o027, Perms: map[string]fs.FileMode{}, Raw: map[string]Raw{}},
		"odd": {
			Perms: map[string]fs.FileMode{"a/b c\n": 0o600, "none": 0},
			Raw:   map[string]Raw{"crlf": {CRLF: true}, "d/ü": {ID: id}, "unknown": {}},
		},
	} {
		message := (&Checkpoint{Message: "Subject\n\nUmask: 0777\nMode: 0777 \"x\"\n", Disk: want}).message(nil)
		if got := DiskOf(message); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q is read as %+v, want %+v", name, message, got, want)
		}
	}
}
