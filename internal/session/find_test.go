package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FuzzFind compares the result for a reference with a plain search of the sessions.
func FuzzFind(f *testing.F) {
	ids := []string{
		"2025-01-27T15-30-45Z_5d2f60", "2025-01-27T15-30-46Z_5d2f60", "2025-01-27T15-30-46Z_5d2f60-2",
		"2025-02-01T00-00-00Z_abcdef", "2026-01-01T00-00-00Z_00ff00", "latest~x", "x",
	}
	dir := f.TempDir()
	for _, id := range ids {
		start := fmt.Sprintf(`{"type":"session_start","timestamp":"2025-01-01T00:00:00Z","prompt":%q}`+"\n", id)
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(start), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	store, err := NewStore(dir)
	if err != nil {
		f.Fatal(err)
	}
	for _, ref := range []string{
		"", "latest", "latest~x",
		"2025", "2025-01-27T15-30-45Z_5d2f60", "2025-02-01T00-00-00Z_abcdef.jsonl", "5d2f60", "abc", "00", "x", "../x", "_", "\xff", "X",
	} {
		f.Add(ref)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		id, err := store.Find(ref)
		if err == nil && !slices.Contains(ids, id) {
			t.Fatalf("%q resolves to %q, which is not a session", ref, id)
		}
		fits := fitting(ids, ref)
		if !answers(fits, id, err) {
			t.Fatalf("%q matches %q, but resolves to %q, %v", ref, fits, id, err)
		}
	})
}

// fitting returns the ids that a reference matches: the id itself, or else all ids, or hashes after
// their time, that begin with it.
func fitting(ids []string, ref string) (fits []string) {
	name := strings.TrimSuffix(ref, ".jsonl")
	if slices.Contains(ids, name) {
		return []string{name}
	}
	for _, id := range ids {
		_, hash, _ := strings.Cut(id, "_")
		if name != "" && (strings.HasPrefix(id, name) || strings.HasPrefix(hash, name)) {
			fits = append(fits, id)
		}
	}
	return fits
}

// answers reports whether a result is right for a reference that matches these ids.
func answers(fits []string, id string, err error) bool {
	switch len(fits) {
	case 0:
		return errors.Is(err, ErrNotFound)
	case 1:
		return err == nil && id == fits[0]
	}
	many, ambiguous := errors.AsType[*AmbiguousError](err)
	return ambiguous && len(many.IDs) == len(fits)
}
