package session

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/file"
	"codeloops/internal/loop"
)

// folder is the folder beside a log. The names of an iteration's files begin with its number.
type folder struct {
	dir   string
	named map[string]bool // files that this iteration's lines name; true: the lines omit something of it
}

func fileName(iteration int, name string) string {
	return fmt.Sprintf("%03d.%s", iteration, name)
}

// keep writes what the line of a finished turn does not hold to files, which the entry then
// names: until the iteration is logged, nothing else has these texts.
func (d *folder) keep(to *Entry, e loop.Event) error {
	if e, ok := e.(loop.ActorFinished); ok {
		return d.keepTurn(to, e.Iteration, loop.RoleActor, e.Attempt.Turn)
	}
	critic, ok := e.(loop.CriticFinished)
	if !ok {
		return nil
	}
	err := d.keepTurn(to, critic.Iteration, loop.RoleCritic, critic.Review.Turn)
	if to.Reply = to.Stdout; err == nil && critic.Review.Reply != critic.Review.Stdout.Text {
		to.Reply, err = d.write(fileName(critic.Iteration, "critic.reply.kept"), critic.Review.Reply)
	}
	return err
}

func (d *folder) keepTurn(to *Entry, iteration int, role loop.Role, t loop.Turn) (err error) {
	to.Stdout, err = d.write(fileName(iteration, string(role)+".stdout.kept"), t.Stdout.Text)
	if err == nil {
		to.Stderr, err = d.write(fileName(iteration, string(role)+".stderr.kept"), t.Stderr.Text)
	}
	return err
}

// write writes text to a file and returns the file's name relative to the log; an empty
// text needs no file.
func (d *folder) write(name, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	err := file.Replace(filepath.Join(d.dir, name), 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	return d.beside(name), err
}

// beside returns a file's name as the log spells it.
func (d *folder) beside(name string) string { return filepath.Base(d.dir) + "/" + name }

// relative returns e with outputs that name files of this folder relative to the log, so that
// the log and its folder can be moved, and remembers these names.
func (d *folder) relative(e loop.Event) loop.Event {
	return mapOutputs(e, func(o loop.Output) loop.Output {
		name := filepath.Base(o.File)
		// The directory is not compared: it may have been redacted.
		if st, err := os.Lstat(filepath.Join(d.dir, name)); err != nil || !st.Mode().IsRegular() {
			return o
		}
		if d.named == nil {
			d.named = map[string]bool{}
		}
		d.named[name] = d.named[name] || o.Omitted > 0
		o.File = d.beside(name)
		return o
	})
}

// logged removes what the line of an event, and no later one, refers to.
func (d *folder) logged(e loop.Event) {
	whole, ok := e.(loop.IterationFinished)
	if _, before := e.(loop.BaselineChecked); ok || before {
		d.tidy(whole.Round.Iteration)
	}
	_, turn := e.(loop.TurnFinished)
	if _, note := e.(loop.Noted); turn || note {
		d.over(e)
	}
}

// tidy removes the files of an iteration that hold nothing beyond its line. A file that cannot
// be removed does no harm.
func (d *folder) tidy(iteration int) {
	entries, _ := os.ReadDir(d.dir)
	for _, entry := range entries {
		more, named := d.named[entry.Name()]
		if !more && (named || strings.HasPrefix(entry.Name(), fileName(iteration, ""))) {
			_ = os.Remove(filepath.Join(d.dir, entry.Name()))
		}
	}
	clear(d.named)
}

// over does the same for a step of the strategy, to which no later line refers.
func (d *folder) over(e loop.Event) {
	mapOutputs(e, func(o loop.Output) loop.Output {
		if name := filepath.Base(o.File); o.File != "" && o.Omitted == 0 {
			delete(d.named, name)
			_ = os.Remove(filepath.Join(d.dir, name))
		}
		return o
	})
}

// removeEmpty removes the folder if it is empty.
func (d *folder) removeEmpty() { _ = os.Remove(d.dir) }
