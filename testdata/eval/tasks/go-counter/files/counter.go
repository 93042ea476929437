package work

// A Counter counts words.
type Counter struct{ n map[string]int }

// Add counts a word.
func (c *Counter) Add(word string) {
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[word]++
}

// Snapshot returns the counts.
func (c *Counter) Snapshot() map[string]int { return c.n }
