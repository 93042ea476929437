package scripted

import (
	"embed"
	"io/fs"
)

//go:embed demo
var demoFiles embed.FS

//go:embed demo.toml
var demoScript []byte

// Demo returns a demonstration of two iterations: the files of a small repository by name,
// including prompt.md with the task, and the scenario for both roles. It needs a POSIX
// shell but no network.
func Demo() (files map[string]string, script []byte) {
	files = map[string]string{}
	entries, err := fs.ReadDir(demoFiles, "demo")
	if err != nil {
		return nil, nil // embedded: it cannot be missing
	}
	for _, e := range entries {
		data, _ := fs.ReadFile(demoFiles, "demo/"+e.Name())
		files[e.Name()] = string(data)
	}
	return files, demoScript
}
