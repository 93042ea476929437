package session

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"codeloops/internal/loop"
	"codeloops/internal/loop/progress"
)

func TestTotals(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 100 {
		var sum progress.Tally
		for _, part := range reflect.ValueOf(&sum).Elem().Fields() {
			if part.CanSet() {
				randomize(rnd, part)
			}
		}
		sum.Iterations = 0 // the outcome's
		sum.Actor.Usage.CostUSD, sum.Critic.Usage.CostUSD = rnd.Float64(), rnd.Float64()
		sum.Spent.Actor.CostUSD, sum.Spent.Critic.CostUSD, sum.Spent.Others.CostUSD = rnd.Float64(), rnd.Float64(), rnd.Float64()
		got, err := decode(Entry{At: stamped(1), Event: loop.Finished{}, Totals: &sum}.line())
		if err != nil || got.Totals == nil || !reflect.DeepEqual(*got.Totals, sum) {
			t.Fatalf("%v\n got %+v\nwant %+v", err, got.Totals, sum)
		}
	}
	if got, err := decode(Encode(stamped(1), loop.Finished{})); err != nil || got.Totals != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func BenchmarkCodec(b *testing.B) {
	e := firstRound()
	text := strings.Repeat("+\tif err := some.Call(\"of a function\"); err != nil { // é\n", 20_000)
	e.Change.Files[0].Patch, e.Attempt.Stdout.Text = text, text
	line := Encode(stamped(1), loop.IterationFinished{Round: e})
	b.Run("decode", func(b *testing.B) {
		b.SetBytes(int64(len(line)))
		for b.Loop() {
			if _, err := decode(line); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.SetBytes(int64(len(line)))
		for b.Loop() {
			Encode(stamped(1), loop.IterationFinished{Round: e})
		}
	})
}
