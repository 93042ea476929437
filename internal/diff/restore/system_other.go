//go:build !linux && !darwin

package restore

func writable(string) error { return nil }

func free(string) (bytes int64, known bool) { return 0, false }
