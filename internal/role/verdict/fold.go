package verdict

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fold normalizes a text for comparison by appearance: in lower case, without invisible
// characters, with Latin letters in place of their look-alikes, and with the escapes of
// JSON resolved.
func fold(text string) string {
	alike := lookAlikes()
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == '\\' {
			r, n = escaped(text[i:])
		}
		writeFolded(&b, r, alike)
		i += n
	}
	return b.String()
}

func writeFolded(b *strings.Builder, r rune, alike map[rune]byte) {
	if r < 0x80 {
		b.WriteByte(byte(unicode.ToLower(r)))
		return
	}
	if invisible(r) || unicode.Is(unicode.Mn, r) || strings.ContainsRune("\u115f\u1160\u3164\uffa0", r) {
		return
	}
	if c, ok := alike[r]; ok {
		b.WriteByte(c)
		return
	}
	switch {
	case r >= 0xff01 && r <= 0xff5e: // full width
		b.WriteByte(byte(unicode.ToLower(r - 0xfee0)))
	case r >= 0x1d400 && r <= 0x1d6a3: // letters of mathematics, alphabet after alphabet
		b.WriteByte('a' + byte((r-0x1d400)%26))
	case r >= 0x24b6 && r <= 0x24e9: // in circles
		b.WriteByte('a' + byte((r-0x24b6)%26))
	default:
		b.WriteRune(unicode.ToLower(r))
	}
}

// escaped reads a JSON escape such as \u0064, or else the backslash as such.
func escaped(text string) (r rune, length int) {
	const whole = len(`\u0064`)
	if len(text) >= whole && text[1] == 'u' {
		if n, err := strconv.ParseUint(text[2:whole], 16, 16); err == nil {
			return rune(n), whole
		}
	}
	return '\\', 1
}

// lookAlikes returns the letters of other alphabets that look like Latin ones in most
// fonts.
func lookAlikes() map[rune]byte {
	const (
		foreign = "АВЕЅІЈКМНОРСТХУаеіјорсхуѕһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυχιᴀᴄᴅᴇɪᴊᴋᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢⅾⅽⅰⅮⅭⅠıſ"
		latin   = "abesijkmhopctxyaeijopcxyshdqwabezhikmnoptyxavopuxiacdeijkmnoprstuvwyzdcidciis"
	)
	alike := map[rune]byte{}
	at := 0
	for _, r := range foreign {
		alike[r] = latin[at]
		at++
	}
	return alike
}
