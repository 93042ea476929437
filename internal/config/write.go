package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/file"
)

// Write writes a configuration file that sets keys ("actor.model") outside of [agents] to values as a file
// has them. It makes the directory if necessary. A bad value is an [*Error]. Unless overwrite is set, an
// existing file stays as it is and the error wraps fs.ErrExist.
func Write(name string, settings map[string]any, overwrite bool) error {
	var b strings.Builder
	b.WriteString("# Made by `codeloops init`. `codeloops config show` lists every key.\n")
	table := ""
	for _, k := range schema() {
		is, ok := settings[k.Name]
		if !ok {
			continue
		}
		dot := strings.LastIndexByte(k.Name, '.')
		if dot > 0 && k.Name[:dot] != table {
			table = k.Name[:dot]
			b.WriteString("\n[" + table + "]\n")
		}
		b.WriteString(k.Name[dot+1:] + " = " + tomlText(is) + "\n")
	}
	r := fileReader{layer: layer{}, name: name, origin: Global}
	if r.read([]byte(b.String())); len(r.problems) > 0 {
		return r.problems.orNil()
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	put := file.Create
	if overwrite {
		put = file.Replace
	}
	const mode = 0o644 // others read a file that is part of a project
	err := put(name, mode, func(w io.Writer) error {
		_, err := io.WriteString(w, b.String())
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
