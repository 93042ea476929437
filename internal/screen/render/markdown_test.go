package render

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
)

var plainly = lipgloss.NewRenderer(io.Discard)

const markdown = `# What is *missing* ##
1. the **password** has no ` + "`**minimum**`" + `, see [the rules](https://example.com/rules "title") and [https://a.b](https://a.b)
   - nested, with a rather long text that has to be broken
> quoted words of somebody else, which are long as well
> > and [within](x)
` + "~~~go" + `
if a < b {
	return "` + "```" + ` **not bold** [no](link)"
~~~
![a picture](pic.png) 2 ** 3 ** 4 and [left](alone [x]
- [ ] a box that is not ticked, with much to say about it`

// TestProse: the Markdown that agents write, laid out.
func TestProse(t *testing.T) {
	t.Parallel()
	plain := strings.Join(newStyles(plainly).prose(markdown, Whole), "\n")
	const want = `What is *missing*
1. the password has no ` + "`**minimum**`" + `, see the rules (https://example.com/rules) and https://a.b
   - nested, with a rather long text that has to be broken
> quoted words of somebody else, which are long as well
> > and within (x)
~~~go
if a < b {
    return "` + "```" + ` **not bold** [no](link)"
~~~
a picture (pic.png) 2 ** 3 ** 4 and [left](alone [x]
- [ ] a box that is not ticked, with much to say about it`
	if plain != want {
		t.Errorf("got\n%s", plain)
	}
	narrow := strings.Join(newStyles(plainly).prose(markdown, 40), "\n")
	for _, want := range []string{
		"   - nested, with a rather long text\n     that has to be broken\n",
		"> quoted words of somebody else, which\n> are long as well\n",
		"- [ ] a box that is not ticked, with\n      much to say about it",
	} {
		if !strings.Contains(narrow, want) {
			t.Errorf("no %q in\n%s", want, narrow)
		}
	}
}

// TestProseStyled: each line ends the styles that it begins, and has the same text as without
// styles.
func TestProseStyled(t *testing.T) {
	t.Parallel()
	r := lipgloss.NewRenderer(&bytes.Buffer{})
	r.SetColorProfile(termenv.ANSI)
	text := markdown + "\n**" + strings.Repeat("bold ", 40) + "end** `" + strings.Repeat("code ", 40) + "`"
	styled, plain := newStyles(r).prose(text, 40), newStyles(plainly).prose(text, 40)
	for i, line := range styled {
		all := styling().FindAllString(line, -1)
		if len(all) > 0 && all[len(all)-1] != "\x1b[0m" {
			t.Errorf("a style is not ended after %q", line)
		}
		if ansi.StringWidth(line) > 40 || ansi.Strip(line) != plain[i] {
			t.Errorf("%q, plain %q", line, plain[i])
		}
	}
	if all := strings.Join(styled, "\n"); !strings.Contains(all, "\x1b[1mpassword\x1b[0m") || !strings.Contains(all, "\x1b[36m`**minimum**`") {
		t.Errorf("%q", all)
	}
}

// FuzzProse: no text contains control sequences, and no line is too wide.
func FuzzProse(f *testing.F) {
	f.Add(markdown)
	f.Add("> > >\n```\n`` ` **a\x1b[2J** [a](b)\n#")
	f.Add("漢字 **漢字漢字漢字漢字漢字漢字** `x` \u202e")
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range newStyles(plainly).prose(text, 40) {
			if strings.ContainsAny(line, "\x1b\r\n") {
				t.Errorf("%q", line)
			}
		}
	})
}
