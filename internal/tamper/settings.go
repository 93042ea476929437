package tamper

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"codeloops/internal/deciding"
	"codeloops/internal/loop"
)

// Expressions for files that are known by their names.
type places struct {
	ci, golden, config, mixed *regexp.Regexp
	agents                    *regexp.Regexp // what agents read before they work
	hides, runs               *regexp.Regexp // lines that swallow a failure; lines that check something
	part, key                 *regexp.Regexp // what is about checks in files with other things in them
	target, check             *regexp.Regexp // targets of a Makefile, and those that check
}

func newPlaces() places {
	return places{
		ci: re(`^\.github/(?:workflows|actions)/|^\.gitlab-ci\.ya?ml$|^\.gitlab/ci/|(?:^|/)Jenkinsfile[^/]*$|^\.circleci/|^\.ci/|^\.buildkite/|^\.woodpecker` +
			`|^(?:azure-pipelines|bitbucket-pipelines|cloudbuild|appveyor|\.appveyor|\.travis|\.drone|\.cirrus|codecov|\.codecov)\.ya?ml$|^\.husky/`),
		golden: re(`(?:^|/)__(?:image_)?snapshots__/|\.(?:snap|golden|approved(?:\.\w+)?|ambr|expected)$|\.golden\.\w+$|(?:^|/)(?:testdata|tests?)/(?:.*/)?(?:golden|goldens|snapshots)/|-snapshots/`),
		config: re(`(?:^|/)(?:\.golangci\.(?:ya?ml|toml|json)|staticcheck\.conf|\.eslintrc(?:\.\w+)?|eslint\.config\.[cm]?[jt]s|\.eslintignore|biome\.jsonc?|\.oxlintrc\.json|\.stylelintrc(?:\.\w+)?` +
			`|\.?ruff\.toml|\.?mypy\.ini|\.flake8|\.?pylintrc|pyrightconfig\.json|\.coveragerc|\.?pytest\.ini|\.?clippy\.toml|rust-toolchain(?:\.toml)?|\.config/nextest\.toml` +
			`|checkstyle[^/]*\.xml|pmd[^/]*\.xml|spotbugs[^/]*\.xml|findbugs[^/]*\.xml|detekt[^/]*\.ya?ml|sonar-project\.properties|\.rubocop\.ya?ml|\.clang-tidy|phpstan\.neon(?:\.dist)?|phpunit\.xml(?:\.dist)?|\.swiftlint\.ya?ml` +
			`|\.pre-commit-config\.ya?ml|lefthook\.ya?ml|\.semgrep\.ya?ml|\.nycrc(?:\.json)?|\.c8rc\.json|(?:jest|vitest|karma|playwright|cypress|ava|wdio)\.conf(?:ig)?(?:\.\w+)?\.[cm]?[jt]s(?:on)?|jest\.config\.json|\.mocharc\.\w+)$`),
		agents: deciding.AgentFiles(),
		mixed:  re(`(?:^|/)(?:pyproject\.toml|setup\.cfg|tox\.ini|noxfile\.py|package\.json|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?|tsconfig[^/]*\.json)$`),
		hides: re(`\|\|\s*(?:true|:|exit 0|echo\b)|;\s*true\s*$|^\s*-?\s*set \+e\b|\bcontinue-on-error:\s*true\b|\ballow_failure:\s*true\b|--passWithNoTests\b|--exit-zero\b|--no-fail\b` +
			`|-DskipTests\b|-Dmaven\.test\.(?:skip|failure\.ignore)|\btestFailureIgnore>\s*true|\bignoreFailures\s*=?\s*true|-x test\b|--no-verify\b|\bcatchError\b`),
		runs: re(`(?i)\b\w*(?:test|check|lint|vet|verify|mypy|ruff|tsc|eslint|clippy|coverage|build)\w*\b`),
		part: re(`^\s*\[\[?(?:tool\.)?(?:ruff|mypy|pytest|coverage|pylint|flake8|pyright|bandit|black|isort|lints|workspace\.lints|testenv|tool:pytest)\b` +
			`|^\s*"(?:(?:pre|post)?(?:test|lint|check|typecheck|type-check|ci|coverage|verify)[\w:-]*"\s*:\s*"[^\d^~*<>=v]|(?:eslintConfig|jest|coverageThreshold|lint-staged|husky|mocha|nyc|c8)"\s*:\s*\{)`),
		key: re(`(?i)"(?:strict\w*|noImplicit\w*|noUnused\w*|skipLibCheck|checkJs|noUnchecked\w*)"\s*:|\b(?:fail_under|ignore_errors|per-file-ignores|extend-ignore|disallow_\w+|addopts|warn_\w+)\s*=` +
			`|<(?:skipTests|skip|failsOnError|failOnViolation|testFailureIgnore|skipITs|minimum)>`),
		target: re(`^([\w.%/ -]+?)\s*::?(?:\s|$)`),
		check:  re(`(?i)^(?:\w+[-_.])?(?:tests?|check|lint|vet|verify|ci|cover(?:age)?|race|fuzz|e2e|integration|unit|typecheck)(?:[-_./%]\w*)*$`),
	}
}

// settings reports changes of what watches over the project, and of what its
// tests compare with.
func (r *report) settings() {
	p := r.places
	for _, f := range r.files {
		whole := f.Status != loop.FileAdded
		switch {
		case p.ci.MatchString(f.Path):
			if whole {
				r.addf(CIChanged, f, 0, "the CI configuration was %s", f.fate())
			}
			r.hidden(f, p, false)
		case p.config.MatchString(f.Path):
			if whole {
				r.addf(ConfigChanged, f, 0, "the configuration of a linter or of the tests was %s", f.fate())
			} else if path.Dir(f.Path) != "." {
				r.addf(ConfigChanged, f, 0, "the configuration of a linter or of the tests was added, which may overrule one above it")
			}
		case p.golden.MatchString(f.Path):
			if whole && !r.renamedFile(f) {
				r.addf(GoldenChanged, f, 0, "what tests compare with was %s", f.fate())
			}
		case p.mixed.MatchString(f.Path):
			r.mixed(f, p)
			r.hidden(f, p, true)
		case isMakefile(f.Path):
			r.targets(f, p)
			r.hidden(f, p, true)
		case f.lang != nil && f.lang.has("x.sh"), f.lang == nil && path.Ext(f.Path) == "":
			r.hidden(f, p, true)
		}
	}
}

// instructions reports changes of what agents read before they work, by which an
// actor can tell the critic what to say.
func (r *report) instructions() {
	for _, f := range r.files {
		if r.places.agents.MatchString(f.Path) {
			r.addf(AgentsChanged, f, 0, "what agents are told, the critic perhaps among them, was %s", f.fate())
		}
	}
}

// fate is what happened to a file as a whole.
func (f *file) fate() string {
	switch {
	case f.Status == loop.FileDeleted:
		return "removed"
	case f.Status == loop.FileAdded:
		return "added"
	case f.Binary:
		return "changed"
	}
	return "changed: +" + strconv.Itoa(f.Insertions) + " -" + strconv.Itoa(f.Deletions) + " lines"
}

func isMakefile(file string) bool {
	base := path.Base(file)
	return base == "Makefile" || base == "makefile" || base == "GNUmakefile" || base == "justfile" || base == "Justfile" || path.Ext(base) == ".mk"
}

// hidden reports lines that swallow a failure. In files where that is common,
// only those that check something.
func (r *report) hidden(f *file, p places, strict bool) {
	before := map[string]int{}
	f.each("-", func(_ hunk, l line) { before[normal(l.text)]++ })
	f.each("+", func(_ hunk, l line) {
		marker := strings.TrimSpace(p.hides.FindString(l.text))
		if isMakefile(f.Path) && strings.HasPrefix(l.text, "\t-") {
			marker = "-"
		}
		if marker == "" || before[normal(l.text)] > 0 || strict && !p.runs.MatchString(l.text) {
			return
		}
		r.addf(FailureHidden, f, l.at, "`%s` was added, which hides a failure", marker)
	})
}

// mixed reports lines that are about checks in a file that is about much else:
// those in a section of their own, or with a key that is known. One in each
// hunk says it.
func (r *report) mixed(f *file, p places) {
	b := f.bothSides()
	for _, h := range f.hunks {
		if at := p.touched(h, b); at > 0 {
			r.addf(ConfigChanged, f, at, "the configuration of a linter or of the tests was changed")
		}
	}
}

// bothSides is what stands on either side of a patch, whatever its order.
type bothSides struct {
	keys  map[string]bool // that the old side has
	lines map[string]string
}

func (f *file) bothSides() bothSides {
	b := bothSides{map[string]bool{}, map[string]string{}}
	f.each("-+", func(_ hunk, l line) {
		if l.op == '-' {
			b.keys[key(l.text)] = true
		}
		b.lines[item(l.text)] += string(l.op)
	})
	return b
}

// moved reports whether both sides have the line.
func (b bothSides) moved(l line) bool {
	ops := b.lines[item(l.text)]
	return strings.Contains(ops, "-") && strings.Contains(ops, "+")
}

// item is a line of a list, whether or not another one follows.
func item(text string) string { return strings.TrimSuffix(normal(text), ",") }

// touched returns the first line of a hunk that changes the settings of a
// check, 0 when there is none.
func (p places) touched(h hunk, b bothSides) int {
	inPart := false
	for _, l := range h.lines {
		text := strings.TrimSpace(l.text)
		section, own := strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"), p.part.MatchString(l.text)
		if section {
			inPart = own && l.op != '+'
		}
		if l.op != ' ' && text != "" && !b.moved(l) && (inPart && !section || p.changes(l, section, own, b)) {
			return l.at
		}
	}
	return 0
}

// changes reports whether a line takes a section or a key of checks away, or
// changes it. One that is new takes nothing away.
func (p places) changes(l line, section, own bool, b bothSides) bool {
	switch {
	case section:
		return own && l.op == '-'
	case p.key.MatchString(l.text):
		return true
	}
	return own && (l.op == '-' || b.keys[key(l.text)])
}

// key is what stands before the sign that a value follows.
func key(text string) string {
	if i := strings.IndexAny(text, ":="); i >= 0 {
		text = text[:i]
	}
	return normal(text)
}

// targets reports changes in the recipes of targets that check something. A
// target that is new takes nothing away.
func (r *report) targets(f *file, p places) {
	for _, h := range f.hunks {
		current, known := p.targetOf(h.heading), true
		reported := ""
		for _, l := range h.lines {
			if name := p.targetOf(l.text); name != "" {
				current, known = name, l.op != '+'
			}
			if l.op == ' ' || strings.TrimSpace(l.text) == "" || !known || current == reported || !p.check.MatchString(current) {
				continue
			}
			reported = current
			r.addf(CIChanged, f, l.at, "the target %s was changed", Quote(current, maxName))
		}
	}
}

func (p places) targetOf(text string) string {
	if m := p.target.FindStringSubmatch(text); m != nil && !strings.HasPrefix(text, "\t") && !strings.HasPrefix(m[1], ".") {
		return strings.TrimSpace(m[1])
	}
	return ""
}

// renamedFile reports whether a deleted file came back under another directory.
func (r *report) renamedFile(f *file) bool {
	if f.Status != loop.FileDeleted {
		return false
	}
	old := f.texts("-")
	for _, other := range r.like(f) {
		if other.Status == loop.FileAdded && shared(old, other.texts("+")) > 0.99 {
			return true
		}
	}
	return false
}
