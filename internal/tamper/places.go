package tamper

import (
	"regexp"

	"codeloops/internal/deciding"
)

// Places are expressions for files that are known by their names, and for what
// matters in them.
type places struct {
	agents         *regexp.Regexp // what agents read before they work
	ci, golden     *probe
	runner, linter *probe // configuration, whole files of it
	mixed          *probe // files with such configuration among other things
	builds         *probe // builds that declare tests one by one
	member         *probe // lines that make something a part of a project
	stands         *probe // what is found instead of a test runner, or of what it uses

	runnerPart, linterPart *probe // sections of mixed files
	part, key              *probe // lines of them, wherever they stand
	narrows                *probe // keys that say which tests are run, or what becomes of a failure
	options                *probe // of a runner, that say so

	swallows, ignores *probe // lines that hide a failure: in what they run; by what they say
	tested            *probe // what is called like tests
	tidies            *probe // commands that may fail
	pipes             *probe // the same, of a command whose exit code is lost
	exits             *probe // the same in a script of which one knows that it checks
	anywhere          *probe // settings that hide a failure, or keep tests from being run
	targets           *probe // of a package of Rust, settings that do
	runs              *probe // lines that check something
	checks            *probe // names of scripts that do

	target, check *probe // targets of a makefile, and those that check
	assigned      *probe // a variable of it
	decides       *probe // what decides over all recipes
	nothing       *probe // a value that does nothing
	harmless      *probe // what decides over all recipes, and hides nothing
}

func newPlaces() places {
	const checking = `tests?|check|lint|vet|verify|ci|cover(?:age)?|race|fuzz|e2e|integration|unit|spec|typecheck`
	return places{
		ci: re(`^\.github/(?:workflows|actions)/|^\.gitlab-ci\.ya?ml$|^\.gitlab/ci/|(?:^|/)Jenkinsfile[^/]*$|^\.circleci/|^\.ci/|^\.buildkite/|^\.woodpecker` +
			`|^(?:azure-pipelines|bitbucket-pipelines|cloudbuild|appveyor|\.appveyor|\.travis|\.drone|\.cirrus|codecov|\.codecov)\.ya?ml$|^\.husky/`),
		golden: re(`(?:^|/)__(?:image_)?snapshots__/|\.(?:snap|golden|approved(?:\.\w+)?|ambr|expected)$|\.golden\.\w+$|-snapshots/` +
			`|(?:^|/)(?:testdata|test[-_]?data|fixtures?|__fixtures__|cassettes|goldens?|snapshots)/` +
			`|(?:^|/)(?:tests?|specs?|__tests__)/.*\.(?:json|ya?ml|txt|csv|tsv|xml|html?|out|err|stdout|stderr|sql|txtar|svg)$`),
		runner: re(`(?:^|/)(?:\.?pytest\.(?:ini|toml)|(?:jest|vitest|karma|playwright|cypress|ava|wdio|nightwatch|codecept|web-test-runner)\.conf(?:ig)?(?:\.\w+)?\.[cm]?[jt]s(?:on)?` +
			`|vitest\.workspace\.\w+|jest\.config\.json|\.mocharc(?:\.\w+)?|mocha\.opts|\.config/nextest\.toml|\.cargo/config(?:\.toml)?|phpunit\.xml(?:\.dist)?|\.rspec|\.npmrc|bunfig\.toml` +
			`|\.mvn/(?:maven|jvm)\.config|junit-platform\.properties|testng[^/]*\.xml|CTestCustom\.cmake|\.runsettings|behave\.ini|cucumber\.(?:js|ya?ml)|pytest\.toml)$`),
		linter: re(`(?:^|/)(?:\.golangci\.(?:ya?ml|toml|json)|staticcheck\.conf|\.eslintrc(?:\.\w+)?|eslint\.config\.[cm]?[jt]s|\.eslintignore|biome\.jsonc?|\.oxlintrc\.json|\.stylelintrc(?:\.\w+)?` +
			`|\.?ruff\.toml|\.?mypy\.ini|\.flake8|\.?pylintrc|pyrightconfig\.json|\.coveragerc|\.?clippy\.toml|rust-toolchain(?:\.toml)?` +
			`|checkstyle[^/]*\.xml|pmd[^/]*\.xml|spotbugs[^/]*\.xml|findbugs[^/]*\.xml|detekt[^/]*\.ya?ml|sonar-project\.properties|\.rubocop\.ya?ml|\.clang-tidy|phpstan\.neon(?:\.dist)?|\.swiftlint\.ya?ml` +
			`|\.pre-commit-config\.ya?ml|lefthook\.ya?ml|\.semgrep\.ya?ml|\.nycrc(?:\.json)?|\.c8rc\.json)$`),
		agents: deciding.AgentFiles(),
		mixed:  re(`(?:^|/)(?:pyproject\.toml|setup\.cfg|tox\.ini|package\.json|deno\.jsonc?|Cargo\.toml|pom\.xml|build\.gradle(?:\.kts)?|gradle\.properties|tsconfig[^/]*\.json|vite\.config\.[cm]?[jt]s)$`),
		builds: re(`(?:^|/)(?:CMakeLists\.txt|meson\.build|BUILD(?:\.bazel)?|Rakefile|Package\.swift|noxfile\.py|Taskfile\.ya?ml|build\.xml)$|\.(?:cmake|rake)$`),
		member: re(`^\s*(?:include\b|use\b|"packages"|(?:default-)?members\b|- |["'(]*:?[\w.*/-]+["')]*,?\s*$)`),
		stands: re(`(?:^|/)(?:_?pytest|unittest|nose|doctest|hypothesis|sitecustomize|usercustomize)(?:\.py|/__init__\.py)$|(?:^|/)[^/]*\.pth$` +
			`|(?:^|/)(?:node_modules|vendor|third_party|site-packages)/(?:.*/)?(?:testify|gomega|ginkgo|go-cmp|jest[\w-]*|vitest|mocha|chai|expect|ava|_?pytest|unittest2?|hypothesis|rspec[\w-]*|minitest|phpunit)/`),

		runnerPart: re(`(?:^|\.)(?:tool\.pytest|pytest|tool:pytest|testenv|tox|nosetests|aliases|jest|mocha|ava|vitest|tap|karma|test|tests|testing|testOptions|integrationTest)(?:$|[.:])` +
			`|tasks\.(?:named|withType)\W*[tT]est|\bwithType\W*Test\b|^(?:lib|bin|test|package)$|maven-(?:surefire|failsafe)-plugin`),
		linterPart: re(`(?:^|\.)(?:tool\.)?(?:ruff|mypy|coverage|pylint|flake8|pyright|bandit|black|isort)(?:$|[.:-])|^(?:workspace\.)?lints(?:$|\.)|(?:^|\.)(?:eslintConfig|coverageThreshold|lint-staged|husky|nyc|c8)(?:$|\.)` +
			`|(?:jacoco|checkstyle|pmd|spotbugs|findbugs|enforcer)-maven-plugin|maven-(?:checkstyle|pmd|enforcer)-plugin|(?:^|\.)(?:jacoco\w*|checkstyle|detekt|spotbugs|pmd)(?:$|\.)`),
		part: re(`^\s*\[\[?(?:tool\.)?(?:ruff|mypy|pytest|coverage|pylint|flake8|pyright|bandit|black|isort|lints|workspace\.lints|testenv|tool:pytest)\b` +
			`|^\s*"(?:(?:pre|post)?(?:test|lint|check|typecheck|type-check|ci|coverage|verify)[\w:-]*"\s*:\s*"[^\d^~*<>=v]|(?:eslintConfig|jest|coverageThreshold|lint-staged|husky|mocha|nyc|c8)"\s*:\s*\{)`),
		key: re(`(?i)"(?:strict\w*|noImplicit\w*|noUnused\w*|skipLibCheck|checkJs|noUnchecked\w*)"\s*:|\b(?:fail_under|ignore_errors|per-file-ignores|extend-ignore|disallow_\w+|warn_\w+|coverageThreshold|minimumCoverage|check_untyped_defs)["']?\s*[:=]` +
			`|<(?:failsOnError|failOnViolation|minimum|haltOnFailure)>`),
		narrows: re(`(?:^|[\s"'{,<(.])(?:testpaths|python_(?:files|classes|functions)|norecursedirs|collect_ignore\w*|xfail_strict|testPathIgnorePatterns|modulePathIgnorePatterns|coveragePathIgnorePatterns|testMatch|testRegex|testNamePattern` +
			`|testRunner|passWithNoTests|runner|roots|projects|exclude\w*|excludedGroups|groups|include\w*|spec|ignore|grep|fgrep|invert|skip\w*|maven\.test\.\w[\w.]*|enabled|isEnabled|ignoreFailures|testFailureIgnore|onlyIf|filter|failIfNoTests` +
			`|harness|doctest|autotests|required-features|globalSetup|moduleNameMapper|default-filter|script-shell|ignore-scripts|rustc-wrapper|dangerouslyIgnoreUnhandledErrors)["']?\s*(?:[:=({>"']|\+=|\s*$|\.set\b)`),
		options: re(`(?:^|[\s"'=,\[])(?:--(?:ignore(?:-glob)?|deselect|collect-only|co|noconftest|maxfail|last-failed|lf|stepwise|sw|rootdir|override-ini|confcutdir|testPathIgnorePatterns|testPathPattern|passWithNoTests|exclude|skip)\b|-[kmxoc]\b|-p\s+no:)`),

		swallows: re(`\|\|\s*(?:true|:|exit 0|echo|/bin/true|printf)(?:\W|$)|;\s*(?:true|:|exit 0)\s*["']?,?\s*$|^\s*-?\s*set \+e\b|-x test\b|--no-verify\b`),
		tested:   re(`(?i)test|jest|mocha|spec`),
		tidies:   re(`^\s*(?:sudo\s+)?(?:rm|rmdir|mkdir|kill|pkill|killall|echo|docker|unset|which|command|type|mv|cp|chmod|umount|wait)\b`),
		pipes:    re(`\|\s*(?:tee|cat|head|tail)\b|[^&]&\s*$`),
		ignores: re(`\bcontinue-on-error:\s*(?:true|\$)|\ballow_failure:\s*true\b|--passWithNoTests\b|--exit-zero\b|--no-fail\b|--suppress-no-test-exit-code\b` +
			`|-D(?:skipTests|maven\.test\.(?:skip|failure\.ignore))|\b(?:testFailureIgnore|maven\.test\.failure\.ignore|maven\.test\.skip|skipTests|skipITs)\s*[>=]\s*true|\b(?:isI|i)gnoreFailures\s*(?:=|\.set\()?\s*true|\bcatchError\b`),
		anywhere: re(`(?:\b|-D)(?:skipTests|skipITs|maven\.test\.(?:skip|failure\.ignore)|testFailureIgnore|ignoreFailures)\b|<skip>`),
		targets:  re(`^\s*(?:test|harness|doctest|autotests)\s*=\s*false|^\s*required-features\s*=`),
		exits:    re(`^\s*(?:exit|return)(?:\s+0)?\s*$|;\s*exit\s+0\b|^\s*trap\b|^\s*exec\s+(?:true|:)`),
		runs:     re(`(?i)\b\w*(?:test|check|lint|vet|verify|mypy|ruff|tsc|eslint|clippy|coverage|build|nox|jest)\w*\b`),
		checks:   re(`(?i)(?:^|/)(?:[\w.]*[-_.])?(?:` + checking + `)(?:[-_.][\w.-]*)?$`),

		target:   re(`^([\w.%/ -]+?)\s*::?(?:\s|;|$)`),
		check:    re(`(?i)^(?:\w+[-_.])?(?:` + checking + `)(?:[-_./%]\w*)*$`),
		assigned: re(`^\s*(?:(?:override|export|private|undefine)\s+)*([\w.-]+)\s*(?:::?:?|\?|\+|!)?=(.*)$`),
		decides:  re(`^(?:SHELL|\.SHELLFLAGS|MAKEFLAGS|GNUMAKEFLAGS|MFLAGS|MAKE|\.RECIPEPREFIX|\.DEFAULT_GOAL)$`),
		nothing:  re(`^\s*(?:@?(?:true|:|echo\b.*|/bin/true|/usr/bin/true|exit 0|false)?)\s*$`),
		harmless: re(`^SHELL=(?:/usr)?(?:/local)?(?:/bin/)?(?:env\s+)?(?:ba|da|z|k)?sh$|^SHELL=\$\(shell (?:which|command -v) \w*sh\)$|^\.SHELLFLAGS=(?:-[a-zA-Z]+\s+|pipefail\s+)*-[a-zA-Z]*c$` +
			`|^(?:GNU)?MAKEFLAGS=(?:\s*(?:-j\S*|-[rRsw]+|--(?:warn-undefined-variables|no-builtin-rules|no-builtin-variables|no-print-directory|output-sync\S*|silent|jobs\S*)))+$`),
	}
}
