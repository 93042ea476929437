package eval

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"codeloops/internal/loop"
	"codeloops/internal/session"
)

// TestWilson compares with published values (Newcombe, Two-sided confidence intervals for the single proportion, 1998,
// table I, method 3).
func TestWilson(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		low, high := Wilson(c.k, c.n)
		if math.Abs(low-c.low) > 0.00006 || math.Abs(high-c.high) > 0.00006 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, low, high, c.low, c.high)
		}
	}
}

// TestPaired: the exact values of the sign test.
func TestPaired(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b int
		p    float64
	}{{0, 0, 1}, {5, 0, 2.0 / 32}, {1, 9, 22.0 / 1024}, {9, 1, 22.0 / 1024}, {4, 4, 1}, {0, 1, 1}} {
		if p := Paired(c.a, c.b); math.Abs(p-c.p) > 1e-12 {
			t.Errorf("%d to %d: %v, want %v", c.a, c.b, p, c.p)
		}
	}
}

// TestTruth: the label stands above all, and one fault above what nobody found.
func TestTruth(t *testing.T) {
	t.Parallel()
	good := func(s string) Evidence { return Evidence{Source: s, Good: true} }
	bad := func(s string) Evidence { return Evidence{Source: s} }
	for _, c := range []struct {
		evidence  []Evidence
		sources   []string
		want      Truth
		contested bool
	}{
		{nil, Sources(), Unknown, false},
		{[]Evidence{good(Reverts)}, Sources(), Good, false},
		{[]Evidence{good(Reverts), bad(Again)}, Sources(), Bad, true},
		{[]Evidence{bad(Checks), good(Reverts), good(CI)}, Sources(), Bad, true},
		{[]Evidence{bad(Checks), good(Reverts)}, []string{Reverts}, Good, false},
		{[]Evidence{bad(Checks), good(Labels)}, Sources(), Good, false},
		{[]Evidence{good(CI), bad(Labels)}, []string{CI, Labels}, Bad, false},
	} {
		if got, contested := (Case{Evidence: c.evidence}).Truth(c.sources); got != c.want || contested != c.contested {
			t.Errorf("%+v by %v: %s, %t", c.evidence, c.sources, got, contested)
		}
	}
}

// TestNext: what the iterations after one tell of its work.
func TestNext(t *testing.T) {
	t.Parallel()
	r := func(state string, d loop.Decision, findings ...loop.Finding) round {
		one := round{Round: loop.Round{Change: loop.Change{State: state}}}
		one.Verdict.Decision, one.Review.Verdict.Decision, one.Findings = d, d, findings
		return one
	}
	f := func(state loop.FindingState) loop.Finding { return loop.Finding{ID: "F1", State: state} }
	for name, c := range map[string]struct {
		rounds  []round
		success bool
		want    string
	}{
		"nothing follows":                 {[]round{r("a", loop.Continue)}, false, ""},
		"approved":                        {[]round{r("a", loop.Done)}, true, ""},
		"settled by work":                 {[]round{r("a", loop.Continue, f(loop.FindingNew)), r("b", loop.Done, f(loop.FindingClosed))}, true, "bad"},
		"settled without work":            {[]round{r("a", loop.Continue, f(loop.FindingNew)), r("a", loop.Continue, f(loop.FindingClosed))}, false, ""},
		"withdrawn":                       {[]round{r("a", loop.Continue, f(loop.FindingNew)), r("b", loop.Done, f(loop.FindingWithdrawn))}, true, "good"},
		"the same work was approved":      {[]round{r("a", loop.Continue, f(loop.FindingNew)), r("a", loop.Done, f(loop.FindingClosed))}, true, "good"},
		"more work was approved":          {[]round{r("a", loop.Error), r("b", loop.Done)}, true, "bad"},
		"more work, and no end":           {[]round{r("a", loop.Continue), r("b", loop.Continue)}, false, ""},
		"a finding of another round":      {[]round{r("a", loop.Continue), r("b", loop.Continue, f(loop.FindingNew)), r("c", loop.Continue, f(loop.FindingClosed))}, false, ""},
		"a DONE that a rule sent back":    {[]round{func() round { one := r("a", loop.Done); one.Verdict.Decision = loop.Continue; return one }(), r("b", loop.Done)}, true, "bad"},
		"optional findings say nothing":   {[]round{r("a", loop.Continue, loop.Finding{ID: "F1", May: true, State: loop.FindingNew}), r("b", loop.Continue, loop.Finding{ID: "F1", May: true, State: loop.FindingClosed})}, false, ""},
		"settled, and another withdrawn":  {[]round{r("a", loop.Continue, f(loop.FindingNew), loop.Finding{ID: "F2", State: loop.FindingNew}), r("b", loop.Done, f(loop.FindingClosed), loop.Finding{ID: "F2", State: loop.FindingWithdrawn})}, true, "bad"},
		"what was not raised in it":       {[]round{r("a", loop.Continue, f(loop.FindingUnmentioned)), r("b", loop.Continue, f(loop.FindingClosed))}, false, ""},
		"an escalation that work settled": {[]round{r("a", loop.Error, f(loop.FindingOpen)), r("b", loop.Done, f(loop.FindingClosed))}, true, "bad"},
	} {
		got := ""
		for _, e := range next(history{rounds: c.rounds, success: c.success}, 0) {
			got = map[bool]string{true: "good", false: "bad"}[e.Good]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestStayed reads a history as git prints it.
func TestStayed(t *testing.T) {
	t.Parallel()
	const day = 86400
	commit := func(id string, at int, subject, body, patch string) string {
		return fmt.Sprintf("\x00%s\x00%d\x00%s\x00%s\x00\n\n%s\n", id, at, subject, body, patch)
	}
	const work = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -0,0 +1,2 @@\n+first line\n+--- a/second\n"
	const other = "diff --git a/g b/g\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-first line\n+x\n"
	const mend = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-first line\n+better line\n"
	landed := commit("1111111111aa", 100, "Add it", "", work)
	for name, c := range map[string]struct {
		log  string
		now  int
		want string
	}{
		"not there":                  {commit("2", 100, "x", "", other), 90 * day, ""},
		"stayed":                     {landed, 90 * day, "good 1111111111"},
		"too early to tell":          {landed, 2 * day, ""},
		"mended":                     {landed + commit("2222222222bb", 3*day, "fix: the line", "", mend), 90 * day, "bad 2222222222"},
		"mended too late":            {landed + commit("2", 30*day, "Fix the line", "", mend), 90 * day, "good 1111111111"},
		"changed, not mended":        {landed + commit("2", 3*day, "Fixtures for it", "", mend), 90 * day, "good 1111111111"},
		"something else mended":      {landed + commit("2", 3*day, "Fix another", "", other), 90 * day, "good 1111111111"},
		"reverted":                   {landed + commit("2222222222bb", 3*day, "Take it back", "This reverts commit 1111111111aa.", other), 90 * day, "bad 2222222222"},
		"was there before":           {commit("1", -100, "Add it", "", work), 90 * day, ""},
		"no more than a part landed": {commit("1", 100, "x", "", "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+else\n"), 90 * day, ""},
	} {
		g := &gathering{Look: &Look{Now: time.Unix(int64(c.now), 0), Within: 14 * day * time.Second, Sources: []string{Reverts}}, cases: []Case{{ID: "s/1"}}}
		e := ending{id: "s/1", at: time.Unix(50, 0), lines: lines{}}
		e.lines.add("f", "first line")
		e.lines.add("f", "--- a/second")
		g.stayed(t.Context(), "", e, parse(c.log))
		got := ""
		for _, said := range g.cases[0].Evidence {
			word, _, _ := strings.Cut(said.Why, " ")
			got = map[bool]string{true: "good ", false: "bad "}[said.Good] + word
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// FuzzParse: no output of git log breaks the reader.
func FuzzParse(f *testing.F) {
	f.Add("\x00a\x001\x00s\x00b\x00\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n")
	f.Add("\x00\x00\x00\x00")
	f.Fuzz(func(_ *testing.T, text string) { parse(text) })
}

func openBook(tb testing.TB, dir string) *Book {
	tb.Helper()
	store, err := session.NewStore(dir)
	if err != nil {
		tb.Fatal(err)
	}
	b, err := Open(store)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestBook: what was kept is there after a crash in the middle of a line, and one process has it at a time.
func TestBook(t *testing.T) { //nolint:gocyclo // the steps belong together, and read top to bottom
	t.Parallel()
	dir := t.TempDir()
	b := openBook(t, dir)
	store, _ := session.NewStore(dir)
	if _, err := Open(store); err == nil || !strings.Contains(err.Error(), "at work") {
		t.Errorf("opened twice: %v", err)
	}
	v := Verdict{Case: "s/1", Critic: "claude:opus", Log: "l1", Decision: loop.Done, CostUSD: new(0.5)}
	if err := b.Add(v); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(b.path(verdictsFile), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(`{"case":"s/2","crit`)
	if err != nil || f.Close() != nil || b.Close() != nil {
		t.Fatal(err)
	}
	b = openBook(t, dir)
	v.Case = "s/3"
	if err := b.Add(v); err != nil {
		t.Fatal(err)
	}
	if err := b.Put([]Case{{ID: "s/1", Session: "s", Iteration: 1}}); err != nil {
		t.Fatal(err)
	}
	if err := b.Label(Label{Case: "s/1", Good: true}); err != nil {
		t.Fatal(err)
	}
	b.Close()
	b = openBook(t, dir)
	defer b.Close()
	for id, want := range map[string]bool{"s/1": true, "s/2": false, "s/3": true} {
		if _, known := b.Verdict(id, "claude:opus"); known != want {
			t.Errorf("%s is known: %t", id, known)
		}
	}
	if all := b.Cases(nil); len(all) != 1 || len(all[0].Evidence) != 1 || !all[0].Evidence[0].Good {
		t.Errorf("%+v", all)
	}
}

// TestReport: the figures of a small book, and none where there is too little.
func TestReport(t *testing.T) { //nolint:gocyclo // as above
	t.Parallel()
	b := openBook(t, t.TempDir())
	defer b.Close()
	var cases []Case
	for i := range 40 { // 20 good, 20 bad; the cheap one misses every fourth of the bad, the dear one none, and cries wolf at one
		c := Case{ID: fmt.Sprintf("s/%d", i), Session: "s", Iteration: 1 + i%2, Recorded: Verdict{Critic: "was", Decision: loop.Continue}, Evidence: []Evidence{{Source: Labels, Good: i%2 == 0}}}
		cases = append(cases, c)
		says := func(critic string, done bool, cost float64) {
			v := Verdict{Case: c.ID, Critic: critic, Log: critic + c.ID, Decision: loop.Continue, CostUSD: &cost, Seconds: 2}
			if done {
				v.Decision = loop.Done
			}
			b.keep(v)
		}
		says("cheap", i%2 == 0 || i%8 == 1, 0.01)
		says("dear", i%2 == 0 && i != 10, 1)
		says("same", i%2 == 0, 0.5)
	}
	r := NewReport(b, cases, []string{"cheap", "dear", "same"}, Sources())
	var text bytes.Buffer
	if err := Text(&text, r.Tables()); err != nil {
		t.Fatal(err)
	}
	shown := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{
		"40 cases: 20 good, 20 bad",
		"cheap 40 25% [11–47] n=20 0% [0–16] n=20 88% [74–95] n=40 $0.0100 2.0 $0.0267 5.3",
		"dear 40 0% [0–16] n=20 5% [1–24] n=20 ",
		"the sessions' own 40 0% [0–16] n=20 100% [84–100] n=20",
		"same, at $0.5000 a case: it caught the same 20 as the most watchful, the sessions' own.",
		" 1 20 20 0% [0–16] n=20 0",
		" 2 20 20 100% [84–100] n=20 0",
		"codeloops sessions diff s --until-iteration 2",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	few := NewReport(b, cases[:6], []string{"cheap"}, Sources())
	if few.Few() == "" || few.Critics[1].Misses.Share != nil || few.Critics[1].Misses.N != 3 {
		t.Errorf("figures from six cases: %+v", few.Critics)
	}
	var page bytes.Buffer
	if err := HTML(&page, "<x>", []Table{{Title: "<script>", Head: []string{"a"}, Rows: [][]string{{"<b>"}}}}); err != nil || strings.Contains(page.String(), "<script>") || strings.Contains(page.String(), "<b>") {
		t.Errorf("%v\n%s", err, &page)
	}
	if err := Markdown(&page, []Table{{Title: "t", Head: []string{"a"}, Rows: [][]string{{"<b>|`x"}}}}); err != nil || !strings.Contains(page.String(), "| &lt;b>\\|\\`x |") {
		t.Errorf("%v\n%s", err, &page)
	}
}

// TestBudget: a turn begins only if the budget holds it beside those that are under way, at the dearest price so far.
func TestBudget(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	b := budget{limit: 1, most: map[string]float64{}, freed: sync.NewCond(&mu)}
	mu.Lock()
	defer mu.Unlock()
	ctx, stop := context.WithCancel(t.Context())
	first, ok := b.admit(ctx, "a")
	if !ok {
		t.Fatal("the first turn is refused")
	}
	b.paid(Verdict{Critic: "a", CostUSD: new(0.4)})
	b.free(first)
	second, ok := b.admit(ctx, "a")
	if !ok || second != 0.4 {
		t.Fatalf("%v, %t", second, ok)
	}
	stop() // a third waits for it, as 0.4 + 0.4 + 0.4 is too much
	if _, ok := b.admit(ctx, "a"); ok || b.refused > 0 {
		t.Error("a third turn is admitted, or refused for good")
	}
	b.paid(Verdict{Critic: "a", CostUSD: new(0.4)})
	b.free(second)
	if _, ok := b.admit(t.Context(), "a"); ok || b.refused != 1 {
		t.Error("a turn is admitted that the budget does not hold")
	}
}

// BenchmarkReport opens a book of 10,000 cases, and reports on two critics.
func BenchmarkReport(b *testing.B) {
	dir := b.TempDir()
	book := openBook(b, dir)
	var cases []Case
	for i := range 10_000 {
		c := Case{
			ID: fmt.Sprintf("2026-11-29T22-04-51Z_%06x/%d", i/4, 1+i%4), Session: fmt.Sprintf("2026-11-29T22-04-51Z_%06x", i/4), Iteration: 1 + i%4, Task: strings.Repeat("task ", 20),
			Recorded: Verdict{Critic: "was", Decision: loop.Continue, CostUSD: new(0.1)}, Evidence: []Evidence{{Source: Next, Good: i%3 == 0, Why: strings.Repeat("why ", 10)}},
		}
		cases = append(cases, c)
	}
	if err := book.Put(cases); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(book.path(verdictsFile))
	if err != nil {
		b.Fatal(err)
	}
	for i, c := range cases {
		for _, critic := range []string{"claude:opus", "codex:gpt-5"} {
			fmt.Fprintf(f, `{"case":%q,"critic":%q,"log":"l%d","decision":%q,"cost_usd":0.25,"tokens":100,"secs":2.5,"ruling":"DONE"}`+"\n", c.ID, critic, i, []string{"DONE", "CONTINUE"}[i%2])
		}
	}
	if f.Close() != nil || book.Close() != nil {
		b.Fatal("not written")
	}
	for b.Loop() {
		again := openBook(b, dir)
		all := again.Cases(nil)
		r := NewReport(again, all, again.Critics(all), Sources())
		if err := Text(&bytes.Buffer{}, r.Tables()); err != nil || r.Cases != 10_000 {
			b.Fatal(err)
		}
		again.Close()
	}
}
