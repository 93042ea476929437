//go:build race

package lines_test

// largeInput is the number of lines of a large input. The race detector slows the
// comparison down tenfold.
const largeInput = 120_000
