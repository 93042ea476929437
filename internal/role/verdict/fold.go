package verdict

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeloops/internal/wording"
)

// unicodeEscape matches a JSON escape such as \u0064.
var unicodeEscape = wording.Pattern(`\\u[0-9a-fA-F]{4}`)

// fold normalizes a text for comparison by appearance: in lower case, without invisible
// characters, with Latin letters in place of their look-alikes, and with the escapes of
// JSON resolved.
func fold(text string) string {
	text = unicodeEscape().ReplaceAllStringFunc(text, func(escape string) string {
		n, _ := strconv.ParseUint(escape[2:], 16, 16) // it is a number
		return string(rune(n))
	})
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			return unicode.ToLower(r)
		}
		alike := strings.IndexRune(lookAlikes, r)
		switch {
		case invisible(r), unicode.Is(unicode.Mn, r), strings.ContainsRune("\u115f\u1160\u3164\uffa0", r):
			return -1
		case alike >= 0:
			return rune(lookAlikes[alike+utf8.RuneLen(r)])
		case r >= 0xff01 && r <= 0xff5e: // full width
			return unicode.ToLower(r - 0xfee0)
		case r >= 0x1d400 && r <= 0x1d6a3: // letters of mathematics, alphabet after alphabet
			return 'a' + (r-0x1d400)%26
		case r >= 0x24b6 && r <= 0x24e9: // in circles
			return 'a' + (r-0x24b6)%26
		}
		return unicode.ToLower(r)
	}, text)
}

// lookAlikes are letters of other alphabets that look like Latin ones in most fonts, each
// followed by that one.
const lookAlikes = "АaВbЕeЅsІiЈjКkМmНhОoРpСcТtХxУyаaеeіiјjоoрpсcхxуyѕsһhԁdԛqԝwΑaΒbΕeΖzΗhΙiΚkΜmΝnΟoΡpΤtΥyΧxαaνvοoρpυuχxιiᴀaᴄcᴅdᴇeɪiᴊjᴋkᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢzⅾdⅽcⅰiⅮdⅭcⅠiıiſs"
