package transcript

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/loop"
)

var update = flag.Bool("update", false, "write the golden files anew")

// keep is how many bytes of all messages the tests keep.
const keep = 1 << 20

// speaks returns the format of each CLI's samples.
func speaks() map[string]string {
	return map[string]string{
		"claude": "claude-stream-json", "cline": "cline-json", "codex": "codex-json",
		"acp": "acp", "copilot": "copilot-json", "droid": "droid-stream-json", "droid-jsonrpc": "droid-jsonrpc", "gemini": "gemini-stream-json",
		"kilo": "opencode-json", "opencode": "opencode-json", "pi": "pi-json", "qwen": "qwen-stream-json",
	}
}

// A sample is the recorded output of a real CLI.
type sample struct {
	name   string // "claude/actor-stream-json-1"
	format string
	stdout []byte
}

// samples returns the samples in structured formats.
func samples(tb testing.TB) []sample {
	tb.Helper()
	var all []sample
	for cli, format := range speaks() {
		files, err := filepath.Glob(filepath.Join("..", "testdata", "samples", cli, "*.stdout"))
		if err != nil || len(files) == 0 {
			tb.Fatalf("no samples of %s: %v", cli, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			name := strings.TrimSuffix(filepath.Base(file), ".stdout")
			if len(data) > 0 && data[0] == '{' {
				all = append(all, sample{cli + "/" + name, format, data})
			}
		}
	}
	return all
}

// told is everything that a decoder produces.
type told struct {
	Report  Report
	Notices []loop.Notice
}

// hear feeds data to a decoder in pieces, whose sizes size returns.
func hear(tb testing.TB, format string, data []byte, size func() int) told {
	tb.Helper()
	var out told
	d, ok := New(format, keep, func(n loop.Notice) { out.Notices = append(out.Notices, n) })
	if !ok {
		tb.Fatalf("no format %q", format)
	}
	for len(data) > 0 {
		n := min(len(data), size())
		piece := bytes.Clone(data[:n])
		if _, err := d.Write(piece); err != nil {
			tb.Fatal(err)
		}
		clear(piece) // the caller may reuse it
		data = data[n:]
	}
	out.Report = d.Report()
	return out
}

func whole() int { return 1 << 30 }

// TestSamples compares the report on every sample with a golden file.
func TestSamples(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			got, err := json.MarshalIndent(hear(t, s.format, s.stdout, whole), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", "reports", strings.ReplaceAll(s.name, "/", "-")+".json")
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != strings.TrimSuffix(string(want), "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestTellsCost: TellsCost agrees with the recorded turns of real CLIs.
func TestTellsCost(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		if !strings.Contains(s.name, "/actor-") {
			continue // a fault may have no cost
		}
		if told := hear(t, s.format, s.stdout, whole).Report.Usage.CostUSD != nil; told != TellsCost(s.format) {
			t.Errorf("%s: reports a cost: %t", s.name, told)
		}
	}
	if TellsCost("text") {
		t.Error("a text is said to report a cost")
	}
}

// TestPieces: a sample gives the same report however it is split, and with harmless lines
// added.
func TestPieces(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			want := hear(t, s.format, s.stdout, whole)
			random := rand.New(rand.NewPCG(1, uint64(len(s.stdout))))
			for name, size := range map[string]func() int{
				"by byte": func() int { return 1 },
				"random":  func() int { return 1 + random.IntN(700) },
				"large":   func() int { return 32 << 10 },
			} {
				if got := hear(t, s.format, s.stdout, size); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: got %+v\nwant %+v", name, got, want)
				}
			}
			for name, other := range map[string][]byte{
				"CRLF":        bytes.ReplaceAll(s.stdout, []byte("\n"), []byte("\r\n")),
				"no last end": bytes.TrimRight(s.stdout, "\n"),
				"empty lines": bytes.ReplaceAll(s.stdout, []byte("\n"), []byte("\n\n \n")),
				"unknown":     append([]byte("{\"type\":\"news.of.tomorrow\",\"text\":[1,{\"a\":null}]}\n"), s.stdout...),
				"other JSON":  append([]byte("[1]\n{\"level\":\"info\"}\n{}\n"), s.stdout...),
			} {
				if got := hear(t, s.format, other, whole); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: got %+v\nwant %+v", name, got, want)
				}
			}
		})
	}
}

// TestTorn: of a truncated sample the text up to there is kept, but only the whole output
// counts as completed.
func TestTorn(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			body := bytes.TrimRight(s.stdout, "\n")
			last := bytes.LastIndexByte(body, '\n') + 1
			all := hear(t, s.format, body, whole)
			cuts := []int{0, 1, last / 2, last - 1, last, last + 1, len(body) - 1}
			for _, cut := range cuts {
				cut = max(0, cut)
				got := hear(t, s.format, body[:cut], whole)
				if got.Report.Ending == loop.EndCompleted || got.Report.Ending == loop.EndEmpty {
					if s.format != "opencode-json" || cut < last-1 {
						t.Errorf("cut at %d of %d: ended as %s", cut, len(body), got.Report.Ending)
					}
				}
				if !strings.HasPrefix(all.Report.Said.Text, got.Report.Said.Text) {
					t.Errorf("cut at %d: said %q, of %q", cut, got.Report.Said.Text, all.Report.Said.Text)
				}
				if cut > 0 && got.Report.Spoken && got.Report.Ending != loop.EndCompleted && got.Report.Reason == "" && got.Report.Ending != loop.EndEmpty {
					t.Errorf("cut at %d: %s without a reason", cut, got.Report.Ending)
				}
			}
		})
	}
}

// TestTokens: every token count is read from the right field. All counts in the samples
// differ.
func TestTokens(t *testing.T) {
	t.Parallel()
	for cli, want := range map[string]loop.Tokens{
		"claude":   {Input: 1000, Output: 20, CacheRead: 300, CacheWrite: 70},
		"cline":    {Input: 700, Output: 20, CacheRead: 300},
		"codex":    {Input: 700, Output: 20, CacheRead: 300, Reasoning: 5},
		"droid":    {Input: 700, Output: 20, CacheRead: 300},
		"kilo":     {Input: 700, Output: 20, CacheRead: 300, Reasoning: 5},
		"opencode": {Input: 700, Output: 20, CacheRead: 300, Reasoning: 5},
		"pi":       {Input: 700, Output: 20, CacheRead: 300},
		// These two also ask a second model.
		"gemini": {Input: 1400, Output: 50, CacheRead: 600, Reasoning: 10},
		"qwen":   {Input: 1400, Output: 40, CacheRead: 600},
	} {
		for _, s := range samples(t) {
			if strings.HasPrefix(s.name, cli+"/critic-") {
				got := hear(t, s.format, s.stdout, whole).Report.Usage.Tokens
				if got == nil || *got != want {
					t.Errorf("%s: %+v, want %+v", s.name, got, want)
				}
			}
		}
	}
}

// TestNoticesAreShort: notices are short, printable single lines, and never JSON.
func TestNoticesAreShort(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		for _, n := range hear(t, s.format, s.stdout, whole).Notices {
			if len(n.Text) > maxNotice || strings.ContainsAny(n.Text, "\n\r\x1b") || strings.HasPrefix(n.Text, `{"`) {
				t.Errorf("%s: %s notice %q", s.name, n.Kind, n.Text)
			}
		}
	}
}

func FuzzDecoder(f *testing.F) {
	formats := Formats()
	for _, s := range samples(f) {
		for i, format := range formats {
			if format == s.format {
				f.Add(uint8(i), uint8(7), s.stdout)
			}
		}
	}
	f.Add(uint8(0), uint8(1), []byte("{\"type\":\"result\",\"result\":5,\"usage\":[]}\nplain\n{\"type\":"))
	f.Fuzz(func(t *testing.T, which, step uint8, data []byte) {
		format := formats[int(which)%len(formats)]
		got := hear(t, format, data, whole)
		if again := hear(t, format, data, func() int { return 1 + int(step) }); !reflect.DeepEqual(got, again) {
			t.Errorf("whole %+v\nin pieces of %d %+v", got, 1+int(step), again)
		}
		if got.Report.Ending == "" {
			t.Error("no ending")
		}
		for _, n := range got.Notices {
			if strings.Contains(strings.TrimSuffix(n.Text, "\n"), "\n") || len(n.Text) > maxNotice+1 {
				t.Errorf("notice %q", n.Text)
			}
		}
		if u := got.Report.Usage.Tokens; u != nil && min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning) < 0 {
			t.Errorf("counts below zero: %+v", u)
		}
	})
}

func ExampleFormats() {
	fmt.Println(strings.Join(Formats(), " "))
	// Output: claude-stream-json cline-json codex-json copilot-json droid-stream-json gemini-stream-json opencode-json pi-json qwen-stream-json
}
