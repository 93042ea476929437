package wording

// Indent returns the indentation of a line in columns; tab stops are four columns apart, as in
// Markdown.
func Indent(line string) (columns int) {
	for i := range len(line) {
		switch line[i] {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		default:
			return columns
		}
	}
	return columns
}
