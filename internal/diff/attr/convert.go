package attr

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/repo"
)

// Settings are the parts of the configuration that bear on conversion.
type Settings struct {
	AutoCRLF bool // core.autocrlf: "input" is another value on the way out of the repository alone
	filters  map[string]filter
}

// A filter is what the configuration says of a filter driver.
type filter struct {
	clean, process string // commands
	required       bool
}

// SettingsOf reads the settings in c.
func SettingsOf(c *repo.Config) (s Settings, err error) {
	s.filters = make(map[string]filter)
	if mode, _ := c.String("core.autocrlf"); strings.EqualFold(mode, "input") {
		s.AutoCRLF = true
	} else if s.AutoCRLF, err = c.Bool("core.autocrlf", false); err != nil {
		return Settings{}, err
	}
	for _, e := range c.Entries() {
		name, ok := strings.CutPrefix(e.Key, "filter.")
		dot := strings.LastIndexByte(name, '.')
		if !ok || dot < 0 {
			continue
		}
		f := s.filters[name[:dot]]
		switch name[dot+1:] {
		case "clean":
			f.clean = e.Value
		case "process":
			f.process = e.Value
		case "required":
			if f.required, err = c.Bool(e.Key, false); err != nil {
				return Settings{}, fmt.Errorf("read filter %s: %w", name[:dot], err)
			}
		}
		s.filters[name[:dot]] = f
	}
	return s, nil
}

// A Conversion tells how git converts the files of a work tree.
type Conversion struct {
	*Reader
	Settings
}

// Alters reports whether the bytes of a file may not be those of its blob.
func (c Conversion) Alters(name string) bool {
	a := c.Of(name)
	return c.NeedsGit(a) || c.Converts(a)
}

// NeedsGit reports whether only git can convert a file with these attributes:
// ident, a filter with a command, another encoding. Of its commands, `git
// hash-object` converts as `git add` does, except one thing: it does not look
// at the index, and so does not spare CRLF line ends that are already there.
func (s Settings) NeedsGit(a Attrs) bool {
	utf8 := []string{"", "utf-8", "utf8"} // which git keeps text in
	if a[Ident].State == Set || a[Encoding].State == Valued && !slices.Contains(utf8, strings.ToLower(a[Encoding].Text)) {
		return true
	}
	f := s.filters[a[Filter].Text]
	return a[Filter].State == Valued && (f.clean != "" || f.process != "" || f.required)
}

// lineEnds weighs the attributes against core.autocrlf, by the sections "text"
// and "eol" of gitattributes(5): whether the line ends of a file are converted, and whether
// that is only if it looks like text.
func (s Settings) lineEnds(a Attrs) (converts, ifText bool) {
	for _, v := range []Value{a[text], a[crlf]} {
		switch {
		case v.State == Set, v.State == Valued && v.Text == "input":
			return true, false
		case v.State == Unset:
			return false, false
		case v.State == Valued && v.Text == "auto":
			return true, true
		}
	}
	if a[eol].State == Valued && (a[eol].Text == "lf" || a[eol].Text == "crlf") {
		return true, false
	}
	return s.AutoCRLF, true
}

// Converts reports whether Normalize may change the content of a file with
// these attributes. When neither Converts nor NeedsGit, the file's bytes are
// the blob's.
func (s Settings) Converts(a Attrs) bool {
	converts, _ := s.lineEnds(a)
	return converts
}

// Normalize returns content, read from the work tree, with its line ends as git
// stores them. The result may be content itself, which is not changed.
// indexHasCRLF is asked only when the answer counts: whether the blob that the
// index has for this path is text with CRLF line ends, see [HasCRLF]; false
// when there is none. Such a file keeps its line ends unless it is declared to
// be text.
func (s Settings) Normalize(content []byte, a Attrs, indexHasCRLF func() bool) []byte {
	crlf := []byte("\r\n")
	converts, ifText := s.lineEnds(a)
	if !converts || !bytes.Contains(content, crlf) || ifText && (binary(content) || indexHasCRLF()) {
		return content
	}
	return bytes.ReplaceAll(content, crlf, []byte("\n"))
}

// HasCRLF reports whether a blob is text with at least one CRLF line end.
func HasCRLF(blob []byte) bool {
	return bytes.Contains(blob, []byte("\r\n")) && !binary(blob)
}

// binary reports whether content does not look like text to git.
func binary(content []byte) bool {
	printable, odd := 0, 0
	for i, c := range content {
		switch {
		case c == 0, c == '\r' && (i+1 == len(content) || content[i+1] != '\n'):
			return true
		case c == '\r', c == '\n':
		case c == '\b', c == '\t', c == '\f', c == 0x1b, c >= ' ' && c != 0x7f:
			printable++
		default:
			odd++
		}
	}
	if bytes.HasSuffix(content, []byte{0x1a}) {
		odd-- // the end mark of old systems
	}
	return printable/128 < odd
}
