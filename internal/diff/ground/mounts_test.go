//go:build linux

package ground

import (
	"errors"
	"testing"
)

func TestRelevantMounts(t *testing.T) {
	t.Parallel()
	const (
		root  = "22 1 8:1 / / rw - ext4 /dev/a rw\n"
		proc  = "23 22 0:4 / /proc rw - proc proc rw\n"
		home  = "24 22 0:40 / /home rw shared:1 - nfs4 server:/home rw\n"
		work  = "25 24 8:2 / /home/me/my\\040work rw - btrfs /dev/b rw\n"
		below = "26 25 0:41 / /home/me/my\\040work/remote rw - fuse.sshfs host rw\n"
		cache = "27 25 0:42 / /home/me/my\\040work/cache rw - tmpfs tmpfs rw\n"
	)
	for _, c := range []struct {
		mounts, root, want string
		err                error
	}{
		{root + proc, "/src", root, nil},
		{root + proc + home, "/src", root, nil},
		{root + proc + home, "/home/me/src", "", ErrFileSystem},
		{root + home + work, "/home/me/my work", root + home + work, nil},
		{root + home + work + cache, "/home/me/my work", root + home + work + cache, nil},
		{root + home + work + below, "/home/me/my work", "", ErrFileSystem},
		{root + home + work + below, "/home/me/my work/a", root + home + work, nil},
		{proc, "/src", "", ErrFileSystem},
	} {
		got, err := relevant(c.mounts, c.root)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %q, %v; want %q, %v", c.root, got, err, c.want, c.err)
		}
	}
	if _, err := relevant("nonsense\n", "/"); err == nil {
		t.Error("nonsense is taken for mounts")
	}
	if got, want := unescape(`a\040b\134\011c\9\`), "a b\\\tc\\9\\"; got != want {
		t.Errorf("unescaped %q, want %q", got, want)
	}
}
