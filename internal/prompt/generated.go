package prompt

import "codeloops/internal/wording"

var (
	// generatedPath matches the usual names of lock files, bundles, copies of other
	// projects, generated code and golden files, below a slash.
	generatedPath = wording.Pattern(`(?i:\.(?:lock|min\.js|min\.css|map|pb\.go|pb\.cc|pb\.h|g\.dart|snap|golden)|_pb2(?:_grpc)?\.py` +
		`|/(?:go\.sum|go\.work\.sum|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lockb|packages\.lock\.json|gradle\.lockfile|package\.resolved))$` +
		`|(?i:[_.-]generated\.)[^/]*$` +
		`|/(?:vendor|node_modules|dist|testdata|__snapshots__|third_party)/`)
	// generatedMark matches the mark of https://go.dev/s/generatedcode in a patch.
	generatedMark = wording.Pattern(`(?m)^[ +-](?://|#) Code generated .* DO NOT EDIT\.$`)
)

// generated reports whether a program wrote the file rather than a person. Such a file
// comes last in an excerpt.
func generated(file, patch string) bool {
	return generatedPath().MatchString("/"+file) || generatedMark().MatchString(patch[:min(len(patch), 4<<10)])
}
