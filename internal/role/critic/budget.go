package critic

// A Budget is how many bytes each kind of evidence may take in a prompt. The
// task is never cut.
type Budget struct {
	Diff    int // all patches together
	Files   int // the list of changed files
	Unshown int // what no diff shows of them
	Places  int // those that the rules of the run point at
	Stdout  int // the actor's, head and tail
	Stderr  int // the actor's, head and tail
	Check   int // the output of each check that fails, mostly its end
	Passing int // the output of each check that passes
	Checks  int // the output of all checks together
	History int // all earlier iterations together
	Reply   int // the reply that could not be used
	Opinion int // what one of the others says
}

// DefaultBudget is about 290 KiB in all at most: some 80 000 tokens, which
// fit, with room to work, into the context of every model that agents run on.
func DefaultBudget() Budget {
	return Budget{
		Diff:    108 << 10,
		Files:   16 << 10,
		Unshown: 40 << 10,
		Places:  12 << 10,
		Stdout:  24 << 10,
		Stderr:  8 << 10,
		Check:   16 << 10,
		Passing: 1 << 10,
		Checks:  48 << 10,
		History: 12 << 10,
		Reply:   7 << 10,
		Opinion: 8 << 10,
	}
}
