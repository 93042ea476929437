package ci

import (
	"bytes"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

// TestFindings: an open finding stands at the first line that it names, if there is such a file, and cannot say more than that.
func TestFindings(t *testing.T) {
	t.Parallel()
	found := []loop.Finding{
		{ID: "F1", Text: "in `a/b.go:12` and c.go:3", State: loop.FindingNew},
		{ID: "F2", Text: "(c.go#L3) 100%\n::set-env name=x::y", State: loop.FindingOpen, May: true},
		{ID: "F3", Text: "../../etc/passwd:1, gone.go:1, http://c.go:3 c.go: 3 and c.go:0", State: loop.FindingNew},
		{ID: "F4", Text: "c.go:9", State: loop.FindingClosed},
		{ID: "F5", Text: "d,e:1 (d,e:2)", State: loop.FindingReopened},
	}
	l := New(GitHub)
	l.Locate = func(name string) (string, bool) {
		path, ok := map[string]string{"a/b.go": "a/b.go", "c.go": "sub/c.go", "e": "d,e:f"}[name]
		return path, ok
	}
	var log bytes.Buffer
	sink := l.Sink(l.Writer(&log, false), says{&bytes.Buffer{}}, false)
	for _, e := range []loop.Event{loop.IterationFinished{Round: loop.Round{Ruling: loop.Ruling{Findings: found}}}, loop.IterationFinished{Round: loop.Round{Unjudged: true}}, loop.Finished{Outcome: loop.Outcome{Result: loop.Success}}} {
		if err := sink.Handle(loop.Stamp{}, e); err != nil {
			t.Fatal(err)
		}
	}
	want := "::error file=a/b.go,line=12,title=codeloops%3A F1::in `a/b.go:12` and c.go:3\n" +
		"::notice file=sub/c.go,line=3,title=codeloops%3A F2::(c.go#L3) 100%25%0A::set-env name=x::y\n"
	if log.String() != want {
		t.Errorf("%s\nwant\n%s", log.String(), want)
	}
	report, err := l.CodeQuality(found)
	if err != nil || strings.Count(string(report), "fingerprint") != 2 || !strings.Contains(string(report), `"severity":"info","location":{"path":"sub/c.go","lines":{"begin":3}}`) {
		t.Errorf("%s %v", report, err)
	}
	if report, err = New(GitLab).CodeQuality(found); err != nil || string(report) != "[]" {
		t.Errorf("%s %v", report, err)
	}
}
