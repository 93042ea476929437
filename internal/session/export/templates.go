package export

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the templates
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"
	plain "text/template"

	"codeloops/internal/loop"
	"codeloops/internal/screen/term"
)

//go:embed style.css
var style string

//go:embed page.html.tmpl
var htmlText string

//go:embed page.md.tmpl
var markdownText string

// A layout shows parts of a session.
type layout interface {
	ExecuteTemplate(w io.Writer, name string, data any) error
}

// Should something slip through the quoting of html/template, the page's content security policy lets a browser load
// nothing at all and use no style but the page's own.
var htmlLayout = sync.OnceValue(func() layout { //nolint:gochecknoglobals // parsed once
	sum := sha256.Sum256([]byte(style))
	return template.Must(template.New("").Funcs(template.FuncMap{
		"style":  func() template.CSS { return template.CSS(style) }, //nolint:gosec // it is ours
		"policy": func() string { return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'" },
	}).Parse(htmlText))
})

// markdownLayout is the description of a pull request, without the diff, which is shown beside it. All that agents wrote
// is in code that it cannot end.
var markdownLayout = sync.OnceValue(func() layout { //nolint:gochecknoglobals // parsed once
	return plain.Must(plain.New("").Funcs(plain.FuncMap{"code": code, "fence": fence, "known": known}).Parse(markdownText))
})

// show writes a part of the page.
func (p *page) show(part string, data any) {
	if p.err != nil {
		return
	}
	if inside, is := map[string]string{"head": "intro", "end": "ending"}[part]; is && p.live {
		part = inside
	}
	if s, _ := data.(section); p.opts.Iteration > 0 && (part != "iteration" || s.Number != p.opts.Iteration) {
		return
	}
	var b bytes.Buffer
	if p.err = p.ExecuteTemplate(&b, part, data); p.err != nil {
		return
	}
	if p.raw && p.opts.Screen.ASCII && !p.opts.Full { // which quotes texts as they are
		b = *bytes.NewBufferString(term.ASCII(b.String()))
	}
	_, p.err = b.WriteTo(p.out)
}

// fence is the delimiter of a code block that nothing in it can end.
func fence(body string) string { return strings.Repeat("`", max(3, longestRun(body)+1)) }

// longestRun returns the length of the longest run of backticks.
func longestRun(text string) (longest int) {
	for run := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '`' }) {
		longest = max(longest, len(run))
	}
	return longest
}

// code returns a line as a code span, which nothing in it can end (see CommonMark, code
// spans).
func code(said string) string {
	said = line(said)
	if said == "" {
		return ""
	}
	if !strings.Contains(said, "`") {
		return "`" + said + "`"
	}
	marks := strings.Repeat("`", longestRun(said)+1)
	return marks + " " + said + " " + marks
}

// known returns a decision for use outside of code.
func known(decision string) string {
	switch loop.Decision(decision) {
	case loop.Done, loop.Continue, loop.Error, loop.Escalate:
		return decision
	}
	return "?"
}
