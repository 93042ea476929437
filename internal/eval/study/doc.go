// Package study measures what the parts of codeloops buy: recorded changes with known faults go through the whole loop,
// with critics that notice a fault with a set probability for each place of their prompt that shows it.
package study
