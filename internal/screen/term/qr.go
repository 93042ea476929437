package term

import (
	"io"
	"strings"

	"rsc.io/qr"
)

// QR prints a text as a QR code, two modules on top of each other in a character. Light is painted, as most terminals are dark.
func QR(w io.Writer, text string) error {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return err
	}
	const quiet = 2 // modules of light around it
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		for x := -quiet; x < code.Size+quiet; x++ {
			b.WriteString(map[[2]bool]string{{false, false}: "█", {false, true}: "▀", {true, false}: "▄", {true, true}: " "}[[2]bool{code.Black(x, y), code.Black(x, y+1)}])
		}
		b.WriteByte('\n')
	}
	_, err = io.WriteString(w, b.String())
	return err
}
