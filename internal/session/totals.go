package session

import "codeloops/internal/loop/progress"

// totals adds up the session from its first line on, so that the last line alone tells what
// the session came to. The number of whole iterations is in the outcome.
func totals(f fields, tag string, p **progress.Tally) {
	optional(f, tag, p, func(f fields, t *progress.Tally) {
		f.value("errors", &t.Errors)
		f.value("actor_turns", &t.Actor.Turns)
		f.value("critic_turns", &t.Critic.Turns)
		f.value("leftovers", &t.Leftovers)
		duration(f, "actor_secs", &t.Actor.Time)
		duration(f, "critic_secs", &t.Critic.Time)
		duration(f, "check_secs", &t.CheckTime)
		f.value("waits", &t.Waits)
		duration(f, "actor_wait_secs", &t.Actor.Wait)
		duration(f, "critic_wait_secs", &t.Critic.Wait)
		sum(f, "actor_usage", &t.Actor.Usage)
		sum(f, "critic_usage", &t.Critic.Usage)
		f.object("spent", true, func(f fields) { spending(f, &t.Spent) })
		f.value("findings_must,omitempty", &t.Musts)
		f.value("findings_may,omitempty", &t.Mays)
		f.value("git_files_changed", &t.FilesChanged)
		f.value("insertions", &t.Insertions)
		f.value("deletions", &t.Deletions)
	})
}

func sum(f fields, tag string, u *progress.Usage) {
	f.object(tag, true, func(f fields) {
		f.object("tokens", true, func(f fields) { tokens(f, &u.Tokens) })
		f.value("cost_usd", &u.CostUSD)
		f.value("rounds", &u.Rounds)
		f.value("counted", &u.Counted)
		f.value("priced", &u.Priced)
	})
}
