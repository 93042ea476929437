package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"codeloops/internal/screen/term/termtest"
)

// recording is the picture in the README. `make recording` records it again.
const recording = "../../docs/demo.svg"

// TestRecording plays the demonstration on a terminal and draws its screen. With RECORDING set it
// saves the picture.
func TestRecording(t *testing.T) {
	t.Parallel()
	canvas := &canvas{}
	film := canvas.film(t, "demo", "--quick")
	last := film.text()
	for _, want := range []string{"Iteration 1", "CONTINUE", "Iteration 2", "Done after 2 iterations"} {
		if !strings.Contains(last, want) {
			t.Errorf("%q is not on the screen in the end:\n%s", want, last)
		}
	}
	picture := film.svg("codeloops demo")
	if os.Getenv("RECORDING") != "" {
		if err := os.WriteFile(recording, []byte(picture), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, of := range map[string]string{"the new one": picture, recording: text(t, recording)} {
		if len(of) > 64<<10 {
			t.Errorf("%s has %d bytes", name, len(of))
		}
		for d := xml.NewDecoder(strings.NewReader(of)); ; {
			_, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if strings.Contains(of, "<script") || strings.Contains(of, "href") {
			t.Errorf("%s is more than text", name)
		}
	}
}

// A cell is a character with its style.
type cell struct{ text, look string }

// A canvas emulates a terminal as far as the demonstration needs one; it has no last row.
type canvas struct {
	rows     [][]cell
	row, col int
	look     string
}

// A shot is the content of a row over a period of time.
type shot struct {
	row        int
	cells      []cell
	from, till float64 // seconds; till 0: to the end
}

// A film is everything that a terminal showed.
type film struct {
	shots []shot
	ends  float64
}

// film starts codeloops and records its screen.
func (c *canvas) film(t *testing.T, args ...string) *film {
	t.Helper()
	main, name := termtest.Open(t)
	screen, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{
		playCodeloops + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "TERM=xterm-256color", "TZ=UTC", "TMPDIR=" + cmd.Dir,
		"CODELOOPS_SESSION_DIR=" + cmd.Dir + "/sessions", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GORACE=atexit_sleep_ms=0",
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := errors.Join(cmd.Start(), screen.Close()); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(liveness, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	f := &film{}
	var shown strings.Builder
	began := time.Now()
	for buffer := make([]byte, 4096); ; {
		n, err := main.Read(buffer)
		shown.Write(buffer[:n])
		whole := shown.String()
		for len(whole) > 0 && strings.ToValidUTF8(whole, "") != whole && len(shown.String())-len(whole) < 4 {
			whole = whole[:len(whole)-1] // the rest of a character comes later
		}
		rest := c.print(whole)
		left := rest + shown.String()[len(whole):]
		shown.Reset()
		shown.WriteString(left)
		f.take(c, time.Since(began).Seconds())
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	private := strings.NewReplacer(cmd.Dir+"/sessions", "~/.local/share/codeloops/sessions", cmd.Dir, "/tmp")
	for i := range f.shots {
		f.shots[i].cells = replaced(f.shots[i].cells, private)
	}
	return f
}

// print writes a text to the canvas, and returns an incomplete sequence at its end.
func (c *canvas) print(text string) (rest string) {
	for len(text) > 0 {
		seq, width, n, state := ansi.DecodeSequence(text, ansi.NormalState, nil)
		if state != ansi.NormalState {
			return text
		}
		text = text[n:]
		switch {
		case width > 0:
			c.put(seq)
		case seq == "\r":
			c.col = 0
		case seq == "\n":
			c.row++
		case seq == "\b":
			c.col = max(0, c.col-1)
		case strings.HasPrefix(seq, "\x1b[") && !strings.HasPrefix(seq, "\x1b[?"):
			c.control(seq[2:len(seq)-1], seq[len(seq)-1])
		}
	}
	return ""
}

// at makes sure that the cursor's row exists.
func (c *canvas) at() *[]cell {
	for len(c.rows) <= c.row {
		c.rows = append(c.rows, nil)
	}
	return &c.rows[c.row]
}

func (c *canvas) put(text string) {
	row := c.at()
	for len(*row) <= c.col {
		*row = append(*row, cell{text: " "})
	}
	(*row)[c.col] = cell{text, c.look}
	c.col++
}

// control executes a control sequence that moves, erases or colours.
func (c *canvas) control(parameters string, final byte) {
	n, err := strconv.Atoi(parameters)
	if err != nil || n == 0 {
		n = 1
	}
	switch final {
	case 'A':
		c.row = max(0, c.row-n)
	case 'B':
		c.row += n
	case 'C':
		c.col += n
	case 'D':
		c.col = max(0, c.col-n)
	case 'G':
		c.col = n - 1
	case 'J':
		row := c.at()
		*row = (*row)[:min(c.col, len(*row))]
		c.rows = c.rows[:c.row+1]
	case 'K':
		if row := c.at(); parameters == "2" {
			*row = nil
		} else {
			*row = (*row)[:min(c.col, len(*row))]
		}
	case 'm':
		c.look = look(c.look, parameters)
	}
}

// look returns the style after a sequence, as classes of the picture's style sheet: b for bold, f
// for faint, c with a digit for a colour.
func look(was, parameters string) string {
	bold, faint, colour := strings.Contains(was, "b"), strings.Contains(was, "f"), ""
	if i := strings.IndexByte(was, 'c'); i >= 0 {
		colour = was[i:]
	}
	for p := range strings.SplitSeq(parameters, ";") {
		switch n, _ := strconv.Atoi(p); n / 10 {
		case 0, 2: // 0 is plain, 1 bold, 2 faint, 22 neither
			bold, faint = n == 1 || n == 2 && bold, n == 2 || n == 1 && faint
			if n == 0 {
				colour = ""
			}
		case 3, 9:
			colour = ""
			if n%10 < 8 {
				colour = "c" + strconv.Itoa(n%10)
			}
		}
	}
	classes := []string{colour}
	if faint {
		classes = append([]string{"f"}, classes...)
	}
	if bold {
		classes = append([]string{"b"}, classes...)
	}
	return strings.TrimSpace(strings.Join(classes, " "))
}

// take records what has changed since the last picture.
func (f *film) take(c *canvas, now float64) {
	f.ends = now
	for row := range max(len(c.rows), f.height()) {
		var cells []cell
		if row < len(c.rows) {
			cells = c.rows[row]
		}
		open := -1
		for i := range f.shots {
			if f.shots[i].row == row && f.shots[i].till == 0 {
				open = i
			}
		}
		if open >= 0 && plainText(f.shots[open].cells) == plainText(cells) {
			continue
		}
		if open >= 0 {
			f.shots[open].till = now
		}
		if plainText(cells) != "" {
			f.shots = append(f.shots, shot{row: row, cells: append([]cell{}, cells...), from: now})
		}
	}
}

func (f *film) height() (rows int) {
	for _, s := range f.shots {
		rows = max(rows, s.row+1)
	}
	return rows
}

// text returns the final text of the screen.
func (f *film) text() string {
	rows := make([]string, f.height())
	for _, s := range f.shots {
		if s.till == 0 {
			rows[s.row] = plainText(s.cells)
		}
	}
	return strings.Join(rows, "\n")
}

func plainText(cells []cell) string {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString(c.text)
	}
	return strings.TrimRight(b.String(), " ")
}

// replaced replaces words in a row if they have a single style.
func replaced(cells []cell, by *strings.Replacer) (all []cell) {
	for _, run := range runs(cells) {
		for _, r := range by.Replace(run.text) {
			all = append(all, cell{string(r), run.look})
		}
	}
	return all
}

// runs joins neighbouring cells of the same style.
func runs(cells []cell) (all []cell) {
	for _, c := range cells {
		if n := len(all) - 1; n >= 0 && all[n].look == c.look {
			all[n].text += c.text
			continue
		}
		all = append(all, c)
	}
	return all
}

// svg draws the film with a fixed duration, however long the demonstration took. Viewers without
// animations show its end.
func (f *film) svg(title string) string {
	const takes, high, wide, columns = 8, 18, 8.4, 84
	at := func(seconds float64) string { return strconv.FormatFloat(seconds*takes/f.ends, 'f', 1, 64) + "s" }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" role="img" aria-label="%s">`+"\n", columns*wide, (f.height()+2)*high, title)
	b.WriteString("<style>rect{fill:#0d1117}text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#e6edf3;white-space:pre}" +
		".b{font-weight:bold}.f{fill:#8b949e}.c1{fill:#ff7b72}.c2{fill:#7ee787}.c3{fill:#e3b341}.c4{fill:#79c0ff}.c5{fill:#d2a8ff}.c6{fill:#76e3ea}</style>\n")
	b.WriteString(`<rect width="100%" height="100%" rx="8"/>` + "\n")
	for _, s := range f.shots {
		if s.till != 0 && s.till-s.from < 0.02 {
			continue // too short to be seen
		}
		hidden, play := "", ""
		switch {
		case s.till != 0:
			hidden = ` visibility="hidden"`
			play = fmt.Sprintf(`<set attributeName="visibility" to="visible" begin="%s" end="%s"/>`, at(s.from), at(s.till))
		case s.from > 0:
			play = fmt.Sprintf(`<set attributeName="visibility" to="hidden" begin="0s" end="%s"/>`, at(s.from))
		}
		fmt.Fprintf(&b, `<text x="%.0f" y="%d" xml:space="preserve"%s>`, wide, (s.row+2)*high, hidden)
		for _, run := range runs(s.cells) {
			var escaped strings.Builder
			_ = xml.EscapeText(&escaped, []byte(run.text)) // a builder never fails
			if run.look == "" {
				b.WriteString(escaped.String())
				continue
			}
			fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, run.look, escaped.String())
		}
		b.WriteString(play + "</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}
