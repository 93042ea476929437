package lookup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/config"
	"codeloops/internal/config/host"
	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Logs is where a command looks for session logs.
type Logs struct {
	Host     *host.Host
	Settings func() config.Options
	Dir      string // overrides the configured directory, unless it is ""
	All      bool   // the sessions of all repositories, and demonstrations
	// Tell is called with the errors of what could not be read.
	Tell func(error)
}

// Config is the configuration as far as it matters here. Since nothing is run, a project's
// file needs no trust to be read.
func (l *Logs) Config() (*config.Config, error) {
	o := l.Settings()
	o.TrustProject = true
	if l.Dir != "" {
		o.Flags = map[string][]string{"session_dir": {l.Dir}}
	}
	return config.Load(o)
}

// Store returns the store of the logs.
func (l *Logs) Store() (*session.Store, error) {
	cfg, err := l.Config()
	if err != nil {
		return nil, err
	}
	dir, err := cfg.Sessions()
	if err != nil {
		return nil, err
	}
	return session.NewStore(dir)
}

// file reports whether a reference is the path of a log.
func (l *Logs) file(ref string) (path string, ok bool) {
	if !strings.ContainsAny(ref, `/\`) && filepath.Ext(ref) != ".jsonl" {
		return "", false
	}
	path = l.Host.Path(ref)
	if _, err := os.Lstat(path); err != nil && !strings.ContainsAny(ref, `/\`) {
		return "", false // an id with the ending of its log
	}
	return path, true
}

// readable rejects a log in which nothing can be read. A log with only its first line damaged
// can still be shown.
func readable(o session.Overview) (session.Overview, error) {
	if o.Err == nil {
		return o, nil
	}
	for entry, err := range session.Sound(session.Read(o.Path), nil) {
		if err != nil {
			return o, err
		}
		if _, end := entry.Event.(loop.Finished); !end {
			return o, nil
		}
	}
	return o, fmt.Errorf("read session %s: %w", wording.Path(o.ID), o.Err)
}

// latestWord refers to the session that began last, and "latest~N" to the one N before it.
const latestWord = "latest"

// IsLatest reports whether a reference counts from the latest session, rather than naming one.
func IsLatest(ref string) bool {
	return ref == "" || ref == latestWord || strings.HasPrefix(ref, latestWord+"~")
}

// ID returns the id of the session that a reference stands for: what [session.Store.Find] takes, or "latest" or
// "latest~N", which count those of [Logs.OfTree]. "" is "latest".
func (l *Logs) ID(store *session.Store, ref string) (string, error) {
	if !IsLatest(ref) {
		id, err := store.Find(ref)
		return id, explain(store, err)
	}
	back := 0
	if n, ok := strings.CutPrefix(ref, latestWord+"~"); ok {
		var err error
		if back, err = strconv.Atoi(n); err != nil || back < 0 {
			return "", explain(store, fmt.Errorf("%w: %q is not %s~ with a number behind it", session.ErrNotFound, ref, latestWord))
		}
	}
	all, err := l.OfTree(store)
	if err == nil && back >= len(all) {
		err = explain(store, fmt.Errorf("%w: %s holds fewer than %s says", session.ErrNotFound, store.Dir(), ref))
	}
	if err != nil {
		return "", err
	}
	return all[back].ID, nil
}

// Begin says how to begin a first session.
const Begin = `to begin one: codeloops "what to do"`

// none is the error for a store that has no sessions, or only demonstrations; nil for any other.
func none(store *session.Store) error {
	if _, err := store.Latest(nil); err != nil {
		return explain(store, err)
	}
	_, err := store.Latest(func(one session.Overview) bool { return !OfDemo(one) })
	if !errors.Is(err, session.ErrNotFound) {
		return nil
	}
	return hint.Add(fmt.Errorf("%w but demonstrations", err), Begin+"; with --all, demonstrations count as well")
}

// explain adds a hint to the error of a reference that does not stand for one session.
func explain(store *session.Store, err error) error {
	if err == nil {
		return nil
	}
	what := "`codeloops sessions list` shows what there is"
	if several, ok := errors.AsType[*session.AmbiguousError](err); ok {
		const most = 8
		var ids []string
		for _, id := range several.IDs[:min(len(several.IDs), most)] {
			ids = append(ids, wording.Path(id))
		}
		if len(several.IDs) > most {
			ids = append(ids, "…")
		}
		what = "write more of it: " + strings.Join(ids, ", ")
	} else if _, err := store.Latest(nil); errors.Is(err, session.ErrNotFound) {
		what = Begin
	}
	return hint.Add(err, what)
}

// Find returns the overview of the session that a reference names, or a path if it looks like
// one.
func (l *Logs) Find(ref string) (session.Overview, error) {
	if path, ok := l.file(ref); ok {
		return readable(l.WithDuration(session.Look(path)))
	}
	store, err := l.Store()
	if err != nil {
		return session.Overview{}, err
	}
	id, err := l.ID(store, ref)
	if err != nil {
		return session.Overview{}, err
	}
	return readable(l.WithDuration(session.Look(store.Path(id))))
}

// Survey returns the overviews of all sessions, and reports what could not be read of them.
func (l *Logs) Survey() ([]session.Overview, error) {
	store, err := l.Store()
	if err != nil {
		return nil, err
	}
	all, err := store.Survey()
	if errors.Is(err, fs.ErrPermission) {
		l.Tell(err) // there is nothing to list
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !l.All {
		all = slices.DeleteFunc(all, func(one session.Overview) bool { return OfDemo(one) })
	}
	for i, one := range all {
		all[i] = l.WithDuration(one)
		for _, problem := range []error{one.Err, one.Problem} {
			// A run that has just begun has an empty log.
			if problem != nil && !(one.Size == 0 && one.Status == session.Running) {
				l.Tell(problem)
			}
		}
	}
	return all, nil
}

// Some returns the overviews of the sessions that can be read. It is an error if there are
// none.
func (l *Logs) Some() ([]session.Overview, error) {
	all, err := l.Survey()
	if err != nil {
		return nil, err
	}
	if all = slices.DeleteFunc(all, func(o session.Overview) bool { return o.Err != nil }); len(all) > 0 {
		return all, nil
	}
	store, err := l.Store()
	if err != nil {
		return nil, err
	}
	return nil, cmp.Or(none(store), fmt.Errorf("none of the sessions in %s can be read", store.Dir()))
}

// OfTree returns the overviews of the sessions of this work tree that can be read, or, if there are none, of the
// repository's other work trees, or of any with [Logs.All], the newest first. It is an error if there are none.
func (l *Logs) OfTree(store *session.Store) ([]session.Overview, error) {
	all, err := store.Survey()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(one session.Overview) bool { return one.Err != nil })
	if l.All && len(all) > 0 {
		return all, nil
	}
	here := Here(l.Host)
	for _, counts := range []func(session.Overview) bool{here.Tree, here.Shares} {
		if own := slices.DeleteFunc(slices.Clone(all), func(one session.Overview) bool { return !counts(one) }); len(own) > 0 {
			return own, nil
		}
	}
	return nil, cmp.Or(none(store), hint.Errorf(
		"name one (`codeloops sessions list` shows what there is), or take the latest of any directory: --all",
		"%w: %s holds none of this repository", session.ErrNotFound, store.Dir(),
	))
}

// WithDuration extends the duration of a running session up to now.
func (l *Logs) WithDuration(one session.Overview) session.Overview {
	if one.Status == session.Running && one.Err == nil {
		one.Duration = max(one.Duration, l.Host.Now().Sub(one.Started))
	}
	return one
}

// In returns the paths of the logs in the directory that a reference names; ok is false if it
// names none.
func (l *Logs) In(ref string) (paths []string, ok bool, err error) {
	dir := l.Host.Path(ref)
	if st, err := os.Stat(dir); ref == "" || err != nil || !st.IsDir() {
		return nil, false, nil //nolint:nilerr // it may name a session
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, true, fmt.Errorf("list the logs to verify: %w", err)
	}
	for _, entry := range entries {
		if !entry.IsDir() && filepath.Ext(entry.Name()) == ".jsonl" {
			paths = append(paths, filepath.Join(dir, entry.Name()))
		}
	}
	if len(paths) == 0 {
		return nil, true, hint.Errorf("name a directory with *.jsonl files in it", "%s holds no session logs: there is nothing to verify", dir)
	}
	slices.Sort(paths)
	return paths, true, nil
}
