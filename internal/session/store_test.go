package session

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// begin writes a session of one line, or of two with an end.
func begin(t *testing.T, store *Store, prompt string, at time.Time, ended bool) *Recorder {
	t.Helper()
	r, err := store.Create(prompt, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	if err := r.Handle(loop.Stamp{Seq: 1, Time: at}, loop.Started{Session: loop.Session{ID: r.ID(), Prompt: prompt}}); err != nil {
		t.Fatal(err)
	}
	if ended {
		err = r.Handle(loop.Stamp{Seq: 2, Time: at.Add(time.Minute)}, loop.Finished{Outcome: loop.Outcome{Result: loop.Success}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestStoreNames(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	// SHA-256 of "fix it" begins with ab0d13.
	const id = "2025-01-27T15-30-45Z_ab0d13"
	var got []string
	for range 11 {
		got = append(got, begin(t, store, "fix it", began.In(time.FixedZone("", 3600)), true).ID())
	}
	want := []string{id}
	for n := 2; n <= 11; n++ {
		want = append(want, fmt.Sprintf("%s-%d", id, n))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	ids, err := store.list()
	if err != nil || !reflect.DeepEqual(ids, want) {
		t.Errorf("in order: %v, %v", ids, err)
	}
}

func TestStoreFind(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	a := begin(t, store, "first", began, true).ID()
	b := begin(t, store, "second", began.Add(time.Hour), true).ID()
	b2 := begin(t, store, "second", began.Add(time.Hour), true).ID()
	for prefix, want := range map[string]string{
		a: a, b: b, b2: b2, b + ".jsonl": b,
		"2025-01-27T15": a, a[len(a)-6:]: a, a[len(a)-6 : len(a)-2]: a, b + "-": b2,
	} {
		if got, err := store.Find(prefix); got != want || err != nil {
			t.Errorf("Find(%q) = %q, %v; want %q", prefix, got, err, want)
		}
	}
	for _, prefix := range []string{"", "2024", "../" + a, "x"} {
		if got, err := store.Find(prefix); !errors.Is(err, ErrNotFound) {
			t.Errorf("Find(%q) = %q, %v", prefix, got, err)
		}
	}
	_, err := store.Find("2025")
	if several, ok := errors.AsType[*AmbiguousError](err); !ok || !reflect.DeepEqual(several.IDs, []string{a, b, b2}) {
		t.Errorf("got %v", err)
	}
	id, err := store.Find("2025-01-27T15")
	if err != nil {
		t.Fatal(err)
	}
	if entries, bad := sorted(Read(store.Path(id))); len(entries) != 2 || bad != nil {
		t.Errorf("%d entries, %v", len(entries), bad)
	}
}

func TestStoreLatest(t *testing.T) {
	t.Parallel()
	store := newStore(t, filepath.Join(t.TempDir(), "none"))
	if id, err := store.Latest(nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("without sessions: %q, %v", id, err)
	}
	if all, err := store.Survey(); err != nil || len(all) != 0 {
		t.Errorf("without sessions: %v, %v", all, err)
	}
	begin(t, store, "older", began.Add(-time.Hour), true)
	want := begin(t, store, "later within the second", began.Add(2*time.Millisecond), true).ID()
	begin(t, store, "second", began, true)
	begin(t, store, "another of that second", began.Add(time.Millisecond), false)
	writeFile(t, filepath.Join(store.Dir(), "zzz.jsonl"), "not a log\n")
	writeFile(t, filepath.Join(store.Dir(), "2030-01-01T00-00-00Z_000000.jsonl"), "")
	if id, err := store.Latest(nil); id != want || err != nil {
		t.Errorf("got %q, %v; want %q", id, err, want)
	}
}

func TestStoreSummaries(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	done := begin(t, store, "done", began, true)
	cut := begin(t, store, "cut", began.Add(time.Hour), false)
	writeFile(t, filepath.Join(store.Dir(), "notes.jsonl"), "hello\n")
	writeFile(t, filepath.Join(store.Dir(), "README"), "hello\n")
	if err := os.Mkdir(filepath.Join(store.Dir(), "dir.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := store.Survey()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || got[2].Err == nil || !strings.Contains(got[2].Err.Error(), "notes.jsonl:1: ") {
		t.Fatalf("got %+v", got)
	}
	got[2].Err = nil
	if ended := got[1].Tally; got[0].Tally != nil || ended == nil || !reflect.DeepEqual(*ended, progress.Tally{}) {
		t.Errorf("a session without iterations has the totals %+v, one without an end %+v", ended, got[0].Tally)
	}
	got[1].Tally = nil
	size := func(path string) int64 {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return st.Size()
	}
	notes := filepath.Join(store.Dir(), "notes.jsonl")
	want := []Overview{
		{
			ID: cut.ID(), Path: cut.Path(), Size: size(cut.Path()),
			Session: loop.Session{ID: cut.ID(), Prompt: "cut"}, Started: began.Add(time.Hour), Status: Running,
		},
		{
			ID: done.ID(), Path: done.Path(), Size: size(done.Path()),
			Session: loop.Session{ID: done.ID(), Prompt: "done"}, Started: began,
			Outcome: &loop.Outcome{Result: loop.Success}, Status: Status(loop.Success),
		},
		{ID: "notes", Path: notes, Size: 6, Status: Crashed, Iterations: UnknownIterations},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf(" got %+v\nwant %+v", got, want)
	}
}

// TestSurveyOfALargeLog surveys a log of 1 GiB (64 MiB with -short), most of it a hole in the file.
func TestSurveyOfALargeLog(t *testing.T) {
	t.Parallel()
	size := int64(1 << 30)
	if testing.Short() {
		size = 64 << 20
	}
	store := newStore(t, t.TempDir())
	r := begin(t, store, "large", began, false)
	f, err := os.OpenFile(r.Path(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	end := Entry{
		At: stamped(9), Event: loop.Finished{Outcome: loop.Outcome{Result: loop.Interrupted, Iterations: 7}}, Totals: &progress.Tally{Actor: progress.Part{Turns: 9}},
	}.line()
	_, err = f.WriteAt(append([]byte("\n"), end...), size)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Skip("no room for a large file:", err)
	}
	file, err := os.Open(r.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	counted := &countingReaderAt{ReaderAt: file}
	last, bad, err := lastEntry(counted, size+1+int64(len(end)))
	if _, ends := last.Event.(loop.Finished); err != nil || bad != nil || !ends || counted.bytes > 1<<20 {
		t.Errorf("read %d bytes for %v, %v, %v", counted.bytes, last, bad, err)
	}
	got, err := store.Survey()
	if err != nil || len(got) != 1 || got[0].Err != nil || got[0].Outcome == nil || got[0].Outcome.Iterations != 7 ||
		!reflect.DeepEqual(*got[0].Tally, progress.Tally{Iterations: 7, Actor: progress.Part{Turns: 9}}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

type countingReaderAt struct {
	io.ReaderAt
	bytes int
}

func (c *countingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.bytes += n
	return n, err
}

func TestLastEntry(t *testing.T) {
	t.Parallel()
	line := func(e loop.Event) string { return strings.TrimSpace(string(Encode(stamped(1), e))) }
	output := func(size int) loop.Event {
		return loop.IterationFinished{Round: loop.Round{Iteration: 3, Attempt: loop.Attempt{Turn: loop.Turn{Execution: loop.Execution{Stdout: loop.Output{Text: strings.Repeat("x", size)}}}}}}
	}
	begins, end, long := line(loop.Started{}), line(loop.Finished{Outcome: loop.Outcome{Summary: strings.Repeat("x", shortLine)}}), line(output(200_000))
	huge := line(output(2 * shortLine))
	for name, c := range map[string]struct {
		text string
		want int // iterations
		bad  bool
	}{
		"empty":                {"", UnknownIterations, false},
		"one":                  {begins + "\n", 0, false},
		"no line break":        {"abc\n" + begins, 0, false},
		"blank tail":           {"abc\n" + begins + "\r\n\n  \n\x00\x00", 0, false},
		"long":                 {begins + "\n" + long + "\n", 3, false},
		"long, no line break":  {begins + "\n" + long, 3, false},
		"long, torn":           {begins + "\n" + long[:150_000], UnknownIterations, true},
		"long, then zeros":     {begins + "\n" + long[:150_000] + "\x00\x00", UnknownIterations, true},
		"huge":                 {begins + "\n" + huge + "\n", 3, false},
		"huge, torn":           {begins + "\n" + huge[:shortLine+100_000], UnknownIterations, false},
		"huge end":             {begins + "\n" + end + "\n", 0, false},
		"huge end, alone":      {end, 0, false},
		"huge end, torn":       {end[:shortLine], UnknownIterations, true},
		"another tool's, long": {`{"type":"iteration","iteration_number":2,"actor_output":"` + strings.Repeat("x", 10_000) + `","timestamp":"2025-01-27T15:30:45Z"}` + "\n", 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, bad, err := lastEntry(strings.NewReader(c.text), int64(len(c.text)))
			if n := wholeBefore(got.Event); err != nil || n != c.want || (bad != nil) != c.bad || n != UnknownIterations && got.At.Time.IsZero() {
				t.Errorf("got %d at %v, %v, %v", n, got.At.Time, bad, err)
			}
		})
	}
}
