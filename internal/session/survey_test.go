package session

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

// endedLog is a log of some events whose end has the totals.
func endedLog(seed uint64) []byte {
	log := Encode(stamped(1), loop.Started{Session: loop.Session{Prompt: strconv.FormatUint(seed, 10), WorkingDir: "/p"}})
	stamps, events := randomEvents(seed)
	for i, e := range events {
		switch e.(type) {
		case loop.Started, loop.Finished, loop.Activity:
			continue
		}
		log = append(log, Encode(stamps[i], e)...)
	}
	return append(log, Entry{
		At: stamped(99), Event: loop.Finished{Outcome: loop.Outcome{Result: loop.Success}}, Totals: &progress.Tally{Errors: 1},
	}.line()...)
}

// spoil damages a log between its first and its last line.
func spoil(rnd *rand.Rand, log []byte) []byte {
	from := bytes.IndexByte(log, '\n') + 1
	to := bytes.LastIndexByte(log[:len(log)-1], '\n') + 1
	if from == to {
		return log
	}
	at := from + rnd.IntN(to-from)
	n := rnd.IntN(min(40, to-at))
	switch rnd.IntN(5) {
	case 0: // any byte is replaced
		log = slices.Clone(log)
		log[at] = byte(rnd.IntN(256))
	case 1: // a byte of the syntax is replaced
		log = slices.Clone(log)
		log[at] = "\"\\{}[],:0n\n\x00 "[rnd.IntN(13)]
	case 2: // a part is lost
		log = slices.Delete(slices.Clone(log), at, at+n)
	case 3: // a part is overwritten with zeros
		log = slices.Clone(log)
		clear(log[at : at+n])
	case 4: // another program has written to it
		log = slices.Insert(slices.Clone(log), at, []byte("\nnot JSON\n")...)
	}
	return log
}

// firstBad returns the number of the first bad line of a log.
func firstBad(path string) (line int) {
	for _, err := range Read(path) {
		if bad, ok := errors.AsType[*LineError](err); ok {
			return bad.Line
		}
		if err != nil {
			return -1
		}
	}
	return 0
}

// TestSurveyNamesBadLines compares a survey of damaged logs with a reader of all lines.
func TestSurveyNamesBadLines(t *testing.T) {
	t.Parallel()
	s := newStore(t, t.TempDir())
	rnd := rand.New(rand.NewPCG(1, 3))
	const n = 600
	for i := range uint64(n) {
		writeFile(t, s.Path(fmt.Sprintf("%03d", i)), string(spoil(rnd, endedLog(i%20))))
	}
	for name, all := range map[string][]Overview{"read": survey1(t, s), "from the index": survey1(t, s)} {
		bad := 0
		for _, o := range all {
			line, want := 0, firstBad(o.Path)
			if err, ok := errors.AsType[*LineError](errors.Join(o.Err, o.Problem)); ok {
				line = err.Line
			}
			if line != want || line > 0 && o.Err == nil && (o.Tally == nil || o.Tally.Errors != 1) {
				t.Errorf("%s: %s: line %d is bad, want line %d; %+v", name, o.Path, line, want, o.Tally)
			}
			if want > 0 {
				bad++
			}
		}
		if bad < n/4 || bad > n*9/10 {
			t.Errorf("%d of %d logs are bad", bad, n)
		}
	}
}

// TestSurveyByAndBy: of many logs only some are read completely each time, roughly the newest
// first, until all have been.
func TestSurveyByAndBy(t *testing.T) {
	t.Parallel()
	s := newStore(t, t.TempDir())
	s.racy = 0
	log := endedLog(1)
	cut := bytes.IndexByte(log, '\n') + 1
	text := string(log[:cut]) + "not JSON\n" + string(log[cut:])
	const n = 2 * manyLogs
	for i := range n {
		writeFile(t, s.Path(fmt.Sprintf("2025-01-27T15-%02d-%02dZ_aaaaaa", i/60, i%60)), text)
	}
	settle(t)
	s.atOnce = int64(40*len(text)) - 1
	problems := func() (bad []string) {
		for _, o := range survey1(t, s) {
			if o.Problem != nil {
				bad = append(bad, o.ID)
			}
		}
		slices.Sort(bad)
		return bad
	}
	for i, want := range []int{10, 50, 90, 130, 170, n, n} {
		got := problems()
		oldest := max(0, n-want-readers)
		if len(got) != want || got[0] < fmt.Sprintf("2025-01-27T15-%02d-%02dZ_aaaaaa", oldest/60, oldest%60) {
			t.Fatalf("survey %d: %d logs are bad, want the newest %d: %v", i+1, len(got), want, got)
		}
	}
	if err := os.Remove(s.Path("2025-01-27T15-00-00Z_aaaaaa")); err != nil {
		t.Fatal(err)
	}
	if got := problems(); len(got) != n-1 {
		t.Errorf("%d logs are bad, want %d", len(got), n-1)
	}
}
