package session

import "codeloops/internal/metrics"

// totals is what a session came to, from its first line on, at its end: so
// that whoever wants to know need not read all of a log. The count of whole
// iterations stands with the outcome.
func totals(f fields, tag string, p **metrics.Tally) {
	var t metrics.Tally
	if *p != nil {
		t = **p
	}
	if !f.object(tag, *p != nil, func(f fields) {
		f.value("errors", &t.Errors)
		f.value("actor_turns", &t.ActorTurns)
		f.value("critic_turns", &t.Asks)
		f.value("leftovers", &t.Leftovers)
		duration(f, "actor_secs", &t.ActorTime)
		duration(f, "critic_secs", &t.CriticTime)
		duration(f, "check_secs", &t.CheckTime)
		f.value("waits", &t.Waits)
		duration(f, "actor_wait_secs", &t.ActorWait)
		duration(f, "critic_wait_secs", &t.CriticWait)
		sum(f, "actor_usage", &t.ActorUsage)
		sum(f, "critic_usage", &t.CriticUsage)
		f.object("spent", true, func(f fields) {
			spent(f, "actor", &t.Spent.Actor)
			spent(f, "critic", &t.Spent.Critic)
		})
		f.value("git_files_changed", &t.FilesChanged)
		f.value("insertions", &t.Insertions)
		f.value("deletions", &t.Deletions)
	}) {
		return
	}
	*p = &t
}

func sum(f fields, tag string, u *metrics.Usage) {
	f.object(tag, true, func(f fields) {
		f.object("tokens", true, func(f fields) { tokens(f, &u.Tokens) })
		f.value("cost_usd", &u.CostUSD)
		f.value("rounds", &u.Rounds)
		f.value("counted", &u.Counted)
		f.value("priced", &u.Priced)
	})
}
