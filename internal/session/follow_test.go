package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/loop/looptest"
	"codeloops/internal/loop/progress"
)

// patience limits waits on a busy machine.
const patience = 2 * time.Minute

func does(text string) loop.Activity {
	return loop.Activity{Iteration: 1, Role: loop.RoleActor, Notice: loop.Notice{Kind: loop.NoticeOutput, Stream: "stdout", Text: text}}
}

// quietRun is the whole run, without what no log holds.
func quietRun() []loop.Event {
	return slices.DeleteFunc(wholeRun(), func(e loop.Event) bool {
		_, passing := e.(loop.Activity)
		return passing
	})
}

// childObeys records as many events of the whole run as it is told. "torn" appends a part of a line
// to the log, and "rest" completes it.
func childObeys(args []string) error {
	store, err := NewStore(args[0])
	if err != nil {
		return err
	}
	r, err := store.Create("follow me", began)
	if err != nil {
		return err
	}
	fmt.Println(r.ID())
	events, done := quietRun(), 0
	half, rest, _ := strings.Cut(string(Encode(stamped(99), loop.Warned{Text: "first half, second half"})), "second")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); fmt.Println("done") {
		switch in.Text() {
		case "torn":
			err = appendTo(r.Path(), half)
		case "rest":
			err = appendTo(r.Path(), "second"+rest)
		default:
			var more int
			_, err = fmt.Sscan(in.Text(), &more)
			for ; more > 0 && err == nil; more-- {
				err = r.Handle(stamped(done+1), events[done])
				done++
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// A recording is a run in another process.
type recording struct {
	t     *testing.T
	store *Store
	id    string
	cmd   *exec.Cmd
	in    io.Writer
	out   *bufio.Scanner
}

func newRecording(t *testing.T) *recording {
	t.Helper()
	r := &recording{t: t, store: newStore(t, t.TempDir())}
	r.cmd, r.in, r.out = talkative(t, "obey", r.store.Dir())
	r.id = r.says()
	return r
}

func (r *recording) says() string {
	r.t.Helper()
	if !r.out.Scan() {
		r.t.Fatal("the recording process is gone")
	}
	return r.out.Text()
}

// do sends a command to the process and waits until it is done.
func (r *recording) do(what any) {
	r.t.Helper()
	if _, err := fmt.Fprintln(r.in, what); err != nil {
		r.t.Fatal(err)
	}
	r.says()
}

func (r *recording) kill() {
	r.t.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		r.t.Fatal(err)
	}
	_ = r.cmd.Wait()
}

// told is one result of a follower.
type told struct {
	entry Entry
	err   error
}

// follow reads a follower's results in the background; the channel is closed at the end.
func (r *recording) follow() <-chan told {
	all := make(chan told)
	ctx := r.t.Context()
	go func() {
		defer close(all)
		for entry, err := range r.store.Follow(ctx, r.id, nil) {
			select {
			case all <- told{entry, err}:
			case <-ctx.Done():
			}
		}
	}()
	return all
}

// next returns a follower's next result; ok is false at the end.
func next(t *testing.T, all <-chan told) (one told, ok bool) {
	t.Helper()
	select {
	case one, ok = <-all:
		return one, ok
	case <-time.After(patience):
		t.Fatal("the follower gets nothing")
	}
	return one, ok
}

// events returns the next events of a follower.
func events(t *testing.T, all <-chan told, n int) (got []loop.Event) {
	t.Helper()
	for range n {
		one, ok := next(t, all)
		if !ok || one.err != nil {
			t.Fatalf("after %d events: %v, %v", len(got), ok, one.err)
		}
		got = append(got, one.entry.Event)
	}
	return got
}

func over(t *testing.T, all <-chan told) {
	t.Helper()
	if one, ok := next(t, all); ok {
		t.Fatalf("it continues with %+v", one)
	}
}

func silent(t *testing.T, all <-chan told) {
	t.Helper()
	select {
	case one, ok := <-all:
		t.Fatalf("told %+v, %v", one, ok)
	case <-time.After(5 * followPause):
	}
}

// logged returns what a log, or a follower, keeps of events.
func logged(all []loop.Event) (want []loop.Event) {
	for i, e := range all {
		_, e, _ = Logged(stamped(i+1), e)
		want = append(want, e)
	}
	return want
}

// withoutFiles removes the paths of outputs, which are relative to the log.
func withoutFiles(all []loop.Event) (same []loop.Event) {
	for _, e := range all {
		same = append(same, mapOutputs(e, func(o loop.Output) loop.Output {
			o.File = ""
			return o
		}))
	}
	return same
}

// TestFollow: a follower gets each event of another process once it is written.
func TestFollow(t *testing.T) {
	t.Parallel()
	r := newRecording(t)
	all := r.follow()
	var got []loop.Event
	for len(got) < len(quietRun()) {
		some := min(4, len(quietRun())-len(got))
		r.do(some)
		got = append(got, events(t, all, some)...)
	}
	over(t, all)
	if want := withoutFiles(logged(quietRun())); !reflect.DeepEqual(withoutFiles(got), want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if err := looptest.Whole(got); err != nil {
		t.Error(err)
	}
	if left := names(t, r.store.Dir()); !reflect.DeepEqual(left, []string{r.id + logEnding}) {
		t.Errorf("not removed: %v", left)
	}
}

// TestFollowLate: a late follower gets all events in order.
func TestFollowLate(t *testing.T) {
	t.Parallel()
	r := newRecording(t)
	const most = 13
	r.do(most)
	want := withoutFiles(logged(quietRun()))[:most]
	if got := withoutFiles(events(t, r.follow(), most)); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// TestFollowInOrder: what an agent does is not reported before the event that precedes it, even if it is seen
// first, nor after one that follows it.
func TestFollowInOrder(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	rec := record(t, store, quietRun()[:3])
	defer rec.Close()
	now := []progress.Instant{{After: 3, At: stamped(4), Does: does("before")}, {After: 5, At: stamped(6), Does: does("afterwards")}}
	doing := func(context.Context) (all []progress.Instant) {
		all, now = now, nil
		return all
	}
	write := func(seq int, e loop.Event) {
		if err := rec.Handle(stamped(seq), e); err != nil {
			t.Error(err)
		}
	}
	time.AfterFunc(3*followPause, func() { write(5, quietRun()[3]) })
	var got []int
	for entry, err := range store.Follow(t.Context(), rec.ID(), doing) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, entry.At.Seq); len(got) == 6 {
			break
		}
	}
	if want := []int{1, 2, 3, 4, 5, 6}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestFollowSlowly: a follower that does not read does not delay the run, and still gets all of it.
func TestFollowSlowly(t *testing.T) {
	t.Parallel()
	r := newRecording(t)
	r.do(1)
	all := r.follow()
	events(t, all, 1) // it is blocked on the second one
	r.do(len(quietRun()) - 1)
	var got []loop.Event
	for one := range all {
		if one.err != nil {
			t.Fatal(one.err)
		}
		got = append(got, one.entry.Event)
	}
	want := logged(quietRun())[1:]
	if !reflect.DeepEqual(withoutFiles(got), withoutFiles(want)) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// TestFollowKilled: a follower of a killed run gets everything that was written, and then ends.
func TestFollowKilled(t *testing.T) {
	t.Parallel()
	r := newRecording(t)
	all := r.follow()
	const most = 9
	r.do(most)
	got := events(t, all, most)
	silent(t, all)
	r.kill()
	over(t, all)
	if want := withoutFiles(logged(quietRun())[:most]); !reflect.DeepEqual(withoutFiles(got), want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// TestFollowKilledAnywhere: if a run is killed while it writes as fast as it can, its follower has
// got everything that its log holds.
func TestFollowKilledAnywhere(t *testing.T) {
	t.Parallel()
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	for range rounds {
		store := newStore(t, t.TempDir())
		cmd, out := child(t, "write", store.Dir())
		if !out.Scan() {
			t.Fatal("the writer printed nothing")
		}
		id, err := store.Latest(nil)
		if err != nil {
			t.Fatal(err)
		}
		enough := 1 + rand.IntN(300)
		go func() {
			for said := 1; out.Scan(); said++ {
				if said == enough {
					time.AfterFunc(time.Duration(rand.IntN(3000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
				}
			}
		}()
		var got []Entry
		for entry, err := range store.Follow(t.Context(), id, nil) {
			if err != nil && !errors.Is(err, ErrTorn) {
				t.Fatal(err)
			}
			if err == nil {
				got = append(got, entry)
			}
		}
		want, _ := sorted(Read(store.Path(id)))
		if len(want) < enough/2 || !reflect.DeepEqual(got, want) {
			t.Fatalf("the follower got %d events, the log has %d", len(got), len(want))
		}
	}
}

// TestFollowATornLine: a follower waits for the rest of a line as long as it may be completed.
func TestFollowATornLine(t *testing.T) {
	t.Parallel()
	t.Run("completed", func(t *testing.T) {
		t.Parallel()
		r := newRecording(t)
		all := r.follow()
		r.do(2)
		events(t, all, 2)
		r.do("torn")
		silent(t, all)
		r.do("rest")
		if got := events(t, all, 1); got[0] != (loop.Warned{Text: "first half, second half"}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		r := newRecording(t)
		all := r.follow()
		r.do(2)
		events(t, all, 2)
		r.do("torn")
		silent(t, all)
		r.kill()
		one, _ := next(t, all)
		if line, ok := errors.AsType[*LineError](one.err); !ok || line.Line != 3 || !errors.Is(line, ErrTorn) {
			t.Errorf("got %+v", one)
		}
		over(t, all)
	})
}

// TestFollowWhatIsGone: a follower ends if the log is removed or truncated, or the caller stops
// iterating.
func TestFollowWhatIsGone(t *testing.T) {
	t.Parallel()
	cause := errors.New("seen enough")
	for name, c := range map[string]struct {
		meddle func(path string, stop context.CancelCauseFunc) error
		want   error
	}{
		"removed": {func(path string, _ context.CancelCauseFunc) error { return os.Remove(path) }, ErrRemoved},
		"replaced": {func(path string, _ context.CancelCauseFunc) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		}, ErrRemoved},
		"cut":       {func(path string, _ context.CancelCauseFunc) error { return os.Truncate(path, 3) }, ErrChanged},
		"cancelled": {func(_ string, stop context.CancelCauseFunc) error { stop(cause); return nil }, cause},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newStore(t, t.TempDir())
			r := record(t, store, quietRun()[:4])
			defer r.Close()
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			told := 0
			for _, err := range store.Follow(ctx, r.ID(), nil) {
				if told++; told < 4 {
					continue
				}
				if told == 4 {
					if err := c.meddle(r.Path(), stop); err != nil {
						t.Skip(err) // a system that locks open files
					}
					continue
				}
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), r.ID()) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			}
			if told != 5 {
				t.Errorf("told %d times", told)
			}
		})
	}
	for _, err := range newStore(t, t.TempDir()).Follow(t.Context(), "none", nil) {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("an unknown session: %v", err)
		}
	}
}

// TestFollowResumed: a follower does not end at an end while a process that may resume holds the
// session.
func TestFollowResumed(t *testing.T) {
	t.Parallel()
	store := newStore(t, t.TempDir())
	done := record(t, store, quietRun())
	again, _, err := store.Reopen(done.ID())
	if err != nil {
		t.Fatal(err)
	}
	last, n := loop.Event(nil), len(quietRun())
	for entry, err := range store.Follow(t.Context(), done.ID(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.At.Seq == len(quietRun()) {
			err = errors.Join(again.Handle(stamped(n+1), loop.Resumed{Iterations: 2}), again.Handle(stamped(n+2), loop.Finished{}))
			if err != nil {
				t.Fatal(err)
			}
		}
		last, n = entry.Event, max(n, entry.At.Seq)
	}
	if _, ended := last.(loop.Finished); !ended || n != len(quietRun())+2 {
		t.Errorf("it ends with %T, event %d", last, n)
	}
}
