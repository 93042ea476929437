package verdict_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/critic/verdict"
	"codeloops/internal/loop"
)

func replies() map[string][]replyCase {
	return map[string][]replyCase{
		"plain":         plainReplies(),
		"markdown":      markdownReplies(),
		"quoting":       quotingReplies(),
		"contradictory": contradictoryReplies(),
		"JSON":          jsonReplies(),
		"foreign":       foreignReplies(),
	}
}

func (c replyCase) text() string { return strings.ReplaceAll(c.reply, "´", "`") }

func TestParse(t *testing.T) {
	t.Parallel()
	for kind, cases := range replies() {
		for _, c := range cases {
			t.Run(kind+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				got, err := verdict.Parser{Boundary: c.boundary}.Parse(c.text())
				if c.problem != "" {
					wantProblem(t, got, err, c.problem)
					return
				}
				if err != nil {
					t.Fatalf("error %v, want %s", err, show(c.want))
				}
				if !reflect.DeepEqual(got, c.want) {
					t.Errorf("got  %s\nwant %s", show(got), show(c.want))
				}
			})
		}
	}
}

func wantProblem(t *testing.T, got loop.Verdict, err error, want string) {
	t.Helper()
	reply, ok := errors.AsType[*verdict.ReplyError](err)
	if !ok {
		t.Fatalf("got %s and error %v, want the problem %q", show(got), err, want)
	}
	if reply.Problem != want {
		t.Errorf("problem %q\nwant    %q", reply.Problem, want)
	}
	if !reflect.DeepEqual(got, loop.Verdict{}) {
		t.Errorf("a verdict comes with the problem: %s", show(got))
	}
}

func show(v loop.Verdict) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// TestParseMany: many different answers, and many titles without open points, are read whole.
func TestParseMany(t *testing.T) {
	t.Parallel()
	parseMany(t, 1000)
}

// BenchmarkParseMany reads ten times as many: in linear time, each costs the same.
func BenchmarkParseMany(b *testing.B) {
	for _, many := range []int{1000, 10_000} {
		b.Run(strconv.Itoa(many), func(b *testing.B) {
			for b.Loop() {
				parseMany(b, many)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*many), "ns/line")
		})
	}
}

func parseMany(tb testing.TB, many int) {
	tb.Helper()
	var answers strings.Builder
	for n := range many {
		fmt.Fprintf(&answers, "F%d: settled\n", n+1)
	}
	v, err := verdict.Parse("DECISION: CONTINUE\nFEEDBACK: a\n" + answers.String())
	if err != nil || len(v.Answers) != many {
		tb.Errorf("%d answers, %v", len(v.Answers), err)
	}
	if v, err = verdict.Parse("DECISION: DONE\nSUMMARY: a\n" + strings.Repeat("Open issues:\nnone\n", many)); err != nil || v.Decision != loop.Done {
		tb.Errorf("%q, %v", v.Decision, err)
	}
}

// TestParseLarge: large replies are read in linear time. In quadratic time these would take minutes.
func TestParseLarge(t *testing.T) {
	t.Parallel()
	const size = 1 << 19
	for unit, want := range map[string]loop.Decision{
		"DECISION: DONE\n":                    "", // too many labels
		"DECISION: CONTINUE\nFEEDBACK: a\n":   "",
		"{\"decision\":\"done\"}\n":           "",
		"{\n":                                 "",
		"{\"a\":\n":                           "",
		"{\"a\":1}\n":                         "",
		"{\"decision\":\"":                    "",
		"<decision>\n":                        "",
		"<decision>{}\n":                      "",
		"<decision>\nx</decision>\n":          "",
		"```\n":                               "",
		"x: ```go\n":                          "",
		"```":                                 "",
		"> a\n":                               "",
		"*":                                   "",
		"DECISION":                            "",
		"\x1b]":                               "",
		"\xff":                                "",
		"\r":                                  "",
		"    a  \n":                           "",
		"CONFIDENCE: 1111111111111111111111,": "",
	} {
		t.Run(unit, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			v, err := verdict.Parse(strings.Repeat(unit, size/len(unit)))
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if v.Decision != want || (err == nil) != (want != "") {
				t.Errorf("got %q and %v", v.Decision, err)
			}
		})
	}
}

// Without a contract an escalation needs no reason.
func TestEscalationWithoutAReason(t *testing.T) {
	t.Parallel()
	v, err := verdict.Parse(`{"decision": "escalate"}`)
	if err != nil || v.Escalation != verdict.NoReason {
		t.Errorf("got %+v, %v", v, err)
	}
}
