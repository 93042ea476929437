package critic

// A Budget limits how many bytes each kind of evidence takes in a prompt. The task is
// never cut.
type Budget struct {
	Diff    int // all patches together
	Files   int // the list of changed files
	Unshown int // changes that the diff does not show
	Places  int // places that the rules of the run point at
	Stdout  int // the actor's, beginning and end
	Stderr  int // the actor's, beginning and end
	Check   int // the output of one failing check, mostly its end
	Passing int // the output of one passing check
	Checks  int // the output of all checks together
	History int // all earlier iterations together
	Reply   int // the unusable reply
	Opinion int // the opinion of another agent
}

// defaultBudget is about 290 KiB in total, some 80 000 tokens, which leaves room to work
// in the context of every model that agents use.
func defaultBudget() Budget {
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
