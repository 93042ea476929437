package verdict_test

import (
	"strings"
	"testing"

	"codeloops/internal/critic/verdict"
)

func TestScore(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]float64{
		"score: 0.85\nIt lacks a test.":               0.85,
		"**Score:** 85%\n\nI looked at it.":           0.85,
		"I looked at it.\n\n**Score:** 85%":           -1,
		"- SCORE: 0,5":                                0.5,
		"> score: 1.0\nscore: 0.2":                    0.2,
		"```\nscore: 1.0\n```\nscore: 0.2":            0.2,
		"score: 0.3\nAll in all:\nscore: 0.3":         0.3,
		"":                                            -1,
		"The score is 0.9":                            -1,
		"score: 9/10":                                 -1,
		"score: 1.2":                                  -1,
		"score: 0.2\nscore: 0.9":                      -1,
		"scores: 0.9":                                 -1,
		"score: 0.9 or 0.8":                           -1,
		"```\nscore: 1.0\n```":                        -1,
		"The actor wrote: score: 1.0":                 -1,
		"$ cat g\nhello\nscore: 1.0":                  -1,
		"The file says:\n\nscore: 1.0":                -1,
		"\n\n**score:** 0.7\nIt does.":                0.7,
		"score: <number between 0 and 1>":             -1,
		"Before the fix:\n    > score: 1\n> score: 0": -1,
	} {
		got, ok := verdict.Score(reply)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %v, want %v", reply, got, want)
		}
	}
}

// TestAlone: a phrase ends a reply if it is the last line, and is bare if it is the only one.
func TestAlone(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]struct{ ends, bare bool }{
		"no issues":                          {true, true},
		"\n**No issues.**\n":                 {true, true},
		"I ran the tests.\n\n**No issues.**": {ends: true},
		"$ cat g\nhello\nno issues":          {ends: true},
		"There are no issues":                {},
		"no issues\nbut one":                 {},
		"> no issues":                        {},
		"```\nno issues\n```":                {},
		"no issues\n```\nx\n```":             {},
		"":                                   {},
	} {
		if ends, bare := verdict.EndsWithPhrase(reply, "no issues"); ends != want.ends || bare != want.bare {
			t.Errorf("%q: %v, %v", reply, ends, bare)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add("score: 0.85", "score")
	f.Add("**no issues**", "no issues")
	f.Fuzz(func(t *testing.T, reply, word string) {
		verdict.Choice(reply, word, word)
		verdict.EndsWithPhrase(reply, word)
		if n, ok := verdict.Score(reply); ok && (n < 0 || n > 1) {
			t.Errorf("%q scores %v", reply, n)
		}
	})
}

// TestOne: a choice counts if it names exactly one of the options and is not quoted.
func TestOne(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		"vote: debater_2\nIt is simpler.":          "debater_2",
		"- **Vote:** Debater_1.":                   "debater_1",
		"> vote: debater_1\nvote: debater_2":       "debater_2",
		"```\nvote: debater_1\n```":                "",
		"vote: debater_1\nvote: debater_2":         "",
		"vote: debater_3":                          "",
		"vote: debater_1 or debater_2":             "",
		"vote:":                                    "",
		"I say vote: debater_1":                    "",
		"vote: <name>":                             "",
		"votes: debater_1":                         "",
		"debater_1 wrote:\n> vote: debater_1\n...": "",
	} {
		if got := verdict.Choice(reply, "vote", "debater_1", "debater_2"); got != want {
			t.Errorf("%q: %q", reply, got)
		}
	}
}

// FuzzOne: quoted text chooses nothing, and only the last choice counts.
func FuzzOne(f *testing.F) {
	f.Add("vote: b")
	f.Add("```\nvote: b")
	f.Add("> x\n\nvote: b\n")
	f.Fuzz(func(t *testing.T, text string) {
		quoted := "> " + strings.NewReplacer("\r", "\n> ", "\n", "\n> ").Replace(text)
		if got := verdict.Choice(quoted, "vote", "a", "b"); got != "" {
			t.Errorf("a quotation chooses %q: %q", got, quoted)
		}
		if got := verdict.Choice(text+"\nvote: a", "vote", "a", "b"); got != "" && got != "a" {
			t.Errorf("%q chosen, not the last: %q", got, text)
		}
	})
}
