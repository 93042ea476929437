package session

import "codeloops/internal/loop"

// player is who plays a turn of a strategy.
func player(f fields, iteration *int, role *loop.Role, access *loop.Access) {
	f.value("iteration_number,omitempty", iteration)
	word(f, "role", role)
	write := *access == loop.Write
	f.value("write,omitempty", &write)
	if *access = loop.ReadOnly; write {
		*access = loop.Write
	}
}

// note is the result of a strategy's step that is not an agent's turn.
func note(f fields, n *loop.Noted) {
	f.value("iteration_number,omitempty", &n.Iteration)
	f.text("name", &n.Name)
	f.text("text,omitempty", &n.Text)
	change(f, &n.Change, fileStat, unshownStat)
	list(f, "checks,omitempty", &n.Checks, check)
}

// reply is a turn with everything that was written in it.
func reply(f fields, r *loop.Reply) {
	turn(f, "", &r.Turn)
	f.bulk("output", &r.Stdout.Text, "reply")
	f.bulk("stderr", &r.Stderr.Text, "")
	f.textUnless("reply", &r.Text, r.Stdout.Text)
}

// turn is what is known of an agent's turn, except what the agent wrote. The names of its
// fields begin with prefix.
func turn(f fields, prefix string, t *loop.Turn) {
	f.text(prefix+"turn_id,omitempty", &t.ID)
	f.text(prefix+"session_id,omitempty", &t.SessionID)
	f.value(prefix+"exit_code", &t.ExitCode)
	duration(f, prefix+"duration_secs", &t.Duration)
	word(f, prefix+"ending", &t.Ending)
	f.text(prefix+"reason,omitempty", &t.Reason)
	f.value(prefix+"reset_at,omitempty", (*moment)(&t.ResetAt))
	f.text(prefix+"conversation,omitempty", &t.Conversation)
	f.value(prefix+"resumed,omitempty", &t.Resumed)
	usage(f, prefix+"usage,null", &t.Usage)
	f.text(prefix+"agent,omitempty", &t.Agent.Agent)
	f.text(prefix+"model,omitempty", &t.Agent.Model)
	list(f, prefix+"misses,omitempty", &t.Misses, miss)
	list(f, prefix+"leftovers,omitempty", &t.Leftovers, func(f fields, p *loop.Process) {
		f.value("pid", &p.PID)
		f.text("command", &p.Command)
	})
	list(f, prefix+"failures,omitempty", &t.Failures, func(f fields, x *loop.Failure) {
		f.text("act", &x.Act)
		f.value("exit_code,omitempty", &x.ExitCode)
		f.value("denied,omitempty", &x.Denied)
	})
	f.value(prefix+"futile,omitempty", &t.Futile)
	stream(f, prefix+"output", &t.Stdout)
	stream(f, prefix+"stderr", &t.Stderr)
	if t.Late.Total <= 0 {
		t.Late.File = ""
	}
	f.value(prefix+"late_total,omitempty", &t.Late.Total)
	f.text(prefix+"late_file,omitempty", &t.Late.File)
}

func miss(f fields, m *loop.Try) {
	f.text("agent", &m.Agent.Agent)
	f.text("model,omitempty", &m.Agent.Model)
	f.value("resumed,omitempty", &m.Resumed)
	word(f, "ending", &m.Ending)
	f.text("reason,omitempty", &m.Reason)
	usage(f, "usage,null", &m.Usage)
}

// usage is what a turn cost; null if the agent reported nothing.
func usage(f fields, tag string, u *loop.Usage) {
	*u = loggedUsage(*u)
	f.object(tag, *u != loop.Usage{}, func(f fields) {
		optional(f, "tokens,null", &u.Tokens, tokens)
		fraction(f, "cost_usd,null", &u.CostUSD)
		f.value("rounds,null", &u.Rounds)
		f.value("tokens_estimated,omitempty", &u.TokensEstimated)
		f.value("cost_estimated,omitempty", &u.CostEstimated)
	})
}

func tokens(f fields, t *loop.Tokens) {
	f.value("input", &t.Input)
	f.value("output", &t.Output)
	f.value("cache_read", &t.CacheRead)
	f.value("cache_write", &t.CacheWrite)
	f.value("reasoning", &t.Reasoning)
}

// wait is a pause in a turn, except how it ended.
func wait(f fields, role *loop.Role, w *loop.Wait) {
	word(f, "role", role)
	f.text("agent", &w.Agent.Agent)
	f.text("model,omitempty", &w.Agent.Model)
	word(f, "cause", &w.Cause)
	f.text("reason,omitempty", &w.Reason)
	f.value("until", (*moment)(&w.Until))
}

// stream is what is known of an output, except its text. Its file counts only if something is
// omitted; otherwise it has been removed.
func stream(f fields, name string, o *loop.Output) {
	if o.Omitted <= 0 {
		o.File = ""
	}
	f.value(name+"_total,omitempty", &o.Total)
	f.value(name+"_omitted,omitempty", &o.Omitted)
	f.text(name+"_file,omitempty", &o.File)
}

func check(f fields, c *loop.CheckResult) {
	f.text("command", &c.Command)
	f.value("exit_code", &c.ExitCode)
	word(f, "ending", &c.Ending)
	duration(f, "duration_secs", &c.Duration)
	f.bulk("output", &c.Output.Text, "")
	stream(f, "output", &c.Output)
	f.value("failed_before,omitempty", &c.FailedBefore)
	f.texts("changed,omitempty", &c.Changed)
	f.texts("rewrites,omitempty", &c.Rewrites)
	f.texts("lacked,omitempty", &c.Lacked)
	f.text("witness,omitempty", &c.Witness)
}

// reviewTexts are what the critic wrote. Its reply is often all of its output.
func reviewTexts(f fields, r *loop.Review) {
	f.bulk("critic_output", &r.Stdout.Text, "critic_reply")
	f.bulk("critic_stderr", &r.Stderr.Text, "")
	f.textUnless("critic_reply", &r.Reply, r.Stdout.Text)
}

// judged is a review, except what the critic wrote.
func judged(f fields, r *loop.Review) {
	review(f, r)
	decision(f, &r.Verdict)
}

// vote is the result of a panel member's turn.
func vote(f fields, e *loop.TurnFinished) {
	optional(f, "review,omitempty", &e.Review, func(f fields, r *loop.Review) {
		f.text("state", &e.State)
		reading(f, r)
		decision(f, &r.Verdict)
	})
}

// review is the critic's turn, except what it wrote and decided.
func review(f fields, r *loop.Review) {
	turn(f, "critic_", &r.Turn)
	reading(f, r)
	list(f, "critic_votes,omitempty", &r.Votes, func(f fields, v *loop.Vote) {
		word(f, "role", &v.Role)
		f.text("agent", &v.Agent.Agent)
		f.text("model,omitempty", &v.Agent.Model)
		word(f, "decision,omitempty", &v.Decision)
		f.text("says", &v.Says)
	})
}

// reading is what is known of a critic's reply, except the decision.
func reading(f fields, r *loop.Review) {
	f.text("critic_problem,omitempty", &r.Problem)
	f.text("critic_seal,omitempty", &r.Seal)
	f.text("critic_boundary,omitempty", &r.Boundary)
	word(f, "critic_sealed,omitempty", &r.Sealed)
	f.value("critic_seal_only,omitempty", &r.SealOnly)
	f.value("critic_quoted,omitempty", &r.Quoted)
	f.texts("critic_unmentioned,omitempty", &r.Unmentioned)
	f.texts("critic_undone,omitempty", &r.Written.Changed)
	f.texts("critic_added,omitempty", &r.Written.Added)
	f.texts("critic_settings,omitempty", &r.Written.Settings)
	f.texts("critic_stale,omitempty", &r.Stale)
}

func decision(f fields, v *loop.Verdict) {
	word(f, "critic_decision,omitempty", &v.Decision)
	f.text("feedback,omitempty", &v.Feedback)
	verdict(f, v)
}

// verdict is what a verdict holds besides the decision and the feedback.
func verdict(f fields, v *loop.Verdict) {
	f.text("summary,omitempty", &v.Summary)
	fraction(f, "confidence,omitempty", &v.Confidence)
	fraction(f, "score,omitempty", &v.Score)
	f.texts("issues,omitempty", &v.Issues)
	f.text("analysis,omitempty", &v.Analysis)
	f.text("recovery,omitempty", &v.Recovery)
	f.text("escalation,omitempty", &v.Escalation)
	f.text("severity,omitempty", &v.Severity)
	list(f, "risks,omitempty", &v.Risks, func(f fields, r *loop.Risk) {
		f.text("type,omitempty", &r.Type)
		f.text("detail,omitempty", &r.Detail)
	})
	f.texts("required_changes,omitempty", &v.RequiredChanges)
	list(f, "answers,omitempty", &v.Answers, func(f fields, a *loop.Answer) {
		f.text("id", &a.ID)
		word(f, "state", &a.State)
		f.text("why,omitempty", &a.Why)
	})
}

// loggedUsage clears the marks of estimates that are missing.
func loggedUsage(u loop.Usage) loop.Usage {
	u.CostUSD = finite(u.CostUSD)
	u.TokensEstimated = u.TokensEstimated && u.Tokens != nil
	u.CostEstimated = u.CostEstimated && u.CostUSD != nil
	return u
}
