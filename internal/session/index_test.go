package session

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/metrics"
)

// randomIndex is an index of anything. It knows no field by name: one that is
// new to an overview is one that an index must hold.
func randomIndex(seed uint64) []indexed {
	rnd := rand.New(rand.NewPCG(seed, 1))
	logs := make([]indexed, rnd.IntN(4))
	for i := range logs {
		e := &logs[i]
		e.id = fmt.Sprint(i, randomText(rnd))
		e.stamp = stamp{rnd.Int64(), rnd.Int64(), -rnd.Int64(), rnd.Uint64()}
		o := &e.overview
		randomize(rnd, reflect.ValueOf(&o.Session).Elem())
		randomize(rnd, reflect.ValueOf(&o.Started).Elem())
		randomize(rnd, reflect.ValueOf(&o.Iterations).Elem())
		randomize(rnd, reflect.ValueOf(&o.Duration).Elem())
		o.through = rnd.IntN(2) == 0
		_, logged, _ := Logged(loop.Stamp{}, loop.Started{Session: o.Session})
		o.Session = logged.(loop.Started).Session
		o.Started = o.Started.UTC()
		if rnd.IntN(3) > 0 {
			o.Ended = o.Started.Add(time.Hour)
			o.Outcome = &loop.Outcome{}
			randomize(rnd, reflect.ValueOf(o.Outcome).Elem())
			o.Outcome.Confidence = finite(o.Outcome.Confidence)
		}
		if rnd.IntN(3) > 0 {
			o.Tally = &metrics.Tally{}
			for _, part := range reflect.ValueOf(o.Tally).Elem().Fields() {
				if part.CanSet() {
					randomize(rnd, part)
				}
			}
			o.Tally.ActorUsage.CostUSD, o.Tally.CriticUsage.CostUSD = 0.1, rnd.Float64()
			o.Tally.Spent.Actor.CostUSD, o.Tally.Spent.Critic.CostUSD = 0.2, rnd.Float64()
		}
		for n, err := range []*error{&o.Err, &o.Problem} {
			if known := problems()[rnd.IntN(len(problems()))]; rnd.IntN(2) == 0 {
				*err = &LineError{Line: n + 1, Err: &recalledError{randomText(rnd), known}}
			}
		}
	}
	return logs
}

func packIndex(logs []indexed) []byte {
	var out bytes.Buffer
	if err := writeIndex(&out, len(logs), slices.Values(logs)); err != nil {
		panic(err) // of a buffer
	}
	return out.Bytes()
}

func TestPackIndex(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		want := map[string]*indexed{}
		logs := randomIndex(seed)
		for i := range logs {
			want[logs[i].id] = &logs[i]
		}
		got, err := unpackIndex(string(packIndex(logs)))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %v\n got %+v\nwant %+v", seed, err, got, want)
		}
	}
}

// TestTornIndex cuts an index at every byte, and changes every byte of it.
func TestTornIndex(t *testing.T) {
	t.Parallel()
	text := packIndex(append(randomIndex(3), randomIndex(5)...))
	for i := range text {
		if _, err := unpackIndex(string(text[:i])); !errors.Is(err, errNoIndex) {
			t.Errorf("cut at %d: %v", i, err)
		}
		text[i] ^= 1
		if _, err := unpackIndex(string(text)); !errors.Is(err, errNoIndex) {
			t.Errorf("changed at %d: %v", i, err)
		}
		text[i] ^= 1
	}
}

// FuzzIndex feeds indexes of any kind, with the right sum: what can be read at
// all can be written, and then reads the same.
func FuzzIndex(f *testing.F) {
	for seed := range uint64(6) {
		text := packIndex(randomIndex(seed))
		f.Add(text[len(indexMagic) : len(text)-crc32.Size])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		text := append([]byte(indexMagic), body...)
		text = binary.LittleEndian.AppendUint32(text, crc32.Checksum(text, castagnoli()))
		logs, err := unpackIndex(string(text))
		if err != nil {
			return
		}
		for _, one := range logs {
			again, err := unpackIndex(string(packIndex([]indexed{*one})))
			if err != nil || len(again) != 1 || string(packIndex([]indexed{*again[one.id]})) != string(packIndex([]indexed{*one})) {
				t.Fatalf("%+v reads %+v, %v", one, again[one.id], err)
			}
		}
	})
}

// indexedStore is a store with many ended sessions, one that crashed, one with
// a torn end, one whose end tells no totals, a file of another program and an
// empty one, and with an index that counts at once.
func indexedStore(t *testing.T) *Store {
	t.Helper()
	store := newStore(t, t.TempDir())
	store.racy = 0
	line := func(e loop.Event, a aside) string { return string(encode(stamped(2), e, a)) }
	start := func(prompt string) string {
		return line(loop.Started{Session: loop.Session{Prompt: prompt, WorkingDir: "/p"}}, aside{})
	}
	round := line(loop.IterationFinished{Round: firstRound()}, aside{})
	end := line(loop.Finished{Outcome: loop.Outcome{Result: loop.Success, Iterations: 1}}, aside{totals: &metrics.Tally{ActorTurns: 3}})
	for i := range manyLogs {
		writeFile(t, store.path(fmt.Sprintf("2025-01-27T15-%02d-%02dZ_aaaaaa", i/60, i%60)), start(strconv.Itoa(i))+end)
	}
	writeFile(t, store.path("crashed"), start("crashed")+round)
	writeFile(t, store.path("torn"), start("torn")+round+"not JSON\n"+round[:20])
	writeFile(t, store.path("original"), start("original")+round+line(loop.Finished{Outcome: loop.Outcome{Result: loop.Failed}}, aside{}))
	writeFile(t, store.path("foreign"), "hello\n")
	writeFile(t, store.path("empty"), "")
	settle()
	return store
}

// settle lets the clock of the file system go on.
func settle() { time.Sleep(30 * time.Millisecond) }

func survey1(t *testing.T, s *Store) []Overview {
	t.Helper()
	all, err := s.Survey()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// plain spells out overviews, so that the errors in them can be compared.
func plain(all []Overview) string {
	var b strings.Builder
	for _, o := range all {
		fmt.Fprintf(&b, "%v %v|", errors.Is(o.Err, ErrEmpty), errors.Is(o.Problem, ErrTorn))
		outcome, tally := o.Outcome, o.Tally
		o.Outcome, o.Tally = nil, nil
		fmt.Fprintf(&b, "%+v %+v %+v\n", o, outcome, tally)
	}
	return b.String()
}

// differ tells in which lines two texts differ.
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
		t.Errorf("nothing had changed, and the index was written anew: %v", err)
	}
	for _, want := range []string{"torn.jsonl:3: invalid character", "foreign.jsonl:1: invalid character", "empty.jsonl:1: the file is empty", "ActorTurns:1 "} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is not in what was found", want)
		}
	}

	// It is what is read.
	x := s.loadIndex()
	logs := make([]indexed, 0, len(x.logs))
	for _, one := range x.logs {
		one.overview.Session.Prompt = "of the index"
		logs = append(logs, *one)
	}
	s.saveIndex(len(logs), slices.Values(logs), nil)
	settle()
	if got := strings.Count(plain(survey1(t, s)), "Prompt:of the index"); got != len(logs) || got != manyLogs+5 {
		t.Errorf("%d sessions come from the index of %d", got, len(logs))
	}
}

// TestIndexFollows changes logs behind the back of the index.
func TestIndexFollows(t *testing.T) {
	t.Parallel()
	s := indexedStore(t)
	survey1(t, s)
	const id = "2025-01-27T15-00-07Z_aaaaaa"
	path := s.path(id)
	for name, change := range map[string]func() error{
		"longer": func() error {
			text, err := os.ReadFile(s.path("crashed"))
			return errors.Join(err, os.WriteFile(s.path("crashed"), append(text, text...), 0o600))
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
		"new":     func() error { return os.WriteFile(s.path("new"), []byte("new\n"), 0o600) },
		"gone":    func() error { return os.Remove(s.path("2025-01-27T15-00-09Z_aaaaaa")) },
		"renamed": func() error { return os.Rename(s.path("2025-01-27T15-00-11Z_aaaaaa"), s.path("another")) },
		"another's in its place": func() error {
			return os.Rename(s.path("2025-01-27T15-00-12Z_aaaaaa"), s.path("2025-01-27T15-00-13Z_aaaaaa"))
		},
	} {
		if name == "as long, written at the same time" && os.PathSeparator != '/' {
			continue // only the system's own time tells
		}
		settle()
		if err := change(); err != nil {
			t.Fatal(name, err)
		}
		if got, want := plain(survey1(t, s)), without(t, s); got != want {
			t.Error(name, "from the index:", differ(got, want))
		}
		if len(s.loadIndex().logs) != len(survey1(t, s)) {
			t.Errorf("%s: the index remembers %d logs", name, len(s.loadIndex().logs))
		}
	}
}

// TestIndexOfOthers: an index that is none, or cannot be written, is no matter.
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
			t.Errorf("%s: it is not made anew: %d bytes, %v", name, len(now), err)
		}
	}
	// A directory in its place, which cannot be replaced.
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(path, "x"), "")
	if got := plain(survey1(t, s)); got != want {
		t.Error("a directory:", differ(got, want))
	}
	if _, drafts, err := s.list(); err != nil || len(drafts) > 0 {
		t.Errorf("left behind: %v, %v", drafts, err)
	}
}

// TestIndexIsNotTheTruth: whoever is at work on a session is looked at.
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
	if got := status(r.ID()); got != Running || s.loadIndex().logs[r.ID()] != nil {
		t.Errorf("at work: %v", got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	settle()
	if got := status(r.ID()); got != Crashed || s.loadIndex().logs[r.ID()] == nil {
		t.Errorf("gone: %v", got)
	}
	settle()
	again, err := s.Reopen(r.ID(), metrics.Tally{})
	if err != nil {
		t.Fatal(err)
	}
	if got := status(r.ID()); got != Running {
		t.Errorf("at work again: %v", got)
	}
	if err := again.Handle(stamped(9), loop.Finished{Outcome: loop.Outcome{Result: loop.Interrupted}}); err != nil {
		t.Fatal(err)
	}
	if got := status(r.ID()); got != Status(loop.Interrupted) {
		t.Errorf("at its end: %v", got)
	}
}

// TestIndexOfTheRecent does not count for logs that are as new as itself.
func TestIndexOfTheRecent(t *testing.T) {
	t.Parallel()
	s := indexedStore(t)
	survey1(t, s)
	st, err := os.Stat(filepath.Join(s.dir, indexName))
	if err != nil {
		t.Fatal(err)
	}
	written, _ := inner(st)
	s.racy = coarsest
	x := s.loadIndex()
	for id, one := range x.logs {
		one.stamp.changed = written - int64(coarsest)
		if x.recall(id, one.stamp) != nil {
			t.Fatalf("%s is as new as the index", id)
		}
		one.stamp.changed--
		if x.recall(id, one.stamp) == nil {
			t.Fatalf("%s is older than the index", id)
		}
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	s := indexedStore(t)
	const id = "2025-01-27T15-00-07Z_aaaaaa"
	writeFile(t, s.path(id), string(Encode(stamped(1), loop.Started{Session: loop.Session{Prompt: "confidential"}})))
	survey1(t, s)
	holds := func() bool {
		text, err := os.ReadFile(filepath.Join(s.dir, indexName))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "confidential")
	}
	if !holds() {
		t.Fatal("the index does not hold the prompt")
	}
	if err := errors.Join(s.Remove(id), s.Forget()); err != nil || holds() {
		t.Errorf("the index holds the prompt of a session that was removed (%v)", err)
	}
	for _, o := range survey1(t, s) {
		if err := s.Remove(o.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Forget(); err != nil || names(t, s.dir) != nil {
		t.Errorf("left of an empty store: %v, %v", names(t, s.dir), err)
	}
}

// TestIndexByMany surveys a store many times at once while sessions come.
func TestIndexByMany(t *testing.T) {
	t.Parallel()
	s := indexedStore(t)
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for n := range 8 {
				if i == 0 {
					writeFile(t, s.path(fmt.Sprint("new", n)), "new\n")
				}
				if got, err := s.Survey(); err != nil || len(got) < manyLogs+5 {
					t.Errorf("%d sessions, %v", len(got), err)
				}
			}
		})
	}
	all.Wait()
	settle()
	if got, want := plain(survey1(t, s)), without(t, s); got != want {
		t.Error(differ(got, want))
	}
	if _, drafts, err := s.list(); err != nil || len(drafts) > 0 {
		t.Errorf("left behind: %v, %v", drafts, err)
	}
}

// TestDraftsOfTheDead: what a writer left that was killed goes, not what
// another writes now.
func TestDraftsOfTheDead(t *testing.T) {
	t.Parallel()
	s := indexedStore(t)
	old, young := filepath.Join(s.dir, indexDraft+"1"), filepath.Join(s.dir, indexDraft+"2")
	writeFile(t, old, "x")
	writeFile(t, young, "x")
	if err := os.Chtimes(old, began, began); err != nil {
		t.Fatal(err)
	}
	survey1(t, s)
	if _, drafts, err := s.list(); err != nil || len(drafts) != 1 || drafts[0] != filepath.Base(young) {
		t.Errorf("left: %v, %v", drafts, err)
	}
}
