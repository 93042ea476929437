package place

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"codeloops/internal/wording"
)

// A before is what the settings of a repository were before the first of the commands that run now: when all of them set
// the same, as an npm install with hooks does, it is still taken back.
type before struct {
	settings map[string][]string
	running  int
}

var (
	guards  sync.Mutex             //nolint:gochecknoglobals // of the process
	guarded = map[string]*before{} //nolint:gochecknoglobals // by common directory, under the lock
)

// KeepSettings calls run, which runs commands in a work tree of ours. What these change in the settings of the repository,
// which the user's work tree shares, is taken back and told.
func (s *Site) KeepSettings(ctx context.Context, tell func(sentence string), run func() error) error {
	guards.Lock()
	was := guarded[s.repo.CommonDir]
	if was == nil {
		settings, err := s.settings(ctx)
		if err != nil {
			guards.Unlock()
			return err
		}
		was = &before{settings: settings}
		guarded[s.repo.CommonDir] = was
	}
	was.running++
	guards.Unlock()
	defer func() {
		guards.Lock()
		defer guards.Unlock()
		if was.running--; was.running == 0 {
			delete(guarded, s.repo.CommonDir)
		}
		changed, err := s.takeBack(context.WithoutCancel(ctx), was.settings)
		switch {
		case err != nil:
			tell("git's settings for all work trees have changed, and cannot be taken back: " + err.Error())
		case len(changed) > 0:
			tell("what its commands set for all work trees of the repository is taken back: " + wording.List(changed, 5))
		}
	}()
	return run()
}

// settings returns the shared settings by key, except those that a work tree needs, or that git writes by itself.
func (s *Site) settings(ctx context.Context) (map[string][]string, error) {
	out, err := s.repo.Run(ctx, s.repo.Root, "config", "--file", s.config(), "--list", "-z")
	all := map[string][]string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		key, value, valued := strings.Cut(entry, "\n")
		switch section, _, _ := strings.Cut(key, "."); section {
		case "", "branch", "remote", "submodule", "filter", "lfs", "extensions", "gc", "maintenance":
			continue
		}
		if !valued {
			value = "true"
		}
		all[key] = append(all[key], value)
	}
	return all, err
}

func (s *Site) config() string { return filepath.Join(s.repo.CommonDir, "config") }

// takeBack sets the settings to what they were, and returns the names of those that were not.
func (s *Site) takeBack(ctx context.Context, was map[string][]string) (changed []string, err error) {
	now, err := s.settings(ctx)
	if err != nil {
		return nil, err
	}
	keys := maps.Clone(was)
	maps.Copy(keys, now)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if slices.Equal(was[key], now[key]) {
			continue
		}
		changed = append(changed, wording.Name(key))
		if now[key] != nil {
			if _, err := s.repo.Run(ctx, s.repo.Root, "config", "--file", s.config(), "--unset-all", key); err != nil {
				return nil, err
			}
		}
		for _, value := range was[key] {
			if _, err := s.repo.Run(ctx, s.repo.Root, "config", "--file", s.config(), "--add", key, value); err != nil {
				return nil, err
			}
		}
	}
	return changed, nil
}
