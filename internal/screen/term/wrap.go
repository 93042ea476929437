package term

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// hyphen stands for one: [ansi.Wrap] breaks lines behind hyphens, and commands and IDs are copied.
const hyphen = "\ue02d"

// Wrap breaks a text into lines of a width, between words, and within those that are longer.
func Wrap(text string, width int) string {
	return strings.ReplaceAll(ansi.Wrap(strings.ReplaceAll(text, "-", hyphen), width, ""), hyphen, "-")
}
