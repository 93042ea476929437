package proc

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// capture reads from the file what is kept of it: never more than keep bytes,
// however long the file is.
func (o *stream) capture(keep int64) (Captured, error) {
	total, err := o.size()
	if err != nil {
		return Captured{}, fmt.Errorf("read the command's %s: %w", o.name, err)
	}
	c := Captured{Total: total, Omitted: total, File: o.path}
	if keep <= 0 || total == 0 {
		return c, nil
	}
	if total <= keep {
		c.Text, err = o.slice(0, total)
		c.Omitted = total - int64(len(c.Text))
		return c, err
	}
	head, err := o.slice(0, keep/2)
	if err != nil {
		return c, err
	}
	rest := keep - keep/2
	tail, err := o.slice(total-rest, rest)
	if err != nil {
		return c, err
	}
	head, tail = wholeEnd(head), wholeStart(tail)
	c.Omitted = total - int64(len(head)) - int64(len(tail))
	c.Text = slices.Concat(head, []byte(notice(c.Omitted)), tail)
	return c, nil
}

// notice is the line that stands for what is left out.
func notice(omitted int64) string { return fmt.Sprintf("\n[… %d bytes omitted …]\n", omitted) }

func (o *stream) slice(offset, length int64) ([]byte, error) {
	buf := make([]byte, length)
	n, err := o.readAt(buf, offset)
	if err != nil {
		return nil, fmt.Errorf("read the command's %s: %w", o.name, err)
	}
	return buf[:n], nil
}

// wholeEnd drops a character from b's end that is cut off.
func wholeEnd(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i:]; utf8.RuneStart(c[0]) {
			if !utf8.FullRune(c) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}

// wholeStart drops what is left of a character that b does not begin with.
func wholeStart(b []byte) []byte {
	rest := min(len(b), utf8.UTFMax-1)
	for i := range rest {
		if utf8.RuneStart(b[i]) {
			return b[i:]
		}
	}
	if rest == len(b) || utf8.RuneStart(b[rest]) {
		return b[rest:]
	}
	return b // no text
}
