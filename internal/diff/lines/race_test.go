//go:build race

package lines_test

// largeInput is how many lines make a large input. The race detector makes the
// comparison ten times slower.
const largeInput = 120_000
