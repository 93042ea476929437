package lines_test

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"codeloops/internal/diff/lines"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	long := "ünïcode " + strings.Repeat("ü", 50)
	for _, c := range []struct {
		name, before, after, want string
		insertions, deletions     int
	}{
		{name: "both empty"},
		{name: "equal", before: "a\nb", after: "a\nb"},
		{
			name: "created", after: "a\nb\n",
			want: "@@ -0,0 +1,2 @@\n+a\n+b\n", insertions: 2,
		},
		{
			name: "emptied", before: "a",
			want: "@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n", deletions: 1,
		},
		{
			name: "newline added", before: "a\nb", after: "a\nb\n",
			want:       "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
			insertions: 1, deletions: 1,
		},
		{
			name: "no newline in the context", before: "a\nb", after: "b",
			want: "@@ -1,2 +1 @@\n-a\n b\n\\ No newline at end of file\n", deletions: 1,
		},
		{
			name: "gap of six lines", before: "a\n1\n2\n3\n4\n5\n6\nb\n", after: "1\n2\n3\n4\n5\n6\n",
			want: "@@ -1,8 +1,6 @@\n-a\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n", deletions: 2,
		},
		{
			name: "gap of seven lines", before: "a\n1\n2\n3\n4\n5\n6\n7\nb\n", after: "1\n2\n3\n4\n5\n6\n7\n",
			want:      "@@ -1,4 +1,3 @@\n-a\n 1\n 2\n 3\n@@ -6,4 +5,3 @@ a\n 5\n 6\n 7\n-b\n",
			deletions: 2,
		},
		{
			name: "carriage returns", before: "a\r\nb\r\n", after: "a\r\nb\n",
			want:       "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+b\n",
			insertions: 1, deletions: 1,
		},
		{
			// The limit of 80 bytes is in the middle of a character.
			name: "long function line", before: "x" + long + "\n 1\n 2\n 3\n 4\n", after: "x" + long + "\n 1\n 2\n 3\n",
			want: "@@ -2,4 +2,3 @@ x" + long[:78] + "\n  1\n  2\n  3\n- 4\n", deletions: 1,
		},
		{
			// The second of the two equal closing lines is the new one.
			name:   "slides to the end of a block",
			before: "func a() {\n\tone()\n}\n",
			after:  "func a() {\n\tone()\n}\n\nfunc b() {\n\ttwo()\n}\n",
			want:   "@@ -1,3 +1,7 @@\n func a() {\n \tone()\n }\n+\n+func b() {\n+\ttwo()\n+}\n", insertions: 4,
		},
		{
			name:   "slides above a block",
			before: "for a {\n\tb()\n}\nfor c {\n\td()\n}\n",
			after:  "for a {\n\tb()\n}\nfor e {\n\tb()\n}\nfor c {\n\td()\n}\n",
			want:   "@@ -1,6 +1,9 @@\n for a {\n \tb()\n }\n+for e {\n+\tb()\n+}\n for c {\n \td()\n }\n", insertions: 3,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text, insertions, deletions := lines.Append([]byte("kept\n"), []byte(c.before), []byte(c.after))
			if got := string(text); got != "kept\n"+c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
			if insertions != c.insertions || deletions != c.deletions {
				t.Errorf("%d insertions, %d deletions; want %d, %d", insertions, deletions, c.insertions, c.deletions)
			}
		})
	}
}

// TestRandomEdits: applying the hunks between random texts, in both directions,
// reproduces the texts.
func TestRandomEdits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		before, after := randomText(r), randomText(r)
		if r.IntN(2) == 0 {
			at := r.IntN(len(before) + 1)
			after = before[:at] + after + before[min(at+r.IntN(20), len(before)):]
		}
		check(t, []byte(before), []byte(after))
	}
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	vocabulary := 1 + r.IntN(20)
	for range r.IntN(60) {
		b.WriteString(strings.Repeat(" ", r.IntN(4)))
		b.WriteString(strings.Repeat("x", r.IntN(vocabulary)))
		b.WriteByte('\n')
	}
	return b.String()
}

// check applies the hunks between two contents forwards and backwards.
func check(t *testing.T, before, after []byte) {
	t.Helper()
	hunks, insertions, deletions := lines.Append(nil, before, after)
	got, err := applyHunks(before, hunks)
	if err != nil || !bytes.Equal(got, after) {
		t.Fatalf("hunks do not make %.200q of %.200q (%v):\n%.2000s", after, before, err, hunks)
	}
	got, err = applyHunks(after, reverseHunks(hunks))
	if err != nil || !bytes.Equal(got, before) {
		t.Fatalf("hunks do not make %.200q of %.200q again (%v):\n%.2000s", before, after, err, hunks)
	}
	gotInsertions, gotDeletions := count(hunks)
	if insertions != gotInsertions || deletions != gotDeletions {
		t.Fatalf("counted %d insertions, %d deletions; the text has %d, %d", insertions, deletions, gotInsertions, gotDeletions)
	}
}

func count(hunks []byte) (insertions, deletions int) {
	for line := range bytes.Lines(hunks) {
		switch line[0] {
		case '+':
			insertions++
		case '-':
			deletions++
		}
	}
	return insertions, deletions
}

// TestLargeInput: the differ handles input on which a naive one takes forever, within a
// generous time limit.
func TestLargeInput(t *testing.T) {
	t.Parallel()
	distinct, others := numbered('a', largeInput), numbered('b', largeInput)
	blanks := bytes.Repeat([]byte("\n"), largeInput)
	line := bytes.Repeat([]byte("0123456789"), 5*largeInput)
	for _, c := range []struct {
		name                  string
		before, after         []byte
		insertions, deletions int
	}{
		{"distinct lines", distinct, others, largeInput, largeInput},
		{"distinct lines, first gone", distinct, distinct[3:], 0, 1},
		{"equal lines", blanks, blanks[1000:], 0, 1000},
		{"equal lines, some left", blanks, []byte("x\n\n\ny\n"), 2, largeInput - 2},
		{"one line", line, line[1:], 1, 1},
	} {
		start := time.Now()
		_, insertions, deletions := lines.Append(nil, c.before, c.after)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s took %s", c.name, took)
		}
		if insertions != c.insertions || deletions != c.deletions {
			t.Errorf("%s: %d insertions, %d deletions; want %d, %d",
				c.name, insertions, deletions, c.insertions, c.deletions)
		}
	}
}

func numbered(letter byte, n int) []byte {
	var text []byte
	for i := range n {
		text = append(text, letter)
		text = strconv.AppendInt(text, int64(i), 10)
		text = append(text, '\n')
	}
	return text
}

// TestShuffled: the hunks are correct for texts so large that the differ gives up its
// search.
func TestShuffled(t *testing.T) {
	t.Parallel()
	text := document(20_000)
	check(t, []byte(text), []byte(shuffle(text)))
}

func FuzzAppend(f *testing.F) {
	for _, c := range [][2]string{
		{"", ""},
		{"a", "a\n"},
		{"a\n\nb\n\nc\n", "a\n\nc\n"},
		{"x\nx\nx\ny\nx\n", "x\ny\nx\nx\n"},
		{"\x00\n\xff\r\n", "\r\n\xff"},
		{strings.Repeat("}\n", 40), strings.Repeat("}\n\n", 30)},
	} {
		f.Add([]byte(c[0]), []byte(c[1]))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		check(t, before, after)
	})
}
