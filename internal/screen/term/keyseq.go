package term

import "unicode/utf8"

const escape = '\x1b'

// cutKey cuts the bytes that one key has sent off what was read: a character,
// or an escape sequence (ECMA-48, 5.4; the arrows of some terminals send ESC O
// and a letter). Any other Esc is one by itself. A key whose rest may be still to
// come is "".
func cutKey(sent string) (key, rest string) {
	n := 1
	switch {
	case sent == "":
		return "", ""
	case sent[0] != escape:
		if !utf8.FullRuneInString(sent) {
			return "", sent
		}
		_, n = utf8.DecodeRuneInString(sent)
	case len(sent) == 1:
		return "", sent
	case sent[1] == 'O':
		n = 3
	case sent[1] == '[':
		for n = 2; n < len(sent) && ' ' <= sent[n] && sent[n] <= '?'; n++ {
		}
		n++ // with the byte that ends it
	}
	if n > len(sent) {
		return "", sent
	}
	return sent[:n], sent[n:]
}
