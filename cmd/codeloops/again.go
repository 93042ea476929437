package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"codeloops/internal/loop"
)

// logged reports whether the log of a session keeps what a flag says, for whoever
// carries it on: how the run goes. Agents and the limit of iterations stand there by
// themselves, and the rest is about one run, or about who looks at it.
func logged(flag string) bool {
	switch flag {
	case "no-wait", "script":
		return true
	case "agent", "actor-agent", "critic-agent", "model", "actor-model", "critic-model",
		"fallback", "agent-order", "max-iterations", "log-format", "session-dir":
		return false
	}
	_, setting := settingFlags()[flag]
	return setting
}

// flags are what the log keeps of the command line.
func (o *runOptions) flags() (list []loop.Flag) {
	if o.given == nil {
		return nil
	}
	o.given.Visit(func(f *pflag.Flag) {
		if !logged(f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		list = append(list, loop.Flag{Name: f.Name, Values: values})
	})
	return list
}

// again sets the flags that a session was begun with, where they are not said now.
// Of a log that is not trusted none is taken: it says what commands are run. They
// have to be said again, as those have that the log does not keep, for without them
// work could count as done that should not.
func (o *resumeOptions) again(s loop.Session, trusted bool) error {
	var hidden, doubtful []string
	for _, was := range s.Flags {
		f := o.given.Lookup(was.Name)
		switch {
		case f == nil || f.Changed || !logged(was.Name) || o.contradicts(was.Name):
		case was.Hidden:
			hidden = append(hidden, "--"+was.Name)
		case !trusted:
			doubtful = append(doubtful, "--"+was.Name)
		default:
			for _, value := range was.Values {
				if err := o.given.Set(was.Name, value); err != nil {
					return usagef("say it again: codeloops resume --"+was.Name, "session %s was given what --%s cannot be: %v", s.ID, was.Name, err)
				}
			}
		}
	}
	const hint = "say it again, or what is to count instead: codeloops resume "
	switch {
	case hidden != nil:
		return usagef(hint+strings.Join(hidden, " "),
			"session %s was given a secret with %s, which its log does not keep", s.ID, strings.Join(hidden, ", "))
	case doubtful != nil:
		return usagef(hint+strings.Join(doubtful, " "),
			"session %s was given %s, but its log is where others can have written what they like", s.ID, strings.Join(doubtful, ", "))
	}
	return o.takeSettings(o.given)
}

// contradicts reports whether a flag says the contrary of one that was given.
func (o *resumeOptions) contradicts(flag string) bool {
	return flag == "no-wait" && o.given.Changed("max-wait") || flag == "max-wait" && o.given.Changed("no-wait")
}

// below reports whether a path is in a directory, or is the directory itself, wherever
// symbolic links lead and whatever names a directory has.
func below(dir, path string) bool {
	top, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for there := followed(path); ; there = filepath.Dir(there) {
		if st, err := os.Stat(there); err == nil && os.SameFile(top, st) {
			return true
		}
		if there == filepath.Dir(there) {
			return false
		}
	}
}

// followed is where an absolute path leads, of which the last part may not be there
// yet.
func followed(path string) string {
	for there, rest := path, ""; ; there, rest = filepath.Dir(there), filepath.Join(filepath.Base(there), rest) {
		if resolved, err := filepath.EvalSymlinks(there); err == nil {
			return filepath.Join(resolved, rest)
		}
		if there == filepath.Dir(there) {
			return path
		}
	}
}
