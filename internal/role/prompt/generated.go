package prompt

import (
	"path"
	"slices"
	"strings"
)

// generated reports whether a program wrote the file rather than somebody: a
// lock file, a bundle, a copy of another project, generated code, a golden
// file. Such a file comes last into an excerpt. The judgement goes by the
// usual names, and by the mark of https://go.dev/s/generatedcode.
func generated(file, patch string) bool {
	base := strings.ToLower(path.Base(file))
	switch {
	case lockFile(base), hasAny(strings.HasSuffix, base, suffixes()), hasAny(strings.Contains, base, infixes()):
		return true
	case hasAny(strings.Contains, "/"+file, folders()):
		return true
	}
	for line := range strings.Lines(patch[:min(len(patch), 4<<10)]) {
		if marked(strings.TrimSuffix(line, "\n")) {
			return true
		}
	}
	return false
}

// marked reports whether a line of a patch holds the mark, in a comment of Go's
// or a shell's kind.
func marked(line string) bool {
	if line == "" || !strings.Contains(" +-", line[:1]) {
		return false
	}
	said, ok := strings.CutPrefix(line[1:], "//")
	if !ok {
		said, ok = strings.CutPrefix(line[1:], "#")
	}
	what, generated := strings.CutPrefix(said, " Code generated ")
	return ok && generated && strings.HasSuffix(what, " DO NOT EDIT.")
}

func lockFile(base string) bool {
	return path.Ext(base) == ".lock" || slices.Contains([]string{
		"go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml",
		"bun.lockb", "packages.lock.json", "gradle.lockfile", "package.resolved",
	}, base)
}

func suffixes() []string {
	return []string{
		".min.js", ".min.css", ".map", ".pb.go", ".pb.cc", ".pb.h", "_pb2.py", "_pb2_grpc.py",
		".g.dart", ".snap", ".golden",
	}
}

func infixes() []string { return []string{"_generated.", ".generated.", "-generated."} }

func folders() []string {
	return []string{"/vendor/", "/node_modules/", "/dist/", "/testdata/", "/__snapshots__/", "/third_party/"}
}

func hasAny(has func(s, part string) bool, s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return has(s, p) })
}
