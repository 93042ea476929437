package eval

import (
	"fmt"
	"math"
)

// Enough is the least number of cases for a figure: with fewer, its interval says next to nothing.
const Enough = 10

// A Rate is a share of some cases, with the interval in which the true share lies in 95 of 100 such samples (E. B. Wilson,
// Probable Inference, 1927). With fewer than [Enough] cases there is none.
type Rate struct {
	K     int      `json:"k"`
	N     int      `json:"n"`
	Share *float64 `json:"share"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// Count adds a case.
func (r *Rate) Count(is bool) {
	r.N++
	if is {
		r.K++
	}
}

// Close sets the share, if there are enough cases.
func (r *Rate) Close() {
	if r.N >= Enough {
		low, high := Wilson(r.K, r.N)
		r.Share, r.Low, r.High = new(float64(r.K)/float64(r.N)), &low, &high
	}
}

// String is the rate for people.
func (r Rate) String() string {
	switch {
	case r.N == 0:
		return "none (n=0)"
	case r.Share == nil:
		return fmt.Sprintf("too few (%d of n=%d)", r.K, r.N)
	}
	return fmt.Sprintf("%.0f%% [%.0f–%.0f] n=%d", 100**r.Share, 100**r.Low, 100**r.High, r.N)
}

// Wilson returns the interval for k of n, at 95 %.
func Wilson(k, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.959963984540054
	p, size := float64(k)/float64(n), float64(n)
	middle := p + z*z/(2*size)
	reach := z * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	all := 1 + z*z/size
	return max(0, (middle-reach)/all), min(1, (middle+reach)/all)
}

// Paired is the chance of as uneven a split or a more uneven one, if two settings that differ in so many pairs were equally
// good: the exact sign test on the discordant pairs (Q. McNemar, 1947).
func Paired(onlyA, onlyB int) float64 {
	n := onlyA + onlyB
	if n == 0 {
		return 1
	}
	tail, term := 0.0, math.Pow(0.5, float64(n)) // of k = 0
	for k := 0; k <= min(onlyA, onlyB); k++ {
		if tail += term; k < n {
			term *= float64(n-k) / float64(k+1)
		}
	}
	return min(1, 2*tail)
}
