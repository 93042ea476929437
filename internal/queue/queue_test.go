package queue

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 27, 12, 0, 0, 0, time.UTC)

func record(id string, change func(*Record)) *Record {
	r := &Record{Task: Task{ID: id, Added: noon}, State: Waiting}
	if change != nil {
		change(r)
	}
	return r
}

func backlogOf(all ...*Record) Backlog {
	b := Backlog{}
	for _, r := range all {
		b[r.Task.ID] = r
	}
	return b
}

func ids(records []*Record) (all []string) {
	for _, r := range records {
		all = append(all, r.Task.ID)
	}
	return all
}

// next begins up to n tasks, one after the other, as workers do.
func next(b Backlog, n int, at time.Time) (all []*Record) {
	for range n {
		r := b.Next(at, &Holds{}, anything)
		if r == nil || r.Begin(Worker{}, at) != nil {
			break
		}
		all = append(all, r)
	}
	return all
}

func TestNext(t *testing.T) {
	t.Parallel()
	in := func(s State) func(*Record) { return func(r *Record) { r.State = s } }
	after := func(ids ...string) func(*Record) { return func(r *Record) { r.Task.After = ids } }
	for _, c := range []struct {
		name    string
		backlog Backlog
		n       int
		want    []string
	}{
		{"in the order of their IDs, as far as there is room", backlogOf(record("a", nil), record("b", nil), record("c", nil)), 2, []string{"a", "b"}},
		{"no room", backlogOf(record("a", nil)), 0, nil},
		{"the higher priority first", backlogOf(record("a", nil), record("b", func(r *Record) { r.Task.Priority = 1 })), 2, []string{"b", "a"}},
		{"those added first", backlogOf(record("a", func(r *Record) { r.Task.Added = noon.Add(1) }), record("b", nil)), 1, []string{"b"}},
		{"only those that wait", backlogOf(record("a", in(Running)), record("b", in(Merged)), record("c", in(Failed))), 9, nil},
		{"not before what they come after is merged", backlogOf(record("a", in(Finished)), record("b", after("a"))), 9, nil},
		{"then they do", backlogOf(record("a", in(Merged)), record("b", after("a"))), 9, []string{"b"}},
		{
			"what is not to be merged is enough when it is finished",
			backlogOf(record("a", func(r *Record) { r.State, r.Task.Unmerged = Finished, true }), record("b", after("a"))), 9,
			[]string{"b"},
		},
		{"what was removed keeps nobody", backlogOf(record("b", after("a"))), 9, []string{"b"}},
		{"what has failed does", backlogOf(record("a", in(Failed)), record("b", after("a"))), 9, nil},
		{"not before its time", backlogOf(record("a", func(r *Record) { r.NotBefore = noon.Add(time.Minute) })), 9, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := ids(next(c.backlog, c.n, noon)); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Whatever is done to a backlog, records change their state only as the table allows.
func TestCourses(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		b, names := randomBacklog(random)
		at := noon
		for range 200 {
			at = at.Add(time.Second)
			next(b, random.IntN(4), at)
			r := b[names[random.IntN(len(names))]]
			if to := States()[random.IntN(len(States()))]; (to != Running || r.State == Running) && !(r.State == NeedsHuman && to == Finished) { // Next decides what begins, the user what is accepted
				moved(t, r, to, at)
			}
		}
	}
}

// A task that keeps waiting for the same reason records that once, and again when the reason changes.
func TestLater(t *testing.T) {
	t.Parallel()
	r := record("t", nil)
	r.Course = nil
	at, tries := noon, 0
	try := func(why string) {
		t.Helper()
		tries++
		at = at.Add(time.Minute)
		if err := errors.Join(r.Begin(Worker{Name: "w"}, at), r.Later(at.Add(time.Second), time.Minute, why)); err != nil {
			t.Fatal(err)
		}
		if last := r.Course[len(r.Course)-1]; last.At != r.Since || last.Attempt != tries || last.Why != why || r.NotBefore != r.Since.Add(time.Minute) {
			t.Errorf("after try %d the course ends with %+v", tries, last)
		}
	}
	for range 5 {
		try("the remote is away")
	}
	if len(r.Course) != 3 || r.Course[1].Attempt != 1 {
		t.Errorf("the course is %+v", r.Course)
	}
	try("the home is away")
	try("the remote is away")
	if len(r.Course) != 7 {
		t.Errorf("the course is %+v", r.Course)
	}
}

// randomBacklog returns tasks that depend on each other.
func randomBacklog(random *rand.Rand) (b Backlog, names []string) {
	b = Backlog{}
	for i := range 12 {
		r := record(fmt.Sprintf("t%02d", i), nil)
		if i > 0 && random.IntN(3) == 0 {
			r.Task.After = []string{names[random.IntN(i)]}
		}
		names = append(names, r.Task.ID)
		b[r.Task.ID] = r
	}
	return b, names
}

// moved moves a record to another state, and fails if the table says otherwise.
func moved(t *testing.T, r *Record, to State, at time.Time) {
	t.Helper()
	was, n := r.State, len(r.Course)
	err := r.Move(to, at, "")
	if legal := slices.Contains(follow(was), to); legal != (err == nil) {
		t.Fatalf("from %s to %s: %v", was, to, err)
	}
	if err != nil && (r.State != was || len(r.Course) != n) {
		t.Fatalf("from %s to %s: refused, but the record has changed", was, to)
	}
	if was == Merged && err == nil {
		t.Fatalf("a merged task became %s", to)
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	task := func(id string, after ...string) Task { return Task{ID: id, After: after} }
	b := backlogOf(record("a", nil), record("b", func(r *Record) { r.Task.After = []string{"a"} }))
	for _, c := range []struct {
		added []Task
		want  string
	}{
		{[]Task{task("c", "b")}, ""},
		{[]Task{task("d", "c"), task("c", "b")}, ""},
		{[]Task{{ID: "t", Repository: Repository{Root: "/r\xff"}}}, `the queue cannot hold "/r\xff", which is not UTF-8 text`},
		{[]Task{{ID: "t", Setup: "echo \xff"}}, `the queue cannot hold "echo \xff", which is not UTF-8 text`},
		{[]Task{task("c", "c")}, "these tasks wait for each other: c → c"},
		{[]Task{task("c", "e"), task("d", "c"), task("e", "b", "d")}, "these tasks wait for each other: c → e → d → c"},
	} {
		got := ""
		if err := b.Validate(c.added); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v: got %q, want %q", c.added, got, c.want)
		}
	}
}

// A task has the same ID whenever it is read again, and the ID contains words of its title.
func TestName(t *testing.T) {
	t.Parallel()
	name := func(prompt string, change func(*Task)) string {
		task := Task{Prompt: prompt, Repository: Repository{Home: "h", Root: "/r"}}
		if change != nil {
			change(&task)
		}
		task.Name()
		return task.ID
	}
	one := name("# Make the *parser* accept ISO weeks\n\nWith tests.", nil)
	if want := "make-the-parser-accept-"; len(one) != len(want)+6 || one[:len(want)] != want {
		t.Errorf("got %s", one)
	}
	if name("# Make the *parser* accept ISO weeks\n\nWith tests.", nil) != one {
		t.Error("the same task has another ID")
	}
	if name("# Make the *parser* accept ISO weeks", nil) == one {
		t.Error("another task has the same ID")
	}
	origin := func(task *Task) { task.Origin = Origin{Kind: "checklist", Name: "/r/tasks.md", Key: "T001"} }
	if name("Write it", origin)[len("write-it-"):] != name("Write it\n\nwith details", origin)[len("write-it-"):] {
		t.Error("changed details in its source give a task another ID")
	}
	if got := name("日本語だけ", nil); len(got) != 6 {
		t.Errorf("a title without plain words: %s", got)
	}
}

func TestStuck(t *testing.T) {
	t.Parallel()
	b := backlogOf(
		record("a", func(r *Record) { r.State = NeedsHuman }),
		record("b", func(r *Record) { r.Task.After = []string{"a"} }),
		record("c", func(r *Record) { r.Task.After = []string{"b"} }),
		record("d", nil),
	)
	if by := b.blocked(b["c"]); by != b["a"] {
		t.Errorf("c is stuck behind %v", by)
	}
	for id, want := range map[string]bool{"a": false, "b": false, "c": false, "d": true} {
		if b.Pending(b[id]) != want {
			t.Errorf("%s pending: %t", id, !want)
		}
	}
	if got := b.Waits(b["c"], noon, &Holds{}); got != "after a, which is needs-human" {
		t.Errorf("c waits for %q", got)
	}
}

// TestSaidTwice: what a user says twice counts twice, and what a session reports of it again counts once.
func TestSaidTwice(t *testing.T) {
	t.Parallel()
	var r Record
	r.Say("yes")
	r.Say("")
	r.Heard([]string{"yes"})
	r.Say("yes")
	r.Heard([]string{"yes", "yes", "no"})
	r.Heard([]string{"yes", "yes", "no"})
	if !slices.Equal(r.Words, []string{"yes", "yes", "no"}) {
		t.Errorf("%q", r.Words)
	}
}

// TestSummary: what the run said about its result stays, whatever the user says of it.
func TestSummary(t *testing.T) {
	t.Parallel()
	r := record("t", func(r *Record) { r.State, r.Task.Asks = Running, true })
	if err := errors.Join(r.Finish("c0ffee", noon, "the parser accepts weeks"), r.Accept(noon), r.Move(Merged, noon, "")); err != nil {
		t.Fatal(err)
	}
	if r.Summary != "the parser accepts weeks" {
		t.Errorf("%q", r.Summary)
	}
}

// anything is a worker that lacks nothing.
func anything(string) bool { return true }
