package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/file"
)

// Write writes a configuration file that sets the given keys ("actor.model") to values of
// the types that flags have. It makes the directory if necessary. A key that is not in the
// schema, one of [agents], or a bad value is an [*Error]. Unless overwrite is set, an
// existing file stays as it is and the error wraps fs.ErrExist.
func Write(name string, settings map[string]any, overwrite bool) error {
	content, err := render(settings)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if overwrite {
		err = file.Write(name, []byte(content), fileMode)
	} else {
		err = createFile(name, []byte(content))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// fileMode lets others read a file that is part of a project.
const fileMode = 0o644

// createFile makes a file that must not exist. It leaves none if it fails.
func createFile(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// render returns the text of a file with the settings, in the schema's order.
func render(settings map[string]any) (string, error) {
	all := newSchema()
	var problems Errors
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		path := strings.Split(key, ".")
		if s, ok := all.find(path); !ok {
			problems = append(problems, &Error{Key: key, Problem: fmt.Sprintf("unknown key %q", key), Hint: all.hint(path)})
		} else if s.named() {
			problems = append(problems, &Error{Key: key, Problem: key + " cannot be set here", Hint: "write it in the file"})
		}
	}
	var b strings.Builder
	b.WriteString("# Made by `codeloops init`. `codeloops config show` lists every key.\n")
	table := ""
	for _, s := range all {
		raw, ok := settings[s.Name]
		if !ok || s.named() {
			continue
		}
		is, f := s.read(raw)
		if f != nil {
			problems = append(problems, &Error{Key: s.Name, Problem: s.Name + " " + f.problem, Hint: f.hint})
			continue
		}
		dot := strings.LastIndexByte(s.Name, '.')
		if dot > 0 && s.Name[:dot] != table {
			table = s.Name[:dot]
			b.WriteString("\n[" + table + "]\n")
		}
		b.WriteString(s.Name[dot+1:] + " = " + tomlText(fileForm(is)) + "\n")
	}
	return b.String(), problems.orNil()
}
