//go:build !race

package lines_test

// largeInput is the number of lines of a large input.
const largeInput = 1_200_000
