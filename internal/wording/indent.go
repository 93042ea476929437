package wording

// Indent returns how far a line is indented, in columns; a tab leads to the next one
// that is a multiple of four, as in Markdown.
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
