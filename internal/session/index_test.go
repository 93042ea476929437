package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/file"
	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// A remembered log is a log as the index stores it.
type remembered struct {
	Stamp    file.Stamp
	Overview Overview
}

// randomLogs returns random logs. It knows no field by name, so a new field of an overview must be
// known to the index.
func randomLogs(seed uint64) []remembered {
	rnd := rand.New(rand.NewPCG(seed, 1))
	logs := make([]remembered, rnd.IntN(4))
	for i := range logs {
		logs[i].Stamp = file.Stamp{Size: rnd.Int64(), Mtime: rnd.Int64(), Ctime: -rnd.Int64(), Ino: rnd.Uint64()}
		o := &logs[i].Overview
		o.ID, o.Size, o.Status = fmt.Sprint(i, randomText(rnd)), logs[i].Stamp.Size, Crashed
		o.Path = "/s/" + o.ID + logEnding
		randomize(rnd, reflect.ValueOf(&o.Session).Elem())
		randomize(rnd, reflect.ValueOf(&o.Started).Elem())
		randomize(rnd, reflect.ValueOf(&o.Iterations).Elem())
		randomize(rnd, reflect.ValueOf(&o.Duration).Elem())
		o.through = rnd.IntN(2) == 0
		o.Session = listed(o.Session)
		o.Started = o.Started.UTC()
		if rnd.IntN(3) > 0 {
			o.Outcome = &loop.Outcome{}
			randomize(rnd, reflect.ValueOf(o.Outcome).Elem())
			o.Outcome.Confidence = finite(o.Outcome.Confidence)
			if rnd.IntN(4) == 0 {
				o.Outcome.Confidence = new(0.0)
			}
			o.Status, o.Iterations, o.Duration = Status(o.Outcome.Result), o.Outcome.Iterations, o.Outcome.Duration
		}
		if rnd.IntN(3) > 0 {
			o.Tally = &progress.Tally{}
			for _, part := range reflect.ValueOf(o.Tally).Elem().Fields() {
				if part.CanSet() {
					randomize(rnd, part)
				}
			}
			o.Tally.Actor.Usage.CostUSD, o.Tally.Critic.Usage.CostUSD = 0.1, rnd.Float64()
			o.Tally.Spent.Actor.CostUSD, o.Tally.Spent.Critic.CostUSD, o.Tally.Spent.Others.CostUSD = 0.2, rnd.Float64(), rnd.Float64()
		}
		for n, err := range []*error{&o.Err, &o.Problem} {
			if rnd.IntN(2) == 0 {
				*err = &LineError{File: o.Path, Line: n + 1, Err: errors.New(randomText(rnd))}
			}
		}
	}
	return logs
}

func TestIndexRemembersAll(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		logs := randomLogs(seed)
		var known []*indexed
		for _, one := range logs {
			known = append(known, remember(one.Overview, one.Stamp))
		}
		text, err := indexOf(known)
		if err != nil {
			t.Fatal(err)
		}
		x := index{logs: logsOf(text), until: time.Unix(0, math.MaxInt64)}
		for _, one := range logs {
			e := x.recall(one.Overview.ID, one.Stamp)
			if e == nil {
				t.Fatalf("seed %d: %+v is not in the index", seed, one)
			}
			if got := e.recalled(one.Overview.Path); !reflect.DeepEqual(got, one.Overview) {
				t.Fatalf("seed %d\n got %+v\nwant %+v", seed, got, one.Overview)
			}
		}
	}
}

// TestIndexLeavesOut: system errors and overviews that are too large are not stored.
func TestIndexLeavesOut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", textLimit+1)
	for name, o := range map[string]Overview{
		"not a log":      {Summary: Summary{Err: fs.ErrPermission}},
		"not read":       {Problem: fs.ErrPermission},
		"a long prompt":  {Summary: Summary{Session: loop.Session{Prompt: long}}},
		"a long summary": {Summary: Summary{Outcome: &loop.Outcome{Summary: long}}},
	} {
		if e := remember(o, file.Stamp{}); e != nil {
			t.Errorf("%s is in the index: %+v", name, e)
		}
	}
}

// TestTornIndex cuts an index at every byte, and changes every byte of it.
func TestTornIndex(t *testing.T) {
	t.Parallel()
	o := Overview{Summary: Summary{ID: "a", Session: loop.Session{Prompt: "é"}}, Problem: &LineError{Line: 2, Err: ErrTorn}}
	text, err := indexOf([]*indexed{remember(o, file.Stamp{Size: 1, Mtime: 2, Ctime: 3, Ino: 4})})
	if err != nil || len(logsOf(text)) != 1 {
		t.Fatal("the index is not read", err)
	}
	for i := range text {
		if logs := logsOf(text[:i]); logs != nil {
			t.Errorf("cut at %d: %+v", i, logs)
		}
		text[i] ^= 1
		if logs := logsOf(text); logs != nil {
			t.Errorf("changed at %d: %+v", i, logs)
		}
		text[i] ^= 1
	}
}

func TestIndexOfMany(t *testing.T) {
	t.Parallel()
	var logs []*indexed
	for i := range 1001 {
		logs = append(logs, remember(Overview{Summary: Summary{ID: strconv.Itoa(i)}}, file.Stamp{}))
	}
	text, err := indexOf(logs)
	known := logsOf(text)
	if err != nil || len(known) != len(logs) {
		t.Fatal(len(known), err)
	}
	for _, one := range logs {
		if e := known[one.Overview.ID]; e == nil || !reflect.DeepEqual(e.recalled(""), one.recalled("")) {
			t.Errorf("%s reads %+v", one.Overview.ID, e)
		}
	}
}

// FuzzIndex: any index content that can be read can be written again, and then reads the same.
func FuzzIndex(f *testing.F) {
	head := len(indexMagic) + crc32.Size
	for seed := range uint64(20) {
		var logs []*indexed
		for _, one := range randomLogs(seed) {
			logs = append(logs, remember(one.Overview, one.Stamp))
		}
		text, err := indexOf(logs)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[head:])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		head := binary.BigEndian.AppendUint32([]byte(indexMagic), crc32.ChecksumIEEE(body))
		logs := logsOf(append(head, body...))
		var known []*indexed
		for _, e := range logs {
			o := e.recalled("/s/x")
			if one := remember(o, e.Stamp); one != nil {
				known = append(known, one)
			}
		}
		text, err := indexOf(known)
		if err != nil {
			t.Fatal(err)
		}
		again := logsOf(text)
		for _, one := range known {
			if got := again[one.Overview.ID].recalled("/s/x"); !reflect.DeepEqual(got, one.recalled("/s/x")) {
				t.Fatalf("%+v reads %+v", one.recalled("/s/x"), got)
			}
		}
	})
}

// indexedStore returns a store with many ended sessions, one that crashed, one with a torn end, one
// whose end has no totals, a file of another program and an empty one. Its index is valid at once.
func indexedStore(t *testing.T) *Store {
	t.Helper()
	store := newStore(t, t.TempDir())
	store.racy = 0
	line := func(e loop.Event, totals *progress.Tally) string {
		return string(Entry{At: stamped(2), Event: e, Totals: totals}.line())
	}
	start := func(prompt string) string {
		return line(loop.Started{Session: loop.Session{Prompt: prompt, WorkingDir: "/p"}}, nil)
	}
	round := line(loop.IterationFinished{Round: firstRound()}, nil)
	end := line(loop.Finished{Outcome: loop.Outcome{Result: loop.Success, Iterations: 1}}, &progress.Tally{Actor: progress.Part{Turns: 3}})
	for i := range manyLogs {
		writeFile(t, store.Path(fmt.Sprintf("2025-01-27T15-%02d-%02dZ_aaaaaa", i/60, i%60)), start(strconv.Itoa(i))+end)
	}
	writeFile(t, store.Path("crashed"), start("crashed")+round)
	writeFile(t, store.Path("torn"), start("torn")+round+"not JSON\n"+round[:20])
	writeFile(t, store.Path("original"), start("original")+round+line(loop.Finished{Outcome: loop.Outcome{Result: loop.Failed}}, nil))
	writeFile(t, store.Path("foreign"), "hello\n")
	writeFile(t, store.Path("empty"), "")
	settle(t)
	return store
}

// settle waits until the clock of the file system has advanced.
func settle(t *testing.T) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "clock")
	made := func() time.Time {
		writeFile(t, name, "")
		st, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return st.ModTime()
	}
	for first := made(); !made().After(first); time.Sleep(time.Millisecond) {
	}
}

func survey1(t *testing.T, s *Store) []Overview {
	t.Helper()
	all, err := s.Survey()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// plain formats overviews, so that the errors in them can be compared.
func plain(all []Overview) string {
	var b strings.Builder
	for _, o := range all {
		outcome, tally := o.Outcome, o.Tally
		o.Outcome, o.Tally = nil, nil
		fmt.Fprintf(&b, "%+v %+v %+v\n", o, outcome, tally)
	}
	return b.String()
}

// differ returns the lines in which two texts differ.
func differ(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// without surveys a store as if it had no index.
func without(t *testing.T, s *Store) string {
	t.Helper()
	path := filepath.Join(s.dir, indexName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want := plain(survey1(t, s))
	writeFile(t, path, string(text))
	return want
}

func TestIndex(t *testing.T) {
	t.Parallel()
	s := indexedStore(t)
	first := plain(survey1(t, s))
	path := filepath.Join(s.dir, indexName)
	st, err := os.Stat(path)
	if err != nil || os.PathSeparator == '/' && st.Mode().Perm() != 0o600 {
		t.Fatal(st, err)
	}
	if again := plain(survey1(t, s)); again != first {
		t.Error("from the index:", differ(again, first))
	}
	if now, err := os.Stat(path); err != nil || !now.ModTime().Equal(st.ModTime()) {
		t.Errorf("the index was rewritten without a change: %v", err)
	}
	for _, want := range []string{"torn.jsonl:3: the line is not JSON", "foreign.jsonl:1: the line is not JSON", "empty.jsonl:1: the file is empty", "Actor:{Turns:1 "} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is missing in the overviews", want)
		}
	}

	// The survey uses the index.
	var logs []*indexed
	for _, e := range loadIndex(s.dir, 0).logs {
		e.Overview.Session.Prompt = "of the index"
		logs = append(logs, e)
	}
	saveIndex(s.dir, logs)
	settle(t)
	if got := strings.Count(plain(survey1(t, s)), "Prompt:of the index"); got != len(logs) || got != manyLogs+5 {
		t.Errorf("%d sessions come from the index of %d", got, len(logs))
	}
}

// TestIndexFollows: a survey notices every change to a log since the index was written.
func TestIndexFollows(t *testing.T) {
	t.Parallel()
	s := indexedStore(t)
	survey1(t, s)
	const id = "2025-01-27T15-00-07Z_aaaaaa"
	path := s.Path(id)
	for name, change := range map[string]func() error{
		"longer": func() error {
			text, err := os.ReadFile(s.Path("crashed"))
			return errors.Join(err, os.WriteFile(s.Path("crashed"), append(text, text...), 0o600))
		},
		"as long, written at the same time": func() error {
			st, err := os.Stat(path)
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = []byte(strings.Replace(string(text), `"prompt":"7"`, `"prompt":"8"`, 1))
			return errors.Join(os.WriteFile(path, text, 0o600), os.Chtimes(path, st.ModTime(), st.ModTime()))
		},
		"new":     func() error { return os.WriteFile(s.Path("new"), []byte("new\n"), 0o600) },
		"gone":    func() error { return os.Remove(s.Path("2025-01-27T15-00-09Z_aaaaaa")) },
		"renamed": func() error { return os.Rename(s.Path("2025-01-27T15-00-11Z_aaaaaa"), s.Path("another")) },
		"another's in its place": func() error {
			return os.Rename(s.Path("2025-01-27T15-00-12Z_aaaaaa"), s.Path("2025-01-27T15-00-13Z_aaaaaa"))
		},
	} {
		if name == "as long, written at the same time" && os.PathSeparator != '/' {
			continue // only the change time shows it
		}
		settle(t)
		if err := change(); err != nil {
			t.Fatal(name, err)
		}
		if got, want := plain(survey1(t, s)), without(t, s); got != want {
			t.Error(name, "from the index:", differ(got, want))
		}
		if len(loadIndex(s.dir, 0).logs) != len(survey1(t, s)) {
			t.Errorf("%s: the index has %d logs", name, len(loadIndex(s.dir, 0).logs))
		}
	}
}

// TestIndexOfOthers: an index that is invalid or cannot be written is ignored.
func TestIndexOfOthers(t *testing.T) {
	t.Parallel()
	s := indexedStore(t)
	want := plain(survey1(t, s))
	path := filepath.Join(s.dir, indexName)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "torn": string(good[:len(good)/2]), "foreign": "hello\n",
		"of another version": strings.Replace(string(good), indexMagic, "codeloops session index 0\n", 1),
	} {
		writeFile(t, path, text)
		if got := plain(survey1(t, s)); got != want {
			t.Error(name, differ(got, want))
		}
		if now, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(now), indexMagic) || len(now) != len(good) {
			t.Errorf("%s: the index was not rebuilt: %d bytes, %v", name, len(now), err)
		}
	}
	// A directory that cannot be replaced by a file.
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(path, "x"), "")
	if got := plain(survey1(t, s)); got != want {
		t.Error("a directory:", differ(got, want))
	}
	if drafts, err := filepath.Glob(filepath.Join(s.dir, ".codeloops-*")); err != nil || len(drafts) > 0 {
		t.Errorf("not removed: %v, %v", drafts, err)
	}
}

// TestIndexIsNotTheTruth: the status of a session at work is never taken from the index.
func TestIndexIsNotTheTruth(t *testing.T) {
	t.Parallel()
	s := indexedStore(t)
	status := func(id string) Status {
		for _, o := range survey1(t, s) {
			if o.ID == id {
				return o.Status
			}
		}
		return "not there"
	}
	r := begin(t, s, "live", began, false)
	if got := status(r.ID()); got != Running || loadIndex(s.dir, 0).logs[r.ID()] != nil {
		t.Errorf("while running: %v", got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	settle(t)
	if got := status(r.ID()); got != Crashed || loadIndex(s.dir, 0).logs[r.ID()] == nil {
		t.Errorf("gone: %v", got)
	}
	settle(t)
	again, _, err := s.Reopen(r.ID())
	if err != nil {
		t.Fatal(err)
	}
	if got := status(r.ID()); got != Running {
		t.Errorf("while running again: %v", got)
	}
	if err := again.Handle(stamped(9), loop.Finished{Outcome: loop.Outcome{Result: loop.Interrupted}}); err != nil {
		t.Fatal(err)
	}
	if got := status(r.ID()); got != Status(loop.Interrupted) {
		t.Errorf("after its end: %v", got)
	}
}

// TestIndexOfTheRecent: the index does not count for logs that are as new as itself.
func TestIndexOfTheRecent(t *testing.T) {
	t.Parallel()
	s := indexedStore(t)
	survey1(t, s)
	st, err := os.Stat(filepath.Join(s.dir, indexName))
	if err != nil {
		t.Fatal(err)
	}
	written := file.StampOf(st).Changed()
	x := loadIndex(s.dir, coarsest)
	for later, known := range map[time.Duration]bool{-1: true, 0: false} {
		at := file.Stamp{Ctime: written.Add(later - coarsest).UnixNano()}
		x.logs = map[string]*indexed{"a": remember(Overview{Summary: Summary{ID: "a"}}, at)}
		if (x.recall("a", at) != nil) != known {
			t.Errorf("%v later than the index reaches: known is not %v", later, known)
		}
	}
}

func TestIndexForgets(t *testing.T) {
	t.Parallel()
	s := indexedStore(t)
	const id = "2025-01-27T15-00-07Z_aaaaaa"
	writeFile(t, s.Path(id), string(Encode(stamped(1), loop.Started{Session: loop.Session{Prompt: "confidential"}})))
	survey1(t, s)
	holds := func() bool {
		text, err := os.ReadFile(filepath.Join(s.dir, indexName))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "confidential")
	}
	if !holds() {
		t.Fatal("the index does not contain the prompt")
	}
	err := s.Remove(id)
	survey1(t, s)
	if err != nil || holds() {
		t.Errorf("the index contains the prompt of a removed session (%v)", err)
	}
	for _, o := range survey1(t, s) {
		if err := s.Remove(o.ID); err != nil {
			t.Fatal(err)
		}
	}
	if survey1(t, s); names(t, s.dir) != nil {
		t.Errorf("left in an empty store: %v", names(t, s.dir))
	}
}

// TestIndexByMany: a store can be surveyed by many at once while sessions are added.
func TestIndexByMany(t *testing.T) {
	t.Parallel()
	s := indexedStore(t)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for n := range 8 {
				if i == 0 {
					writeFile(t, s.Path(fmt.Sprint("new", n)), "new\n")
				}
				if got, err := s.Survey(); err != nil || len(got) < manyLogs+5 {
					t.Errorf("%d sessions, %v", len(got), err)
				}
			}
		})
	}
	all.Wait()
	settle(t)
	if got, want := plain(survey1(t, s)), without(t, s); got != want {
		t.Error(differ(got, want))
	}
	if drafts, err := filepath.Glob(filepath.Join(s.dir, ".codeloops-*")); err != nil || len(drafts) > 0 {
		t.Errorf("not removed: %v, %v", drafts, err)
	}
}
