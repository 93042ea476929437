package git

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"codeloops/internal/file"
)

// A Conversion says how the content of a file in git can differ from that on the disk.
type Conversion uint8

// What git does with a file.
const (
	Kept   Conversion = iota // the content is the same
	Ends                     // the ends of lines may differ
	Own                      // a filter that the user has set up for all repositories makes it something else, as Git LFS does
	Remade                   // another filter, ident or another encoding does; an agent may have set it up
)

// Converts returns what git does with the files that it tracks or would track, given the repository's settings, an index
// ("": the usual one) and the environment of the user. It leaves out those that are [Kept].
func (r *Repository) Converts(ctx context.Context, g Git, settings *Config, index string, paths []string) (map[string]Conversion, error) {
	value, _ := settings.String("core.autocrlf")
	auto := value != "" && value != "false"
	if len(paths) == 0 || !auto && !r.hasAttributes(settings, paths) {
		return nil, nil
	}
	var env []string
	if index != "" {
		env = []string{"GIT_INDEX_FILE=" + index}
	}
	out, err := g.Run(ctx, Call{
		Dir: r.WorkTree, Stdin: []byte(strings.Join(paths, "\x00") + "\x00"), Env: env,
		Args: []string{"--git-dir=" + r.GitDir, "--work-tree=" + r.WorkTree, "check-attr", "-z", "--stdin", "filter", "ident", "working-tree-encoding", "text", "eol", "crlf"},
	})
	all, drivers := map[string]Conversion{}, map[string]Conversion{}
	list := strings.Split(string(out), "\x00")
	for i := 0; i+2 < len(list); i += 3 {
		path, is := list[i], list[i+2] != "unspecified" && list[i+2] != "unset"
		switch list[i+1] {
		case "filter":
			if is {
				all[path] = max(all[path], g.driver(ctx, r, settings, list[i+2], drivers))
			}
		case "ident", "working-tree-encoding":
			if is {
				all[path] = Remade
			}
		default:
			if is || auto {
				all[path] = max(all[path], Ends)
			}
		}
	}
	return all, err
}

// hasAttributes reports whether any rule may say that git converts some of the files.
func (r *Repository) hasAttributes(settings *Config, paths []string) bool {
	system, users, _ := settings.AttributesFiles() // git says whether they can be read
	for _, name := range []string{system, users, r.InfoAttributes(), filepath.Join(r.WorkTree, ".gitattributes")} {
		if file.At(name).Size > 0 {
			return true
		}
	}
	return slices.ContainsFunc(paths, func(path string) bool { return filepath.Base(path) == ".gitattributes" })
}

// driver returns what a filter does: whether the repository has it from the user.
func (g Git) driver(ctx context.Context, r *Repository, settings *Config, name string, known map[string]Conversion) Conversion {
	if how, is := known[name]; is {
		return how
	}
	known[name] = Own
	for _, key := range []string{"filter." + name + ".clean", "filter." + name + ".process"} {
		is, _ := settings.String(key)
		if users, _ := g.UserSetting(ctx, r.WorkTree, key); is != users {
			known[name] = Remade
		}
	}
	return known[name]
}
