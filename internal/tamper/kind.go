package tamper

// A Kind is a sort of tampering.
type Kind string

// The kinds of signs.
const (
	TestFileRemoved Kind = "test_file_removed"
	TestRemoved     Kind = "test_removed"
	TurnedBinary    Kind = "turned_binary" // text of which no diff shows anything any more
	TestSkipped     Kind = "test_skipped"
	Loosened        Kind = "assertions_loosened"
	CheckChanged    Kind = "check_changed"  // what a check of the run's own runs
	RunnerChanged   Kind = "runner_changed" // what runs the tests, and which of them
	FailureHidden   Kind = "failure_hidden" // an exit code that is swallowed
	CIChanged       Kind = "ci_changed"
	ConfigChanged   Kind = "config_changed" // of linters and type checkers
	Suppressed      Kind = "suppression_added"
	GoldenChanged   Kind = "golden_changed" // what tests compare with
	AgentsChanged   Kind = "agents_changed" // their instructions and settings

	ExpectationChanged Kind = "expectation_changed"
)

// Kinds returns all kinds, those that weigh most first: what takes tests away,
// then what decides whether they are run and what becomes of a failure, then what
// they compare with, last what is no part of a test.
func Kinds() []Kind {
	return []Kind{
		TestFileRemoved, TestRemoved, TurnedBinary, Loosened, TestSkipped, CheckChanged, RunnerChanged, FailureHidden, CIChanged,
		ExpectationChanged, GoldenChanged, ConfigChanged, AgentsChanged, Suppressed,
	}
}

// Title says what signs of the kind have in common, in a sentence without a name.
func (k Kind) Title() string {
	return map[Kind]string{
		TestFileRemoved: "files with tests are gone",
		TestRemoved:     "tests are gone",
		TurnedBinary:    "text has turned binary",
		TestSkipped:     "tests are kept from being run",
		Loosened:        "tests assert less than they did",
		CheckChanged:    "a check's own script was changed",
		RunnerChanged:   "what runs the tests, or says which of them, was changed",
		FailureHidden:   "failures are hidden",
		CIChanged:       "the CI, or a target that checks something, was changed",
		ConfigChanged:   "the configuration of linters was changed",
		Suppressed:      "tools are kept from complaining",
		GoldenChanged:   "what tests compare with was changed",
		AgentsChanged:   "what agents are told was changed",

		ExpectationChanged: "test expectations were changed",
	}[k]
}
