package limits

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"codeloops/internal/loop"
	"codeloops/internal/policy"
)

// NoNewDependencies lets no manifest name a dependency that it did not name when
// the session began. Another version of one that was there is none. The zero
// value lets everything pass.
type NoNewDependencies struct{ manifests []manifest }

// NewNoNewDependencies returns the rule.
func NewNoNewDependencies() NoNewDependencies { return NoNewDependencies{manifests()} }

// Name implements [policy.Inspector].
func (NoNewDependencies) Name() string { return RuleNoDependencies }

// Inspect implements [policy.Inspector].
func (d NoNewDependencies) Inspect(c loop.Case, _ *loop.Inspection) *policy.Breach {
	var found []string
	gone := map[string]bool{} // named in a manifest of the same sort, by any line that was taken out
	each := func(op byte, do func(m manifest, file, name string)) {
		for file, text := range texts(c.Change) {
			for _, m := range d.manifests {
				if m.is(file) {
					for _, name := range m.names(text, op) {
						do(m, file, name)
					}
				}
			}
		}
	}
	each('-', func(m manifest, _, name string) { gone[m.sort+"\x00"+name] = true })
	each('+', func(m manifest, file, name string) {
		if entry := quote(name) + " in " + quote(file); !gone[m.sort+"\x00"+name] && !slices.Contains(found, entry) {
			found = append(found, entry)
		}
	})
	if len(found) == 0 {
		return nil
	}
	return &policy.Breach{
		Why: "new dependencies: " + few(found),
		Feedback: "No new dependencies may be added, and these were: " + few(found) +
			". Take them out again, from lock files as well, and do the task with what is there.",
	}
}

// A manifest is a sort of file that names dependencies.
type manifest struct {
	sort string // those of one sort name the same things
	file *regexp.Regexp
	dir  string // in a directory of this name, all that ends in .txt
	// line finds a name in a line; the groups that are not empty make it up.
	line *regexp.Regexp
	// within are the sections and lists, by their heading, in which names are
	// looked for; heading finds headings. Without one, every line counts.
	heading, within *regexp.Regexp
	// sure finds a name where the heading is too far away for the patch to show.
	sure *regexp.Regexp
	not  *regexp.Regexp // names that are none
}

// is reports whether a path is one of a manifest of this sort.
func (m manifest) is(file string) bool {
	base, dir := path.Base(file), path.Base(path.Dir(file))
	return m.file.MatchString(base) || m.dir != "" && m.dir == dir && path.Ext(base) == ".txt"
}

func manifests() []manifest {
	re := regexp.MustCompile
	const version = `[\^~<>=v]*\s*\d[^"]*|\*|latest|next|(?:workspace|npm|file|link|git|github|https?|git\+\w+):[^"]*`
	json := manifest{
		sort: "npm", file: re(`^package\.json$`),
		line:    re(`^\s*"([^"]+)"\s*:\s*"[^"]*"`),
		heading: re(`^\s*"([^"]+)"\s*:\s*\{`), within: re(`(?i)dependencies$`),
		sure: re(`^\s*"((?:@[\w.-]+/)?[\w.-]+)"\s*:\s*"(?:` + version + `)"`),
		not:  re(`^(?:version|node|npm|yarn|pnpm|packageManager|vscode)$`),
	}
	// What stands for the dependency of a name: another package, or no version.
	stand := json
	stand.line = re(`:\s*"(?:npm:((?:@[\w.-]+/)?[\w.-]+)|((?:git|git\+\w+|github|gitlab|bitbucket|https?|file|link):[^"#]+))`)
	stand.sure = re(`:\s*"npm:((?:@[\w.-]+/)?[\w.-]+)`)
	composer := json
	composer.sort, composer.file, composer.within = "composer", re(`^composer\.json$`), re(`^require`)
	composer.sure = re(`^\s*"([\w.-]+/[\w.-]+)"\s*:\s*"(?:` + version + `|[^"]*\d[^"]*)"`)
	toml := manifest{
		line:    re(`^\s*["']?([A-Za-z0-9][\w.-]*?)["']?(?:\.workspace)?\s*=`),
		heading: re(`^\s*\[+\s*([^\]]+?)\s*\]+\s*$`),
		sure:    re(`^\s*["']?([A-Za-z0-9][\w.-]*?)["']?\s*=\s*(?:["'][\^~<>=*\d]|\{\s*(?:version|git|path|workspace)\b)`),
		not:     re(`^(?:version|edition|rust-version|resolver|python|python_version|target-version|line-length|fail_under|requires-python|minversion)$`),
	}
	cargo, pipfile := toml, toml
	cargo.sort, cargo.file, cargo.within = "cargo", re(`^Cargo\.toml$`), re(`(?:^|\.)(?:dev-|build-)?dependencies$`)
	pipfile.sort, pipfile.file, pipfile.within = "python", re(`^Pipfile$`), re(`^(?:dev-)?packages$`)
	poetry := toml
	poetry.sort, poetry.file, poetry.within = "python", re(`^pyproject\.toml$`), re(`^tool\.(?:poetry|pdm|hatch|uv).*dependencies$`)
	poetry.sure = re(`^\s*([A-Za-z0-9][\w.-]*)\s*=\s*["'][\^~]\d`)
	return []manifest{
		{sort: "go", file: re(`^go\.mod$`), line: re(`^\s*(?:require\s+|replace\s.*=>\s*|tool\s+)?((?:[\w-]+\.)+[\w-]+(?:/[\w.~-]+)*)(?:\s+v\d|$)|=>\s*(\S+)\s+v\d|=>\s*(\.{0,2}/\S+)`)},
		json, stand, composer, cargo, pipfile, poetry,
		{
			// PEP 508 names in the lists of PEP 621 and PEP 735.
			sort: "python", file: re(`^pyproject\.toml$`),
			line:    re(`["']([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?:[<>=!~;@][^"']*)?["']`),
			heading: re(`^\s*\[+\s*([^\]]+?)\s*\]+\s*$|^([\w-]+)\s*=\s*\[`), within: re(`^(?:project\.)?optional-dependencies$|^dependency-groups$|^(?:dev-)?dependencies$|^requires$`),
			sure: re(`^\s*["']([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*[<>=!~]=?\s*\d`),
		},
		{sort: "python", file: re(`^[\w.-]*(?:requirements|constraints)[\w.-]*\.(?:txt|in)$`), dir: "requirements", line: re(`^\s*(?:-e\s+)?([A-Za-z0-9][\w.-]*)\s*(?:$|[\[<>=!~;@ #])|^\s*(?:-e\s+)?((?:git\+|https?:)\S+)`)},
		{sort: "python", file: re(`^setup\.(?:py|cfg)$`), line: re(`^\s*["']?([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*[<>=~!]=\s*\d`)},
		{sort: "maven", file: re(`^pom\.xml$`), line: re(`<artifactId>\s*([^<\s]+)\s*</artifactId>`)},
		{sort: "maven", file: re(`\.gradle(?:\.kts)?$`), line: re(`\b\w*(?i:implementation|api|only|classpath|processor|kapt|ksp|compile|runtime)\s*\(?\s*(?:platform\()?["'][^"':]+:([^"':]+)|\bid\s*\(?["']([\w.-]+)["']\)?\s+version`)},
		{sort: "maven", file: re(`^libs\.versions\.toml$`), line: re(`\bmodule\s*=\s*["'][^"':]+:([^"']+)["']|\bname\s*=\s*["']([^"']+)["']`)},
		{sort: "gem", file: re(`^Gemfile$|\.gemspec$`), line: re(`^\s*(?:gem|\w+\.add_(?:runtime_|development_)?dependency)\s*\(?\s*["']([^"']+)["']`)},
		{sort: "nuget", file: re(`\.(?:cs|fs|vb)proj$|^Directory\.Packages\.props$|^packages\.config$`), line: re(`<Package(?:Reference|Version)\s+(?:Include|Update)="([^"]+)"|<package\s+id="([^"]+)"`)},
		{sort: "hex", file: re(`^mix\.exs$`), line: re(`\{:(\w+),\s*(?:"|git:|github:|path:)`)},
		{sort: "swift", file: re(`^Package\.swift$`), line: re(`\.package\(.*url:\s*"([^"]+)"`)},
		{
			sort: "pub", file: re(`^pubspec\.yaml$`), line: re(`^  ([a-z_]\w*):`),
			heading: re(`^(\w+):\s*$`), within: re(`dependencies$`), sure: re(`^  ([a-z_]\w*):\s*\^\d`),
			not: re(`^(?:sdk|flutter)$`),
		},
	}
}

// names returns the dependencies in the lines of a patch that have the op.
func (m manifest) names(patch string, op byte) []string {
	var all []string
	var at place
	inHunk := false
	for text := range strings.Lines(patch) {
		text = strings.TrimRight(text, "\r\n")
		if rest, ok := strings.CutPrefix(text, "@@ "); ok {
			_, heading, _ := strings.Cut(rest, "@@ ")
			at, _ = m.enter(place{inside: m.heading == nil, known: m.heading == nil}, heading)
			inHunk = true
			continue
		}
		if !inHunk || text == "" {
			continue
		}
		var body string
		at, body = m.enter(at, text[1:])
		switch {
		case text[0] != op:
		case at.named != "":
			all = append(all, at.named)
		case at.inside:
			all = append(all, m.found(m.line, body)...)
		case !at.known:
			all = append(all, m.found(m.sure, body)...)
		}
		if at.closing {
			at.inside, at.known = false, true
		}
	}
	return all
}

// A place is where in a manifest a line stands.
type place struct {
	inside  bool // where dependencies are listed
	known   bool // whether inside is
	table   bool // the table around is one of dependencies
	closing bool // with this line the list ends
	named   string
}

// enter returns where a line stands, and what of it may hold names.
func (m manifest) enter(at place, text string) (place, string) {
	at.closing, at.named = false, ""
	if m.heading == nil {
		return at, text
	}
	trimmed := strings.TrimSpace(text)
	groups := m.heading.FindStringSubmatch(text)
	switch {
	case groups == nil:
		at.closing = slices.Contains([]string{"]", "],", "}", "},"}, trimmed)
		return at, text
	case groups[1] != "": // a table
		at.inside = m.within.MatchString(groups[1])
		at.known, at.table = true, at.inside
		// As in Cargo's [dependencies.serde].
		if i := strings.LastIndexByte(groups[1], '.'); i > 0 && m.within.MatchString(groups[1][:i]) {
			at.named = groups[1][i+1:]
		}
		return at, ""
	}
	// A list, perhaps all of it in this line.
	at.inside = at.table || m.within.MatchString(groups[2])
	at.known = at.known || at.inside
	at.closing = strings.HasSuffix(trimmed, "]")
	_, rest, _ := strings.Cut(text, "[")
	return at, rest
}

// found returns the names in a line, as manifests compare them.
func (m manifest) found(r *regexp.Regexp, text string) []string {
	var all []string
	if r == nil {
		return nil
	}
	for _, groups := range r.FindAllStringSubmatch(text, -1) {
		name := strings.Join(groups[1:], "")
		if m.sort == "python" {
			name = strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(name))
		}
		if name != "" && (m.not == nil || !m.not.MatchString(name)) {
			all = append(all, name)
		}
	}
	return all
}
