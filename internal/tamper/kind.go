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
	FailureHidden   Kind = "failure_hidden" // an exit code that is swallowed
	CIChanged       Kind = "ci_changed"
	ConfigChanged   Kind = "config_changed" // of linters, type checkers, test runners
	Suppressed      Kind = "suppression_added"
	GoldenChanged   Kind = "golden_changed" // what tests compare with
	AgentsChanged   Kind = "agents_changed" // their instructions and settings
)

// Kinds returns all kinds, those that weigh most first: what takes tests away,
// then what decides whether they are run and what becomes of a failure, then what
// they compare with, last what is no part of a test.
func Kinds() []Kind {
	return []Kind{
		TestFileRemoved, TestRemoved, TurnedBinary, Loosened, TestSkipped, FailureHidden, CIChanged, GoldenChanged, ConfigChanged, AgentsChanged, Suppressed,
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
		FailureHidden:   "failures are hidden",
		CIChanged:       "the configuration of the CI, or a target that checks, was changed",
		ConfigChanged:   "the configuration of linters or of the tests was changed",
		Suppressed:      "tools are kept from complaining",
		GoldenChanged:   "what tests compare with was changed",
		AgentsChanged:   "what agents are told was changed",
	}[k]
}
