//go:build !race

package lines_test

// largeInput is how many lines make a large input.
const largeInput = 1_200_000
