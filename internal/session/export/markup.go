package export

import (
	"crypto/sha256"
	_ "embed" // the style
	"encoding/base64"
	"html"
	"strconv"

	"codeloops/internal/loop"
)

//go:embed style.css
var style ours

// A markup is an HTML page. Strings reach it only through say, which escapes them, between
// tags or in an attribute in double quotes. Should something slip through, the page's content
// security policy lets a browser load nothing at all and use no style but the page's own.
type markup struct{ sheet }

func (m *markup) say(said string) { m.buf.WriteString(html.EscapeString(said)) }

// in writes a string between tags.
func (m *markup) in(opening ours, said string, closing ours) {
	m.put(opening)
	m.say(said)
	m.put(closing)
}

func (m *markup) faint(said string) { m.in(`<p class="faint">`, said, "</p>") }

func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

func (m *markup) head(h head) {
	m.put(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
`)
	m.in(`<meta http-equiv="Content-Security-Policy" content="`, policy(), `">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<meta name="generator" content="codeloops">
`)
	m.in("<title>", h.Title, "</title>\n")
	m.put("<style>", style, "</style>\n</head>\n<body>\n<header>\n")
	m.in("<h1>", h.Title, "</h1>\n")
	m.in(`<p><span class="badge `+h.Class+`">`, h.Outcome, `</span> `)
	m.in(`<span class="faint">`, h.ID, "</span></p>\n")
	m.facts(h.Facts)
	m.put("</header>\n<section>\n<h2>Prompt</h2>\n")
	m.text(h.Prompt)
	m.put("</section>\n")
}

func (m *markup) facts(all []fact) {
	m.put("<dl>\n")
	for _, f := range all {
		m.put("<dt>", f.Name, "</dt>")
		m.in("<dd>", f.Value, "</dd>\n")
	}
	m.put("</dl>\n")
}

func (m *markup) text(t text) {
	switch {
	case t.Body == "":
	case t.Long:
		m.in(`<details><summary class="faint">`, t.Name+" ("+t.Size+")", "</summary>")
		m.in("<pre>", t.Body, "</pre></details>")
	default:
		if t.Name != "" {
			m.faint(t.Name)
		}
		m.in("<pre>", t.Body, "</pre>")
	}
	if t.Note != "" {
		m.faint(t.Note)
	}
	m.put("\n")
}

func (m *markup) notes(all []string) {
	for _, note := range all {
		m.in(`<p class="warn">`, note, "</p>\n")
	}
}

func (m *markup) turns(all []shownTurn) {
	for _, t := range all {
		m.in("<h3>", t.Role, "</h3>\n")
		m.faint(t.What)
		m.put("\n")
		m.notes(t.Notes)
		m.text(t.Reply)
	}
}

func (m *markup) alone(turns []shownTurn) {
	m.put("<section>\n")
	m.turns(turns)
	m.put("</section>\n")
}

func (m *markup) iteration(r round) {
	n := ours(strconv.Itoa(r.Number))
	m.put(`<section id="i`, n, `">
<div class="head"><h2>Iteration `, n, "</h2>")
	m.in(`<span class="badge `+r.Class+`">`, r.Decision, "</span>")
	m.in(`<span class="faint">`, r.Took, "</span></div>\n")
	m.turns(r.Turns)
	m.put("<h3>Actor</h3>\n")
	m.faint(r.Actor.What)
	m.put("\n")
	m.text(r.Actor.Words)
	m.text(r.Actor.Rest())
	m.notes(r.Notes)
	m.put("<h3>Changes</h3>\n")
	m.faint(r.Stat)
	m.put("\n")
	m.diff(r.Diff())
	m.checks(r.Checks)
	m.put("<h3>Critic</h3>\n")
	m.faint(r.Critic.What)
	m.put("\n")
	m.text(r.Critic.Rest())
	m.text(r.Critic.Words)
	m.put("</section>\n")
}

func (m *markup) checks(all []check) {
	if len(all) > 0 {
		m.put("<h3>Checks</h3>\n")
	}
	for _, c := range all {
		m.in(`<p><span class="`+c.Class+`">`, c.Result, "</span> ")
		m.in("<code>", c.Command, "</code> ")
		m.in(`<span class="faint">`, c.Took, "</span></p>\n")
		m.text(c.Output())
	}
}

func (m *markup) diff(d diff) {
	for _, f := range d.Files {
		m.put("<details")
		if f.Open {
			m.put(" open")
		}
		m.in("><summary><code>", f.Letter+" "+f.Path, "</code> ")
		m.in(`<span class="faint">`, f.Stat, "</span></summary>\n")
		if len(f.Runs) > 0 {
			m.put(`<pre class="diff">`)
			for _, r := range f.Runs {
				m.in(`<span class="`+r.Class+`">`, r.lines.String(), "</span>")
			}
			m.put("</pre>\n")
		}
		m.left(f.Note)
		m.put("</details>\n")
	}
	m.left(d.Note)
}

// left says what is left out of a diff.
func (m *markup) left(note string) {
	if note != "" {
		m.faint(note)
		m.put("\n")
	}
}

func (m *markup) unfinished(u unfinished) {
	m.put(`<section><div class="head"><h2>Iteration `, ours(strconv.Itoa(u.Number)), "</h2>")
	m.in(`<span class="badge warn">`, u.What, "</span></div>\n")
	m.turns(u.Turns)
	m.notes(u.Notes)
	m.put("</section>\n")
}

func (m *markup) resumed(r loop.Resumed) {
	m.put("<section>")
	m.faint(after(r))
	m.put("</section>\n")
}

func (m *markup) end(e end) {
	if d := e.Diff(); len(d.Files) > 0 {
		m.put("<section>\n<h2>Everything that changed</h2>\n")
		m.faint(e.Stat)
		m.put("\n")
		m.diff(d)
		m.put("</section>\n")
	}
	m.put("<section>\n")
	m.in(`<div class="head"><h2>End</h2><span class="badge `+e.Class+`">`, e.Outcome, "</span></div>\n")
	m.notes(e.Notes)
	m.facts(e.Facts)
	m.text(e.Summary)
	m.put("</section>\n")
	m.in("<footer>Written by codeloops ", e.Version, " from the log of session ")
	m.in("", e.ID, ". Values of secret variables read [redacted].</footer>\n</body>\n</html>\n")
}
