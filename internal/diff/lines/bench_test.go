package lines_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"codeloops/internal/diff/lines"
)

func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{300, 10_000, 100_000, 1_200_000} {
		before := document(n)
		for _, c := range []struct {
			name  string
			after string
		}{
			{"one line changed", editEvery(before, n/2+1)},
			{"each 20th changed", editEvery(before, 20)},
			{"shuffled", shuffle(before)},
			{"unrelated", editEvery(before, 1)},
			{"added", ""},
		} {
			b.Run(fmt.Sprintf("%d lines, %s", n, c.name), func(b *testing.B) {
				x, y := []byte(before), []byte(c.after)
				b.SetBytes(int64(len(x) + len(y)))
				b.ReportAllocs()
				for b.Loop() {
					lines.Append(nil, x, y)
				}
			})
		}
	}
}

// document returns a text in which a third of the lines are repeated.
func document(count int) string {
	var b strings.Builder
	for i := range count {
		switch i % 6 {
		case 0:
			b.WriteString("\n")
		case 1:
			b.WriteString("}\n")
		default:
			fmt.Fprintf(&b, "\tline number %d does something\n", i)
		}
	}
	return b.String()
}

func editEvery(text string, n int) string {
	all := strings.SplitAfter(text, "\n")
	for i := n - 1; i < len(all); i += n {
		all[i] = fmt.Sprintf("changed %d\n", i)
	}
	return strings.Join(all, "")
}

func shuffle(text string) string {
	all := strings.SplitAfter(text, "\n")
	r := rand.New(rand.NewPCG(5, 6))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return strings.Join(all, "")
}
