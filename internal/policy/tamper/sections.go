package tamper

import (
	"path"
	"strings"
)

// A section is the part of a configuration file that a line is in.
type section struct {
	name  string // "" is none
	fresh bool   // it was added
}

// sections returns the section of each line of a file: by its header, the braces around
// it or the name of a plugin, depending on the format.
func (d *detector) sections(f *file) map[*line]section {
	all := map[*line]section{}
	var old, now sectioner
	switch path.Ext(f.Path) {
	case ".toml", ".cfg", ".ini":
		old, now = &headed{}, &headed{}
	case ".xml":
		old, now = &plugins{}, &plugins{}
	default:
		braces := d.of("x.js")
		old, now = &braced{language: braces}, &braced{language: braces}
	}
	for l := range f.all() {
		if l.op != '+' {
			all[l] = old.step(l)
		}
		if l.op != '-' {
			all[l] = now.step(l)
		}
	}
	return all
}

// A sectioner goes down one side of a file.
type sectioner interface {
	// step reads a line and returns the section that it is in.
	step(l *line) section
}

// headed is a file with headers such as [tool.pytest].
type headed struct{ now section }

func (h *headed) step(l *line) section {
	text := strings.TrimSpace(l.text)
	if name, rest, ok := strings.Cut(strings.TrimLeft(text, "["), "]"); ok && strings.HasPrefix(text, "[") {
		rest = strings.TrimSpace(strings.TrimLeft(rest, "]"))
		if rest == "" || rest[0] == '#' || rest[0] == ';' {
			h.now = section{strings.ReplaceAll(strings.TrimSpace(name), `"`, ""), l.op == '+'}
			return section{} // the header itself is in no section
		}
	}
	return h.now
}

// plugins is a Maven project, in which a plugin's name may be anywhere in its element.
type plugins struct{ now section }

func (p *plugins) step(l *line) section {
	if strings.Contains(l.text, "<plugin>") {
		p.now = section{fresh: l.op == '+'}
	}
	if _, rest, ok := strings.Cut(l.text, "<artifactId>"); ok && p.now.name == "" {
		p.now.name, _, _ = strings.Cut(rest, "<")
	}
	in := p.now
	if strings.Contains(l.text, "</plugin>") {
		p.now = section{}
	}
	return in
}

// braced is JSON, a program or a Gradle build: the text before an open brace names the
// section.
type braced struct {
	*language
	open *span
	in   []section // the sections around a place, the innermost last
}

func (b *braced) step(l *line) section {
	var x parts
	x, b.open = b.split(l.text, b.open)
	in := b.innermost()
	from := 0
	for i := range min(len(x.bare), len(x.code)) {
		switch x.bare[i] {
		case '{', '[':
			b.enter(section{label(x.code[from:i]), l.op == '+'})
			from = i + 1
		case '}', ']':
			b.in = b.in[:max(0, len(b.in)-1)]
			from = i + 1
		case ',', ';':
			from = i + 1
		}
		if deeper := b.innermost(); len(deeper.name) > len(in.name) {
			in = deeper // {"jest": {"testMatch": []}} on one line
		}
	}
	return in
}

// enter begins a section, whose name is added to those around it unless they are absurdly long.
func (b *braced) enter(s section) {
	const most = 1 << 10
	around := b.innermost()
	if s.name == "" || len(around.name) > most {
		s.name = around.name
	} else if around.name != "" {
		s.name = around.name + "." + s.name
	}
	s.fresh = s.fresh || around.fresh
	b.in = append(b.in, s)
}

func (b *braced) innermost() section {
	if len(b.in) == 0 {
		return section{}
	}
	return b.in[len(b.in)-1]
}

// label returns the name before a brace.
func label(text string) string {
	return strings.Trim(strings.TrimSpace(strings.TrimRight(strings.TrimSpace(text), ":=(> ")), `"'`)
}
