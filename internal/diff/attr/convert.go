package attr

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"codeloops/internal/repo"
)

// Settings are the parts of the configuration that affect conversion.
type Settings struct {
	AutoCRLF bool // core.autocrlf is true or "input", which differ only on checkout
	filters  map[string]filter
}

// A filter is the configuration of a filter driver.
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

// Alters reports whether a file may differ from its blob.
func (c Conversion) Alters(name string) bool {
	a := c.Of(name)
	return c.NeedsGit(a) || c.Converts(a)
}

// NeedsGit reports whether only git can convert a file with these attributes: ident, a filter with
// a command, or another encoding. `git hash-object` converts like `git add`, except that it
// does not look at the index, and so does not preserve CRLF line ends that are already there.
func (s Settings) NeedsGit(a Attrs) bool {
	utf8 := []string{"", "utf-8", "utf8"} // need no conversion
	if a[Ident].State == Set || a[Encoding].State == Valued && !slices.Contains(utf8, strings.ToLower(a[Encoding].Text)) {
		return true
	}
	f := s.filters[a[Filter].Text]
	return a[Filter].State == Valued && (f.clean != "" || f.process != "" || f.required)
}

// lineEnds reports whether line ends are converted, and whether only if the file looks like text, by
// the sections "text" and "eol" of gitattributes(5).
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

// Converts reports whether Normalize may change a file with these attributes. If neither Converts
// nor NeedsGit, the file is the same as its blob.
func (s Settings) Converts(a Attrs) bool {
	converts, _ := s.lineEnds(a)
	return converts
}

// Normalize returns a content with its line ends as git stores them, or content itself. It does not
// modify content. IndexHasCRLF, which is called only if needed, reports whether the blob in the
// index is text with CRLF line ends, see [HasCRLF]. Such a file keeps its line ends unless its
// attributes say that it is text.
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

// binary reports whether git takes content for binary.
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
		odd-- // the end-of-file mark of DOS
	}
	return printable/128 < odd
}
